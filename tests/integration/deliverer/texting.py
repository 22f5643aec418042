"""What tests of text messages share: the stand-in's account, deliverers, the callbacks' door."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from services.contracts.records import Delivery
from services.contracts.twilio import body_code
from services.machine.ports import free_ports
from tests.integration.deliverer.conftest import Start
from tests.integration.deliverer.ledgers import Ledger
from tests.integration.deliverer.programs import DelivererProcess
from tests.unit.deliverer.builders import delivery

ACCOUNT = "AC" + "0" * 31 + "1"
TOKEN = "inbox-token"
PHONE = "+41791234567"


def text(number: int, recipient: str = PHONE) -> Delivery:
    return delivery(number, "sms", recipient)


def started(start: Start, url: str, **more: object) -> DelivererProcess:
    settings: dict[str, object] = {
        "sms_account_sid": ACCOUNT,
        "sms_auth_token": TOKEN,
        "sms_sender": "+15005550006",
        "sms_api_url": url,
        "sms_look_up_after_seconds": "[]",
    }
    return start("sms", **(settings | more))


def codes(*sent: Delivery) -> Counter[str]:
    """What the stand-in counts where no callback's address tells it the whole id."""
    return Counter(body_code(each.delivery_id).removeprefix("#") for each in sent)


class Door(DelivererProcess):
    """One `python -m services.callbacks`."""

    @property
    def url(self) -> str:
        return self.environment["ALDEBARAN_CALLBACKS_PUBLIC_URL"]

    def answered(self, outcome: str) -> float:
        """How many callbacks came to this."""
        name = f'aldebaran_callbacks_total{{outcome="{outcome}",provider="twilio"}}'
        return self.metric(name)


@contextmanager
def open_door(ledger: Ledger, folder: Path, *, ready: bool = True) -> Iterator[Door]:
    """Run the callbacks' door on free ports."""
    (port,) = free_ports(1)
    environment = {
        "ALDEBARAN_POSTGRES_URL": ledger.url,
        "ALDEBARAN_SMS_AUTH_TOKEN": TOKEN,
        "ALDEBARAN_CALLBACKS_PORT": str(port),
        "ALDEBARAN_CALLBACKS_PUBLIC_URL": f"http://127.0.0.1:{port}",
    }
    door = Door(environment, folder / "callbacks.log", module="services.callbacks")
    try:
        door.start(ready)
        yield door
    finally:
        door.kill()
