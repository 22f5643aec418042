"""What the lookout can be told."""

from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from services.backbone.kafka.producer import ProducerSettings
from services.backbone.mirror import MirrorSettings
from services.backbone.settings import ChannelsSettings, LedgerSettings, Seconds, WatchesSettings
from services.backbone.web.links import LinkSettings, WebAddress
from services.contracts.records import Name

SHIPPED_ROUTES: Final = Path(__file__).parent / "routes.yaml"
"""The routes that come with Aldebaran."""


class LookoutSettings(
    ProducerSettings,
    MirrorSettings,
    LedgerSettings,
    ChannelsSettings,
    LinkSettings,
    WatchesSettings,
):
    """Settings of the lookout; `channels` must be those whose topics are declared."""

    routes_file: Path = SHIPPED_ROUTES
    """The file of routes; a changed one is taken over while the lookout runs."""
    routes_variables: dict[str, str] = Field(default_factory=dict)
    """What `${name}` in the routes stands for, by name."""
    operator_keys_file: Path | None = None
    """Who may use the API; without it the API is closed."""
    console_public_url: WebAddress = ""
    """The console as people reach it; messages lead to its page of the alert. Empty: no links."""
    lookout_group: Name = "lookout"
    """The consumer group that reads topic alerts."""
    lookout_batch_alerts: Annotated[int, Field(ge=1, le=10_000)] = 500
    """Most alerts of one turn."""
    lookout_settled_alerts: Annotated[int, Field(ge=1, le=10_000_000)] = 50_000
    """So many alerts are remembered as settled, so that a repeat needs no look into the ledger."""
    lookout_relay_seconds: Seconds = 2.0
    """Between two looks for deliveries that are in the ledger and not on their topic."""
    lookout_relay_age_seconds: Seconds = 2.0
    """So old must such a delivery be, else it may still be under way."""
    lookout_relay_deliveries: Annotated[int, Field(ge=1, le=10_000)] = 500
    """Most of them that are looked up at once; 8 MiB of their records are read at a time."""
    lookout_stalled_seconds: Seconds = 60.0
    """After so long without a turn the health page asks for a restart."""
    lookout_keeper_seconds: Seconds = 1.0
    """Between two rounds of the keeper, the part of it that looks after what waits: silences, quiet
    hours, groups, escalations, fallbacks."""
    lookout_keeper_rows: Annotated[int, Field(ge=1, le=10_000)] = 500
    """Most suppressed deliveries that a round judges anew at once."""
    age_limit_hours: Annotated[float, Field(gt=0, le=24 * 365)] = 168.0
    """As the deliverers have it."""

    @property
    def names_watches(self) -> bool:
        """Whether somebody says where the watches are; else other than the shipped ones may run."""
        return "watches_dir" in self.model_fields_set
