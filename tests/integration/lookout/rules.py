"""One lookout and one deliverer, with routes whose times a test moves; a far end that counts."""

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2

from services.backbone.kafka.producer import Producer
from services.backbone.web.keys import key_hash, new_key
from services.contracts.ids import alert_id, delivery_id
from services.contracts.records import Alert, Severity
from services.machine.supervision.child import Child
from services.machine.supervision.readiness import HttpReadiness
from tests.integration.deliverer.programs import DelivererProcess
from tests.integration.deliverer.receivers import WebhookReceiver
from tests.integration.lookout.later_rows import rows
from tests.integration.lookout.processes import Lookouts, eventually, write_alerts
from tests.unit.lookout.samples import sample

TIMES = ("night", "works", "weekly")
"""Times of the week that a test can move; all begin around now."""
ROUTES = """
version: 1
times: %s
silences:
  - {name: works, match: {watch: rules-works}, during: works, author: ann, reason: new fans}
inhibit:
  - name: worst-first
    when: {watch: rules-oven, severity: critical}
    mutes: {watch: rules-oven, severity: [info, warning]}
    equal: labels.hall
routes:
  - name: nights
    match: {watch: rules-night}
    quiet: {during: night, unless: critical}
    send: [{channel: webhook, to: "%s"}]
  - name: many
    match: {watch: rules-many}
    group: {by: [watch], wait: 1h, limit: 3}
    send: [{channel: webhook, to: "%s"}]
  - name: others
    match: {watch: "rules-*"}
    send: [{channel: webhook, to: "%s"}]
default:
  send: [{channel: bus, to: notifications}]
"""


def around(at: datetime) -> dict[str, str]:
    """Return a part of the week, the same each day, of two hours before and after a moment."""
    ends = (at - timedelta(hours=2), at + timedelta(hours=2))
    return dict(zip(("from", "to"), (each.strftime("%H:%M") for each in ends), strict=True))


@dataclass
class Rules:
    """The programs, what tells them of alerts, and what counts."""

    lookout: Child
    ledger_url: str
    producer: Producer
    receiver: WebhookReceiver
    key: str
    routes_file: Path
    times: dict[str, list[dict[str, str]]] = field(default_factory=dict)

    def alert(
        self, watch: str, severity: Severity = Severity.WARNING, hall: str = "north"
    ) -> Alert:
        """Tell of an alert that no other test has."""
        (alert,) = self.alerts(watch, 1, severity=severity, labels={"hall": hall})
        return alert

    def alerts(self, watch: str, count: int, **more: Any) -> list[Alert]:
        """Tell of alerts at once."""
        now_ms = int(datetime.now(UTC).timestamp() * 1000)
        at = {"appended_at_ms": now_ms - 3, "detected_at_ms": now_ms}
        told = [
            sample(watch=watch, alert_id=alert_id(watch, [uuid.uuid4().hex]), **at, **more)
            for _ in range(count)
        ]
        write_alerts(self.producer, told)
        return told

    def stands(self, alert: Alert) -> str:
        """Return the state of an alert's delivery; empty while there is none."""
        question = "SELECT state FROM deliveries WHERE alert_id = %s"
        return "".join(state for (state,) in rows(self.ledger_url, question, alert.alert_id))

    def held(self, alert: Alert, kind: str) -> datetime:
        """Wait until an alert is held back by such a rule; return until when."""
        question = "SELECT suppressed_by, next_attempt_at FROM deliveries WHERE alert_id = %s"
        self._comes(alert, "SUPPRESSED")
        ((by, until),) = rows(self.ledger_url, question, alert.alert_id)
        assert by.partition(":")[0] == kind
        assert self.came(alert) == 0
        moment: datetime = until
        return moment

    def sent(self, alert: Alert) -> None:
        """Wait until an alert is sent; it came once."""
        self._comes(alert, "SENT")
        assert self.came(alert) == 1

    def came(self, alert: Alert) -> int:
        """Return how often the far end was told of this alert's delivery."""
        return self.receiver.came()[delivery_id(alert.alert_id, "webhook", self.receiver.url)]

    def words(self, alert: Alert) -> str:
        """Return the text that came."""
        name = delivery_id(alert.alert_id, "webhook", self.receiver.url)
        (body,) = [each.body for each in self.receiver.requests if each.key == name]
        text: str = json.loads(body)["text"]
        return text

    def first_held(self, watch: str) -> Alert:
        """Tell of alerts until one is held back: from then on the lookout knows a new silence."""
        told: list[Alert] = []

        def one_is_held() -> bool:
            told.append(self.alert(watch))
            eventually(lambda: self.stands(told[-1]) not in ("", "PENDING"), "not judged")
            return self.stands(told[-1]) == "SUPPRESSED"

        eventually(one_is_held, "nothing is silenced")
        for each in told[:-1]:
            self.sent(each)
        return told[-1]

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Ask the lookout as an operator; what is refused fails the test."""
        readiness = self.lookout.program.readiness
        assert isinstance(readiness, HttpReadiness)
        url = f"http://127.0.0.1:{readiness.port}{path}"
        headers = {"authorization": f"Bearer {self.key}"}
        answer = httpx2.request(method, url, json=body, headers=headers, timeout=30)
        assert answer.is_success, answer.text
        told: dict[str, Any] = answer.json()
        return told

    def end(self, name: str) -> None:
        """Move times of the week far from now, in the file that the lookout watches."""
        self.times[name] = [around(datetime.now(UTC) + timedelta(hours=9))]
        write_routes(self.routes_file, self.times, self.receiver.url)

    def _comes(self, alert: Alert, state: str) -> None:
        eventually(lambda: self.stands(alert) == state, f"{alert.watch} is not {state}")


def write_routes(file: Path, times: dict[str, Any], to: str) -> None:
    """Write the routes whole."""
    whole = file.with_suffix(".new")
    whole.write_text(ROUTES % (json.dumps(times), *[to] * ROUTES.count('to: "%s"')))
    whole.replace(file)


@contextmanager
def running(lookouts: Lookouts, producer: Producer, receiver: WebhookReceiver) -> Iterator[Rules]:
    """Start one lookout with these routes, and one deliverer of webhooks."""
    key, folder = new_key(), lookouts.folder
    routes, keys = folder / "routes.yaml", folder / "keys.yaml"
    keys.write_text(json.dumps({"keys": [{"name": "ann", "sha256": key_hash(key)}]}))
    times = {name: [around(datetime.now(UTC))] for name in TIMES}
    write_routes(routes, times, receiver.url)
    lookouts.settings |= {
        "ALDEBARAN_ROUTES_FILE": str(routes),
        "ALDEBARAN_OPERATOR_KEYS_FILE": str(keys),
        "ALDEBARAN_LOOKOUT_KEEPER_SECONDS": "0.2",
    }
    lookout = lookouts.start()
    settings = {
        "ALDEBARAN_CHANNEL": "webhook",
        "ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS": lookouts.kafka_bootstrap,
        "ALDEBARAN_POSTGRES_URL": lookouts.ledger_url,
        "ALDEBARAN_SWEEP_SECONDS": "0.2",
    }
    with DelivererProcess(settings, folder / "webhook.log").running():
        yield Rules(lookout, lookouts.ledger_url, producer, receiver, key, routes, times)
