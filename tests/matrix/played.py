"""The far ends that the inbox plays."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import unquote_plus

from services.contracts.records import Delivery
from services.contracts.twilio import body_code
from services.machine.ports import free_ports
from services.simulator.inbox.mail import mail_server
from services.simulator.inbox.providers.nrdp import TOKEN as NRDP_TOKEN
from services.simulator.inbox.providers.slack import TOKEN as SLACK_TOKEN
from services.simulator.inbox.received import Arrival
from tests.integration.deliverer.inboxes import Inbox, playing
from tests.integration.deliverer.texting import ACCOUNT, PHONE, TOKEN, open_door
from tests.matrix.peer import (
    CellSurroundings,
    Lacks,
    Peer,
    Refusal,
    Refusals,
    Surroundings,
    Taken,
    marks_of,
)
from tests.passage import Passage, behind, inside_tls

OVER_HTTP: Final[Refusals] = {
    Refusal.FOR_NOW: {"refuse_status": 429},
    Refusal.IN_TROUBLE: {"refuse_status": 500},
    Refusal.FOR_GOOD: {"refuse_status": 400},
}
BY_SMTP: Final[Refusals] = {
    Refusal.FOR_NOW: {"refuse_status": 450},
    Refusal.IN_TROUBLE: {"refuse_status": 421},
    Refusal.FOR_GOOD: {"refuse_status": 550},
}
"""An SMTP server says its own trouble by 4xx; 5xx is for good."""
IN_ITS_WORDS: Final = behind(b"many")
"""A word of every message's subject."""
IN_ITS_HEADERS: Final = inside_tls(200)
"""What a push's connection begins with is shorter."""


@dataclass
class Played:
    """A provider that the inbox plays."""

    channel: str
    recipient: str
    settings: Mapping[str, str]
    inbox: Inbox
    way: str
    passage: Passage
    name: Callable[[Delivery], str] = lambda each: each.delivery_id
    refusals: Refusals = field(default_factory=lambda: OVER_HTTP)
    lacks: Lacks = field(default_factory=dict)
    silent_after_first: bool = False

    def taken(self, sent: list[Delivery]) -> Taken:
        """Read the inbox's journal."""
        bodies: dict[str, list[str]] = defaultdict(list)
        for arrival in self.inbox.arrivals(self.way):
            if arrival.verdict != "refused":
                bodies[arrival.delivery_id].append(self.text(arrival))
        return Taken({each.delivery_id: marks_of(bodies[self.name(each)]) for each in sent})

    def text(self, arrival: Arrival) -> str:
        """Return the text in which the mark would stand."""
        return unquote_plus(arrival.body)

    def dial(self, **faults: object) -> bool:
        """Turn the dials of its way in."""
        self.inbox.dial(self.way, **faults)
        return True


@dataclass(kw_only=True)
class Mailed(Played):
    """The inbox's mail server; messages are files."""

    maildir: Path

    def text(self, arrival: Arrival) -> str:
        """Read the mail."""
        return (self.maildir / "new" / arrival.place).read_text()


@contextmanager
def inbox_behind_passage(around: Surroundings) -> Iterator[tuple[Inbox, Passage, str]]:
    """The inbox, the way to it, and the address of that way."""
    with playing(around.folder) as inbox:
        host, _, port = inbox.url.rpartition(":")
        with Passage(int(port), half_way=IN_ITS_WORDS).listening() as passage:
            yield inbox, passage, f"{host}:{passage.port}"


@contextmanager
def webhook(around: Surroundings) -> Iterator[Peer]:
    """Any webhook receiver."""
    with inbox_behind_passage(around) as (inbox, passage, url):
        yield Played("webhook", f"{url}/hook", {}, inbox, "hook", passage)


@contextmanager
def mailbox(around: Surroundings) -> Iterator[tuple[Inbox, int, Path]]:
    """The inbox with its mail server's port, and the folder where that keeps mails."""
    port, maildir = free_ports(1)[0], around.folder / "mail"
    with playing(around.folder) as inbox:
        server = mail_server(inbox.board, maildir, "127.0.0.1", port)
        server.start()
        try:
            yield inbox, port, maildir
        finally:
            server.stop()


@contextmanager
def email(around: Surroundings) -> Iterator[Peer]:
    """A mail relay that is not ours."""
    with (
        mailbox(around) as (inbox, port, maildir),
        Passage(port, half_way=IN_ITS_WORDS).listening() as passage,
    ):
        yield Mailed(
            "email",
            "desk@example.com",
            {"ALDEBARAN_EMAIL_PORT": str(passage.port)},
            inbox,
            "mail",
            passage,
            refusals=BY_SMTP,
            maildir=maildir,
        )


