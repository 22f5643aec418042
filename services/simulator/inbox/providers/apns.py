"""Apple's push service: `GET /apns` starts it and returns all that a sender must be told.

It speaks HTTP/2 over TLS on a port of its own: ALDEBARAN_INBOX_APNS_PORT, or a free one. With
ALDEBARAN_INBOX_APNS_FOLDER it listens at once, and keeps key and certificate there. `GET
/apns/phones` shows the phones' screens, and what waits for or was lost by a phone that is off.
`GET /apns/senders` counts connections and the signed tokens that came over them. `POST
/apns/hang-up` ends all connections; with `?politely=true` by a GOAWAY.
"""

import random
import threading
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Final

import orjson
from pydantic import Field

from services.backbone.errors import Refused
from services.backbone.settings import Settings, read_settings
from services.simulator.inbox.apns.account import Account, kept, made_up
from services.simulator.inbox.apns.phones import Phones
from services.simulator.inbox.apns.rules import REASONS, Push, Wrong, judge
from services.simulator.inbox.apns.server import Act, Http2Server, Reply
from services.simulator.inbox.faults import Faults, Share, Verdict
from services.simulator.inbox.provider import Desk, ProviderAnswer, ProviderRequest, Sending
from services.simulator.inbox.received import Arrival

PREFIX: Final = "/apns"
WAY: Final = "apns"


class ApnsFaults(Faults):
    """Apple's dials; of what is kept, shares can stay without an answer in several ways."""

    refuse_reason: str | None = None
    """Apple's word for the refusal, where the status alone does not say it."""
    goaway_unseen_share: Share = 0.0
    """Not kept: the connection ends and says that the stream was never looked at."""
    refuse_stream_share: Share = 0.0
    """Not kept: the stream is reset with REFUSED_STREAM."""
    goaway_taken_share: Share = 0.0
    """Kept: the connection ends before the answer, and says that the stream was looked at."""
    silence_share: Share = 0.0
    """Kept: no answer ever comes, and the connection stays."""
    offline: bool = False
    """Phones are off: each keeps one notification."""
    dead_tokens: dict[str, Annotated[int, Field(ge=0)]] = Field(default_factory=dict)
    """Tokens that get 410, with since when, in milliseconds since 1970."""


DIALS: Final = ApnsFaults()


class ApnsSettings(Settings):
    """Where the stand-in listens."""

    inbox_host: str = "127.0.0.1"
    """The address on which the inbox plays every provider."""
    inbox_apns_port: Annotated[int, Field(ge=0, le=65_535)] = 0
    """Where it plays Apple; 0: on a port that the system chooses."""
    inbox_apns_folder: Path | None = None
    """Where the made-up account is kept; without it each start makes another."""

    def account(self, now_ms: int) -> Account:
        """Return the account that senders have.

        Raises:
            Refused: it cannot be kept in the folder, or read there.
        """
        if (folder := self.inbox_apns_folder) is None:
            return made_up(now_ms)
        try:
            return kept(folder, now_ms)
        except OSError as error:
            raise Refused(f"inbox_apns_folder {folder} cannot be used: {error}") from None


