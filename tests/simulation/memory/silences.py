"""Silences, and alerts that inhibit others, in memory; see services/backbone/ledger."""

from dataclasses import dataclass, replace

from services.backbone.errors import Refused
from services.backbone.ledger.alerts.inhibitors import InhibitorRow
from services.backbone.ledger.operators.silences import NewSilence, SilenceRow, complaint
from tests.simulation.memory.suppressions import moment
from tests.simulation.memory.tables import Tables


@dataclass(frozen=True)
class MemorySilences:
    """The statements of Silences, each at one moment."""

    tables: Tables

    def create(self, new: NewSilence) -> SilenceRow:
        """Create a silence; the same id twice is one silence."""
        if (made := self.tables.silences.get(new.silence_id)) is not None:
            return made
        now = moment(self.tables.now())
        if wrong := complaint(new, now):
            raise Refused(wrong)
        row = SilenceRow(
            silence_id=new.silence_id,
            match=dict(new.match),
            starts_at=new.starts_at,
            ends_at=new.ends_at,
            author=new.author,
            reason=new.reason,
            source=new.source,
            created_at=now,
            ended_at=None,
            ended_by=None,
        )
        self.tables.silences[new.silence_id] = row
        return row

    def end(self, silence_id: str, person: str) -> SilenceRow:
        """End a silence before its time."""
        now, row = moment(self.tables.now()), self.tables.silences.get(silence_id)
        if row is None or row.ended_at is not None or row.ends_at <= now:
            raise Refused(f"no silence {silence_id} stands: it is unknown or over")
        ended = replace(row, ended_at=now, ended_by=person)
        self.tables.silences[silence_id] = ended
        return ended

    def standing(self) -> list[SilenceRow]:
        """Return the silences that stand, and those announced for later."""
        now = moment(self.tables.now())
        rows = self.tables.silences.values()
        return [each for each in rows if each.ends_at > now and each.ended_at is None]


@dataclass(frozen=True)
class MemoryInhibitors:
    """The statement of Inhibitors."""

    tables: Tables

    def fresh(self, within_seconds: float) -> list[InhibitorRow]:
        """Return those accepted within a time, newest first."""
        after = self.tables.now() - within_seconds
        found = [
            (at, self.tables.alerts[alert_id])
            for alert_id, at in self.tables.accepted_at.items()
            if at > after and self.tables.alerts[alert_id].inhibits
        ]
        found.sort(key=lambda each: each[0], reverse=True)
        return [
            InhibitorRow(
                new.alert.alert_id,
                list(new.inhibits),
                moment(new.alert.detected_at_ms / 1000),
                new.alert.alert_id in self.tables.acknowledgements,
            )
            for _, new in found
        ]
