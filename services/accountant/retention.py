"""How the brokers keep what can be found or read again: with whose times, and for how long, against
what the ledger keeps.
"""

from collections.abc import Callable, Iterator
from typing import Final

from services.accountant import accounts
from services.accountant.aside import REJECTED
from services.accountant.settings import DECLARED_HOURS, AccountantSettings
from services.backbone.errors import NoTopic, Refused, Transient
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.ledger.accounting.findings import Finding
from services.backbone.log import logger
from services.contracts import topics
from services.contracts.declarations import AS_IT_RAN, BadDeclaration, digest_of
from services.contracts.streams import StreamDeclaration, load_streams, stream_topics

SEGMENT_HOURS: Final = 168.0
"""For how long the brokers fill a segment of a stream's topic, unless somebody has told them."""

log = logger(__name__)


class Retention:
    """Asks the brokers for topic alerts and for each declared stream, whatever they are by now."""

    def __init__(self, settings: AccountantSettings, admin: TopicAdmin) -> None:
        self._settings = settings
        self._admin = admin
        self._untold: set[str] = set()
        self._publishers_times: dict[str, bool] = {}
        self._streams: tuple[StreamDeclaration, ...] = ()
        self._digest = ""

    def found(self) -> list[Finding]:
        """Return a finding for each topic that is kept for too long for the ledger's retention, or
        of which nobody knows; and for each with its publishers' times that is to have the brokers'.

        Raises:
            Transient: the brokers are away, or the topics that are compared are not declared.
        """
        if missing := {topics.ALERTS, REJECTED} - self._admin.partitions().keys():
            names = ", ".join(sorted(missing))
            raise Transient(f"topics are missing: {names}; declare them: python -m services.topics")
        kept_hours = self._told(topics.ALERTS, self._admin.retention_hours, DECLARED_HOURS)
        return [*self._settings.short_retention(kept_hours), *self._of_streams()]

    def _of_streams(self) -> Iterator[Finding]:
        try:
            self._read_anew()
        except BadDeclaration as error:
            yield accounts.unknown_retention(str(error))
            return
        days = self._settings.ledger_retention_days
        for each in self._streams:
            yield from accounts.short_stream_retention(each.stream, self._readable(each), days)
            for topic in stream_topics(each):
                if topic.append_time and self._has_publishers_times(topic.name):
                    yield accounts.publishers_times(topic.name)

    def _read_anew(self) -> None:
        if (digest := digest_of(self._settings.streams_dir)) != self._digest:
            self._streams = (*load_streams(self._settings.streams_dir, AS_IT_RAN).values(),)
            self._digest = digest

    def _readable(self, stream: StreamDeclaration) -> float:
        declared_hours = stream.retention_hours + SEGMENT_HOURS
        try:
            return self._told(stream.stream, self._admin.readable_hours, declared_hours)
        except NoTopic:
            # A broker that has just started may say so of one that is there.
            return declared_hours

    def _has_publishers_times(self, topic: str) -> bool:
        """What is not told now is as it was told last: not to know mends nothing."""
        try:
            self._publishers_times[topic] = self._admin.kept(topic).with_publishers_times
            self._untold.discard(topic)
        except NoTopic:
            pass  # as in `_readable`
        except Refused as error:
            self._tell_once(topic, error, "times_not_told")
        return self._publishers_times.get(topic, False)

    def _told(self, topic: str, ask: Callable[[str], float], declared_hours: float) -> float:
        try:
            told_hours = ask(topic)
        except Refused as error:
            self._tell_once(topic, error, "retention_not_told", taken_hours=declared_hours)
            return declared_hours
        self._untold.discard(topic)
        return told_hours

    def _tell_once(self, topic: str, error: Refused, event: str, **taken: float) -> None:
        if topic not in self._untold:
            self._untold.add(topic)
            reason = f"{error}: allow DESCRIBE_CONFIGS of topic {topic} to this program"
            log.warning(event, reason=reason, **taken)