class Apns:
    """Judges, keeps and answers notifications."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._rng = random.Random()
        self._phones = Phones()
        self._lock = threading.Lock()
        self._running: tuple[Http2Server, Account] | None = None
        self._credentials: set[str] = set()

    def read(self, request: ProviderRequest) -> Sending | ProviderAnswer:
        """Answer what is asked over plain HTTP; notifications come by HTTP/2 only."""
        if (request.method, request.path) == ("POST", "/hang-up"):
            server, _ = self._started()
            server.hang_up(politely=request.query.get("politely") == "true")
            return ProviderAnswer(202, b"{}")
        shown = {"": self._introduction, "/phones": self._seen, "/senders": self._senders}
        if request.method != "GET" or request.path not in shown:
            return ProviderAnswer(404, b"{}")
        return ProviderAnswer(200, orjson.dumps(shown[request.path]()))

    def take(self, _: ProviderRequest, __: Sending) -> ProviderAnswer:
        """Say that nothing is taken this way."""
        return ProviderAnswer(404, b"{}")

    def refuse(self, status: int) -> ProviderAnswer:
        """Say the status."""
        return ProviderAnswer(status, b"{}")

    def listen(self) -> None:
        """Listen for notifications, unless it does already; raises OSError if the port is taken."""
        self._started()

    def close(self) -> None:
        """Stop listening."""
        with self._lock:
            running, self._running = self._running, None
        if running is not None:
            running[0].close()

    def answer(self, account: Account, headers: Mapping[str, str], body: bytes) -> Reply:
        """Answer one request as Apple would, or as a dial says."""
        self._credentials.add(headers.get("authorization", ""))
        push = judge(headers, body, account, self._desk.clock.now_ms())
        if isinstance(push, Wrong):
            return Reply(status=push.status, said={"reason": push.reason})
        dials = self._dials()
        reply, verdict = self._dealt(push, dials)
        self._desk.took(self._arrival(push, headers, body, verdict), _shown(push))
        if reply.taken:
            self._phones.push(push, dials.offline)
        return reply

    def _dealt(self, push: Push, dials: ApnsFaults) -> tuple[Reply, Verdict]:
        unkept = self._unkept(push, dials)
        if unkept is not None:
            return unkept, Verdict.REFUSED
        verdict = dials.decide(self._rng)
        if verdict is Verdict.REFUSED:
            return _refusal(dials), verdict
        act = Act.DROP if verdict is Verdict.DROPPED else self._act(dials)
        said_id = {"apns-id": push.apns_id}
        reply = Reply(act, headers=said_id, taken=True, delay_seconds=dials.delay_seconds)
        return reply, verdict if act is Act.ANSWER else Verdict.DROPPED

    def _unkept(self, push: Push, dials: ApnsFaults) -> Reply | None:
        if push.token in dials.dead_tokens:
            said = {"reason": "Unregistered", "timestamp": dials.dead_tokens[push.token]}
            return Reply(status=410, said=said, delay_seconds=dials.delay_seconds)
        if self._drawn(dials.goaway_unseen_share):
            return Reply(Act.GOAWAY_UNSEEN)
        return Reply(Act.REFUSE_STREAM) if self._drawn(dials.refuse_stream_share) else None

    def _act(self, dials: ApnsFaults) -> Act:
        if dials.strange_answers is not None:
            return Act.NOISE
        if self._drawn(dials.goaway_taken_share):
            return Act.GOAWAY_TAKEN
        return Act.SILENCE if self._drawn(dials.silence_share) else Act.ANSWER

    def _drawn(self, share: float) -> bool:
        return self._rng.random() < share

    def _dials(self) -> ApnsFaults:
        dials = self._desk.faults()
        return dials if isinstance(dials, ApnsFaults) else DIALS

    def _arrival(
        self, push: Push, headers: Mapping[str, str], body: bytes, verdict: Verdict
    ) -> Arrival:
        return Arrival(
            way=WAY,
            delivery_id=push.collapse_id,
            verdict=verdict,
            at_ms=self._desk.clock.now_ms(),
            place=headers[":path"],
            body=body.decode(errors="replace"),
            headers={name: value for name, value in headers.items() if name != "authorization"},
        )

    def _seen(self) -> dict[str, Any]:
        return self._phones.seen(self._dials().offline)

    def _senders(self) -> dict[str, int]:
        server, _ = self._started()
        return {"connections": server.connections, "credentials": len(self._credentials)}

    def _introduction(self) -> dict[str, str]:
        server, account = self._started()
        return {
            "url": f"https://127.0.0.1:{server.port}",
            "certificate": account.certificate,
            "key": account.signing_key,
            "key_id": account.key_id,
            "team_id": account.team_id,
            "topic": account.topic,
        }

    def _started(self) -> tuple[Http2Server, Account]:
        with self._lock:
            if self._running is None:
                settings = read_settings(ApnsSettings)
                account = settings.account(self._desk.clock.now_ms())
                host, port = settings.inbox_host, settings.inbox_apns_port
                server = Http2Server(account, partial(self.answer, account), host, port)
                try:
                    server.start()
                except OSError as error:
                    raise Refused(f"cannot listen on port {port}: {error}") from None
                self._running = server, account
            return self._running


def _refusal(dials: ApnsFaults) -> Reply:
    status = dials.refuse_status
    said = {"reason": dials.refuse_reason or REASONS.get(status, "InternalServerError")}
    wait = dials.retry_after_seconds
    headers = {"retry-after": str(wait)} if wait is not None and status in (429, 503) else {}
    return Reply(status=status, headers=headers, said=said, delay_seconds=dials.delay_seconds)


def _shown(push: Push) -> str:
    return f"{push.token[:8]}…: {push.payload['aps'].get('alert')}"


def open_provider(desk: Desk) -> Apns:
    """Make the provider; it listens when it is asked for the first time, or has a folder."""
    apns = Apns(desk)
    if read_settings(ApnsSettings).inbox_apns_folder:
        apns.listen()
    return apns
