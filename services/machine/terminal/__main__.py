"""`python -m services.machine.terminal`: shows alerts once each and what becomes of deliveries."""

import argparse
import sys
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from services.backbone.errors import Refused, Transient
from services.backbone.kafka.consumer import Consumer, Incoming
from services.backbone.log import set_up_logging
from services.backbone.settings import EXIT_BAD_SETTINGS, KafkaSettings, read_settings
from services.contracts.records import Alert, DeliveryEvent, Malformed
from services.contracts.states import State
from services.contracts.topics import ALERTS, DELIVERY_EVENTS
from services.machine.supervision.interrupts import Interrupts
from services.machine.terminal.lines import alert_line, delivery_line
from services.machine.terminal.voice import say

_HELP: Final = """
Shows alerts once each and what becomes of deliveries, from where its last run stopped. It is set by
ALDEBARAN_KAFKA_... alone; `make run` starts it.
"""
GROUP = "terminal"
REMEMBERED_ALERTS = 10_000
BATCH_LIMIT = 500
POLL_SECONDS = 0.2
UNTOLD = frozenset({State.PENDING, State.CLAIMED})
"""States that every delivery passes in its first milliseconds: a line each would hide the rest."""


class Shown:
    """Turns records into lines; an alert that was shown lately is not shown again."""

    def __init__(self, remembered: int = REMEMBERED_ALERTS) -> None:
        self._alerts: OrderedDict[str, None] = OrderedDict()
        self._remembered = remembered

    def lines(self, records: Iterable[tuple[str, bytes]]) -> Iterator[str]:
        """Yield one line for each (topic, value) that is new; a malformed one is shown as such."""
        for topic, value in records:
            try:
                if topic == DELIVERY_EVENTS:
                    if (event := DeliveryEvent.decode(value)).after not in UNTOLD:
                        yield delivery_line(event)
                elif self._is_new(alert := Alert.decode(value)):
                    yield alert_line(alert)
            except Malformed as error:
                yield f"a record of {topic} cannot be read: {error}"

    def _is_new(self, alert: Alert) -> bool:
        if alert.alert_id in self._alerts:
            return False
        self._alerts[alert.alert_id] = None
        if len(self._alerts) > self._remembered:
            self._alerts.popitem(last=False)
        return True


def show(consumer: Consumer, interrupts: Interrupts) -> None:
    """Show what comes until a signal to stop."""
    shown = Shown()
    while not interrupts.wait(0):
        try:
            batch = consumer.batch(BATCH_LIMIT, POLL_SECONDS)
        except Transient:
            continue
        if lines := list(shown.lines(_values(batch))):
            say("\n".join(lines))
        consumer.commit(batch)


def _values(batch: Iterable[Incoming]) -> Iterator[tuple[str, bytes]]:
    return ((each.topic, each.value) for each in batch)


def main(arguments: Sequence[str]) -> int:
    """Read from where the last run stopped, and show."""
    parser = argparse.ArgumentParser("python -m services.machine.terminal", description=_HELP)
    parser.parse_args(arguments)
    settings = read_settings(KafkaSettings)
    set_up_logging(GROUP, settings)
    try:
        consumer = Consumer(settings, GROUP, group=GROUP, topics=[ALERTS, DELIVERY_EVENTS])
    except Refused as error:
        sys.stderr.write(f"settings cannot be used: {error}\n")
        return EXIT_BAD_SETTINGS
    with Interrupts() as interrupts:
        show(consumer, interrupts)
    consumer.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