@contextmanager
def pagerduty(around: Surroundings) -> Iterator[Peer]:
    """PagerDuty's events."""
    with inbox_behind_passage(around) as (inbox, passage, url):
        settings = {
            "ALDEBARAN_PAGERDUTY_ROUTING_KEYS": json.dumps({"on-call": "0123456789abcdef" * 2}),
            "ALDEBARAN_PAGERDUTY_URL": f"{url}/pagerduty",
        }
        yield Played("pagerduty", "on-call", settings, inbox, "pagerduty", passage)


def text_settings(url: str) -> dict[str, str]:
    """Return the account at the inbox's Twilio."""
    return {
        "ALDEBARAN_SMS_ACCOUNT_SID": ACCOUNT,
        "ALDEBARAN_SMS_AUTH_TOKEN": TOKEN,
        "ALDEBARAN_SMS_SENDER": "+15005550006",
        "ALDEBARAN_SMS_API_URL": url,
    }


@contextmanager
def sms(around: Surroundings) -> Iterator[Peer]:
    """Twilio without a way to call back: its list is the evidence."""
    with inbox_behind_passage(around) as (inbox, passage, url):
        looking = {"ALDEBARAN_SMS_LOOK_UP_AFTER_SECONDS": "[0.2, 0.5, 1, 2]"}
        settings = text_settings(url) | looking
        name: Callable[[Delivery], str] = lambda each: body_code(each.delivery_id)[1:]  # noqa: E731 - passed on as a value
        yield Played("sms", PHONE, settings, inbox, "twilio", passage, name=name)


@contextmanager
def sms_called_back(around: CellSurroundings) -> Iterator[Peer]:
    """Twilio that calls our door back, and is never asked: the callback is the evidence."""
    with (
        inbox_behind_passage(around) as (inbox, passage, url),
        open_door(around.ledger, around.folder) as door,
    ):
        called = {
            "ALDEBARAN_CALLBACKS_PUBLIC_URL": door.url,
            "ALDEBARAN_SMS_LOOK_UP_AFTER_SECONDS": "[]",
        }
        yield Played("sms", PHONE, text_settings(url) | called, inbox, "twilio", passage)


@contextmanager
def nrdp(around: Surroundings) -> Iterator[Peer]:
    """NRDP in front of some Nagios."""
    with inbox_behind_passage(around) as (inbox, passage, url):
        settings = {
            "ALDEBARAN_NRDP_URL": f"{url}/nrdp/",
            "ALDEBARAN_NRDP_TOKEN": NRDP_TOKEN,
        }
        dials = {**OVER_HTTP, Refusal.FOR_GOOD: {"refuse_word": "BAD JSON"}}
        yield Played(
            "nrdp", "aldebaran/over-purchase", settings, inbox, "nrdp", passage, refusals=dials
        )


@contextmanager
def slack(around: Surroundings) -> Iterator[Peer]:
    """One room of Slack, with its history as evidence."""
    with inbox_behind_passage(around) as (inbox, passage, url):
        settings = {
            "ALDEBARAN_SLACK_URL": f"{url}/slack",
            "ALDEBARAN_SLACK_BOT_TOKEN": SLACK_TOKEN,
            "ALDEBARAN_SLACK_SECONDS_BETWEEN": "0",
            "ALDEBARAN_SLACK_LOOK_UP_AFTER_SECONDS": "[0.2, 0.5, 1, 2]",
        }
        dials = {**OVER_HTTP, Refusal.FOR_GOOD: {"refuse_error": "is_archived"}}
        yield Played("slack", "C0123456789", settings, inbox, "slack", passage, refusals=dials)


@contextmanager
def push(around: Surroundings) -> Iterator[Peer]:
    """Apple's push service."""
    with playing(around.folder) as inbox:
        account = inbox.get("/apns")
        assert isinstance(account, dict)
        certificate = around.folder / "apple.pem"
        certificate.write_text(account["certificate"])
        _, _, port = account["url"].rpartition(":")
        settings = {
            "ALDEBARAN_PUSH_CA_FILE": str(certificate),
            "ALDEBARAN_PUSH_KEY": account["key"],
            "ALDEBARAN_PUSH_KEY_ID": account["key_id"],
            "ALDEBARAN_PUSH_TEAM_ID": account["team_id"],
            "ALDEBARAN_PUSH_TOPIC": account["topic"],
        }
        with Passage(int(port), half_way=IN_ITS_HEADERS).listening() as passage:
            settings["ALDEBARAN_PUSH_URL"] = f"https://127.0.0.1:{passage.port}"
            yield Played("push", "ab" * 32, settings, inbox, "apns", passage)
