"""E-mail by a relay of our own, a real Postfix: its log is evidence; the inbox counts behind it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final

import pytest

from tests.integration import postfix
from tests.integration.postfix import Postfix
from tests.matrix.peer import Peer, Refusal, Surroundings
from tests.matrix.played import IN_ITS_WORDS, Mailed, mailbox
from tests.matrix.stance import Stance, play
from tests.passage import Passage

FINAL_DOT: Final = b"\r\n.\r\n"
_WORDS: Final = {
    Refusal.FOR_NOW: "450 4.3.2 come again later",
    Refusal.IN_TROUBLE: "421 4.3.0 in trouble",
    Refusal.FOR_GOOD: "550 5.7.1 never",
}


@dataclass(kw_only=True)
class OwnRelay(Mailed):
    """A Postfix behind a passage; what it hands on is counted by the inbox."""

    stance: Stance

    def dial(self, **faults: object) -> bool:
        """Play with what Postfix says to the final dot; or let it refuse."""
        self.stance.turn(faults)
        play(self.passage, faults, FINAL_DOT)
        return True


@contextmanager
def own_relay(around: Surroundings) -> Iterator[Peer]:
    """A real Postfix, where one is installed and may be started."""
    if wrong := postfix.complaint():
        pytest.skip(wrong)
    with mailbox(around) as (inbox, port, maildir), running(port) as relay:
        ways = {kind: partial(refusing, relay, words) for kind, words in _WORDS.items()}
        stance = Stance(ways)
        with Passage(relay.port, half_way=IN_ITS_WORDS).listening() as passage:
            settings = {
                "ALDEBARAN_EMAIL_PORT": str(passage.port),
                "ALDEBARAN_EMAIL_RELAY_LOG": str(relay.log_file),
                "ALDEBARAN_EMAIL_LOOK_UP_AFTER_SECONDS": "[0.1, 0.5, 1, 2]",
            }
            yield OwnRelay(
                "email",
                "desk@example.com",
                settings,
                inbox,
                "mail",
                passage,
                refusals=stance.refusals,
                silent_after_first=True,
                maildir=maildir,
                stance=stance,
            )


@contextmanager
def running(next_port: int) -> Iterator[Postfix]:
    """Run a Postfix that hands on to a port."""
    relay = Postfix(next_port)
    relay.start()
    try:
        yield relay
    finally:
        relay.stop()


@contextmanager
def refusing(relay: Postfix, words: str) -> Iterator[None]:
    """Have a relay that answers so to every recipient."""
    relay.restrict(f"check_client_access static:{{{words}}}, reject")
    yield
    relay.restrict()
