"""What the accountant can be told."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from services.accountant.accounts import Limits, Target
from services.backbone.settings import KafkaSettings, LedgerSettings, Seconds
from services.contracts import topics
from services.contracts.records import Name, ShortText

_HOUR: int = 3600


class TargetSetting(BaseModel):
    """Somebody who is told of findings."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    channel: Name
    recipient: ShortText


class AccountantSettings(KafkaSettings, LedgerSettings):
    """Settings of the accountant."""

    accountant_recipients: Annotated[tuple[TargetSetting, ...], Field(max_length=32)] = ()
    """Whom to tell, the first preferred; at least two channels, so that one may be in trouble."""
    accountant_group: Name = "accountant"
    accountant_behind_seconds: Seconds = 30.0
    """How long an alert may take from its topic into the ledger."""
    accountant_turn_seconds: Seconds = 10.0
    accountant_raise_seconds: Seconds = 300.0
    """Between two messages about the same kind of finding."""
    accountant_due_seconds: Seconds = 120.0
    accountant_in_doubt_seconds: Seconds = 600.0
    accountant_held_seconds: Seconds = 900.0
    accountant_suppressed_seconds: Seconds = 300.0
    accountant_window_hours: Annotated[float, Field(gt=0, le=24 * 365)] = 168.0
    """How far back recipients are compared again and again."""
    accountant_heartbeat_url: SecretStr | None = None
    accountant_heartbeat_seconds: Seconds = 60.0
    age_limit_hours: Annotated[float, Field(gt=0, le=24 * 365)] = 168.0
    """As the deliverers have it."""
    ledger_retention_days: Annotated[float, Field(gt=0, le=36_500)] = 400.0

    @model_validator(mode="after")
    def _keys_outlive_replays(self) -> Self:
        kept = {topic.name: topic.retention_hours for topic in topics.core_topics(())}
        least = (kept[topics.ALERTS] + self.age_limit_hours) / 24
        if self.ledger_retention_days <= least:
            raise ValueError(
                f"ledger_retention_days must be more than {least:g}: topic alerts is kept for"
                f" {kept[topics.ALERTS]} h and age_limit_hours is {self.age_limit_hours:g}; with"
                " less, an alert that is read again could be told again"
            )
        return self

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
