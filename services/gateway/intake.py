"""What all on-ramps do with the events of one body: judge, write, and know what became of each."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from services.backbone.clock import Clock
from services.backbone.errors import Refused, Trouble
from services.backbone.kafka.producer import Outgoing
from services.backbone.log import logger
from services.backbone.seldom import Seldom
from services.contracts.declarations import BadDeclaration
from services.contracts.events import EventReader, Invalid
from services.contracts.records import Rejected
from services.contracts.streams import StreamDeclaration, load_streams
from services.contracts.topics import rejected
from services.gateway import metrics
from services.gateway.split import Parts, Verdict

log = logger(__name__)

SLICE_EVENTS: Final = 256
SLICE_SECONDS: Final = 0.005
"""Events judged in one go, and after how long that is over too: others then have their turn."""


class Writer(Protocol):
    """What an intake needs of a producer."""

    def send(self, records: Sequence[Outgoing]) -> "Future[list[Trouble | None]]":
        """Start writing; the future tells for each record what went wrong, or None."""


@dataclass(frozen=True, slots=True)
class Taken:
    """What became of the events of one body: per event its verdict and its writing's outcome."""

    verdicts: Sequence[Verdict]
    outcomes: Sequence[Trouble | None]


class Intake:
    """Takes events of one declared stream to its topic, or aside to its topic of rejected."""

    def __init__(self, stream: StreamDeclaration, writer: Writer, clock: Clock) -> None:
        self.stream = stream
        self._reader = EventReader(stream)
        self._writer = writer
        self._clock = clock
        self._seldom = Seldom()

    async def judge(self, parts: Parts) -> list[Verdict]:
        """Validate every event."""
        verdicts = self._slice(parts, 0)
        while len(verdicts) < len(parts):
            await asyncio.sleep(0)
            verdicts += self._slice(parts, len(verdicts))
        return verdicts

    def _slice(self, parts: Parts, start: int) -> list[Verdict]:
        verdicts: list[Verdict] = []
        ends_at = self._clock.monotonic_seconds() + SLICE_SECONDS
        for index in range(start, min(start + SLICE_EVENTS, len(parts))):
            verdicts.append(parts.read(index, self._reader))
            if self._clock.monotonic_seconds() >= ends_at:
                break
        return verdicts

    def records(self, parts: Parts, verdicts: Sequence[Verdict], source: str) -> list[Outgoing]:
        """Return one record per event: the event itself, or the original beside the reason."""
        bad = [index for index, each in enumerate(verdicts) if isinstance(each, Invalid)]
        originals = iter(parts.originals(bad))
        return [
            self._kept_aside(each, next(originals), f"{source} {index}")
            if isinstance(each, Invalid)
            else Outgoing(self.stream.stream, each.key, each.value)
            for index, each in enumerate(verdicts)
        ]

    async def prepare(
        self, parts: Parts, verdicts: Sequence[Verdict], source: str
    ) -> list[Outgoing]:
        """Return one record per event, as `records` does, without keeping others waiting.

        Finding exact bytes in a large array takes up to a second, so that is done on a thread.
        """
        if any(isinstance(each, Invalid) for each in verdicts):
            return await asyncio.to_thread(self.records, parts, verdicts, source)
        return self.records(parts, verdicts, source)

    async def write(self, records: Sequence[Outgoing]) -> list[Trouble | None]:
        """Write records; return when each is on all in-sync replicas or known to have failed."""
        began = self._clock.monotonic_seconds()
        outcomes = await asyncio.wrap_future(self._writer.send(records))
        if not any(outcomes):  # a full queue refuses at once, which would look quick
            metrics.ACK_SECONDS.observe(self._clock.monotonic_seconds() - began)
        return outcomes

    async def take(self, verdicts: list[Verdict], records: list[Outgoing], source: str) -> Taken:
        """Write what was judged and prepared of one body; `source` says where it came from."""
        taken = Taken(verdicts, await self.write(records))
        self.count(taken)
        self._log_troubles(taken, source)
        return taken

    def _log_troubles(self, taken: Taken, source: str) -> None:
        """Write one line for each kind of trouble, however many events and bodies met it."""
        kinds = {type(each): each for each in taken.outcomes if each is not None}
        for kind, trouble in kinds.items():
            self._seldom.tell(
                log.warning,
                "not_written",
                self._clock.monotonic_seconds(),
                kind=kind.__name__,
                between=log.debug,
                stream=self.stream.stream,
                source=source,
                reason=str(trouble),
            )

    def count(self, taken: Taken) -> None:
        """Add to the metrics what became of the events."""
        name, events = self.stream.stream, len(taken.verdicts)
        written = [
            verdict
            for verdict, outcome in zip(taken.verdicts, taken.outcomes, strict=True)
            if outcome is None
        ]
        reasons = Counter(each.reason for each in written if isinstance(each, Invalid))
        for reason, count in reasons.items():
            metrics.REJECTED.labels(name, reason).inc(count)
        kept_aside = reasons.total()
        metrics.EVENTS.labels(name, "accepted").inc(len(written) - kept_aside)
        metrics.EVENTS.labels(name, "rejected").inc(kept_aside)
        metrics.EVENTS.labels(name, "retry").inc(events - len(written))

    def _kept_aside(self, why: Invalid, original: bytes, source: str) -> Outgoing:
        record = Rejected.of(
            topic=self.stream.stream,
            source=source,
            reason=why.reason,
            detail=why.detail,
            original=original,
            at_ms=self._clock.now_ms(),
        )
        return Outgoing(rejected(self.stream.stream), source, record.encode())


def open_intakes(streams_dir: Path, writer: Writer, clock: Clock) -> dict[str, Intake]:
    """Return an intake for every declared stream.

    Raises:
        Refused: a declaration cannot be used.
    """
    try:
        streams = load_streams(streams_dir)
    except BadDeclaration as error:
        raise Refused(str(error)) from None
    return {name: Intake(stream, writer, clock) for name, stream in streams.items()}
