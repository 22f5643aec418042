"""Which processes stand behind the programs' names, asked for without waiting for name servers."""

import socket
from collections.abc import Callable, Mapping
from concurrent.futures import Future, wait
from threading import Thread
from typing import Final
from urllib.parse import urlsplit, urlunsplit

from services.console.parts.looking import Target

INSTANCES_LIMIT: Final = 20
"""Most processes of one program that are looked at."""
ANSWER_SECONDS: Final = 1.0
"""After so long a round goes on with the addresses of before."""
# Not every system tells a name without addresses from one that is not there.
_NOT_THERE: Final = {socket.EAI_NONAME, getattr(socket, "EAI_NODATA", socket.EAI_NONAME)}

Addresses = Callable[[str, int], list[str]]


def addresses(host: str, port: int) -> list[str]:
    """Return the addresses of a name; none where there is no such name.

    Raises:
        OSError: no name server answers, so it is not known.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except UnicodeError:
        return []
    except socket.gaierror as error:
        if error.errno in _NOT_THERE:
            return []
        raise
    return sorted({str(each[4][0]) for each in found})[:INSTANCES_LIMIT]


class Names:
    """Knows the newest addresses of each program; to be asked by one thread.

    A question holds its thread for as long as name servers are silent, and nothing can end it: so
    each has one of its own that no end of the program waits for, and no second is asked meanwhile.
    """

    def __init__(self, ask: Addresses = addresses, seconds: float = ANSWER_SECONDS) -> None:
        self._ask = ask
        self._seconds = seconds
        self._asked: dict[str, Future[list[str]]] = {}
        self._known: dict[str, list[str]] = {}

    def targets(self, parts: Mapping[str, str]) -> list[Target]:
        """Return the processes behind each address: a name may stand for several."""
        for url in parts.values():
            if url not in self._asked:
                self._asked[url] = self._begun(url)
        wait(self._asked.values(), self._seconds)
        self._take_answers()
        return [each for part, url in parts.items() for each in self._of(part, url)]

    def _begun(self, url: str) -> Future[list[str]]:
        answer: Future[list[str]] = Future()

        def ask() -> None:
            try:
                answer.set_result(self._ask(*_place(url)))
            except OSError as error:
                answer.set_exception(error)

        Thread(target=ask, name="name", daemon=True).start()
        return answer

    def _take_answers(self) -> None:
        for url in [url for url, answer in self._asked.items() if answer.done()]:
            answer = self._asked.pop(url)
            if answer.exception() is None:
                self._known[url] = answer.result()

    def _of(self, part: str, url: str) -> list[Target]:
        split, (_, port) = urlsplit(url), _place(url)
        return [
            Target(
                part, urlunsplit(split._replace(netloc=f"{_spelled(each)}:{port}")), split.netloc
            )
            for each in self._known.get(url, ())
        ] or [Target(part, url)]


def _place(url: str) -> tuple[str, int]:
    split = urlsplit(url)
    return split.hostname or "", split.port or 80


def _spelled(address: str) -> str:
    return f"[{address}]" if ":" in address else address
