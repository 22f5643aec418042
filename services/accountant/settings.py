"""What the accountant can be told."""

from typing import Annotated, Final, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from services.accountant.accounts import Limits, Target, short_retention
from services.backbone.ledger.accounting.findings import Finding
from services.backbone.settings import KafkaSettings, LedgerSettings, Seconds, StreamsSettings
from services.contracts import topics
from services.contracts.recipients import complaint
from services.contracts.records import Name, ShortText

DECLARED_HOURS: Final = next(
    topic.retention_hours for topic in topics.core_topics(()) if topic.name == topics.ALERTS
)
"""For how long topic alerts is kept, unless somebody has told the brokers otherwise."""


class TargetSetting(BaseModel):
    """Somebody who is told of findings."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    channel: Name
    recipient: ShortText

    @model_validator(mode="after")
    def _can_be_told(self) -> Self:
        if found := complaint(self.channel, self.recipient):
            raise ValueError(found)
        return self


class AccountantSettings(KafkaSettings, LedgerSettings, StreamsSettings):
    """Settings of the accountant."""

    accountant_recipients: Annotated[tuple[TargetSetting, ...], Field(max_length=32)] = ()
    """Whom to tell, the first preferred; at least two channels, so that one may be in trouble."""
    accountant_group: Name = "accountant"
    """The consumer group that reads topic alerts; the one of what was set aside begins with it."""
    accountant_behind_seconds: Seconds = 30.0
    """How long an alert may take from its topic into the ledger."""
    accountant_turn_seconds: Seconds = 10.0
    """Between two accountings."""
    accountant_raise_seconds: Seconds = 300.0
    """Between two messages about the same kind of finding."""
    accountant_due_seconds: Seconds = 120.0
    """How long deliveries of a channel may be due, or claimed beyond their lease."""
    accountant_in_doubt_seconds: Seconds = 600.0
    """How long a delivery may be in doubt before somebody is told."""
    accountant_held_seconds: Seconds = 900.0
    """How long a delivery may be HELD, or FAILED and unseen to, before somebody is told."""
    accountant_suppressed_seconds: Seconds = 300.0
    """How long what a lookout has to follow up may be overdue before somebody is told."""
    accountant_window_hours: Annotated[float, Field(gt=0, le=24 * 365)] = 168.0
    """How far back recipients are compared again and again."""
    accountant_heartbeat_url: SecretStr | None = None
    """A dead man's switch: gets a POST after a whole accounting."""
    accountant_heartbeat_seconds: Seconds = 60.0
    """Between two such calls, at least."""
    age_limit_hours: Annotated[float, Field(gt=0, le=24 * 365)] = 168.0
    """As the deliverers have it."""
    ledger_retention_days: Annotated[float, Field(gt=0, le=36_500)] = 400.0
    """Alerts that are older are removed from the ledger, unless a delivery is still open."""

    @model_validator(mode="after")
    def _keys_outlive_replays(self) -> Self:
        """The brokers are asked later: what they say may differ."""
        if found := self.short_retention(DECLARED_HOURS):
            raise ValueError(
                f"topic alerts: {found[0].detail}; with less, an alert that is read again could be"
                " told again"
            )
        return self

    def short_retention(self, kept_hours: float) -> list[Finding]:
        """Return a finding if topic alerts is kept for too long for the ledger's retention."""
        return short_retention(kept_hours, self.age_limit_hours, self.ledger_retention_days)

    @property
    def window_seconds(self) -> float:
        """How far back recipients are compared; what is older than the retention loses them."""
        return min(self.accountant_window_hours * 3600, self.ledger_retention_days * 86_400)

    @property
    def limits(self) -> Limits:
        """How long deliveries may wait."""
        return Limits(
            in_doubt=self.accountant_in_doubt_seconds,
            held=self.accountant_held_seconds,
            suppressed=self.accountant_suppressed_seconds,
        )

    @property
    def targets(self) -> tuple[Target, ...]:
        """Whom to tell."""
        return tuple(Target(each.channel, each.recipient) for each in self.accountant_recipients)
