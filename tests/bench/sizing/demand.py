"""What is asked for: rates, sizes, how long and how often things are kept."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator


class Demand(BaseModel):
    """One installation's load. Every field is an option of the command line."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rate: Annotated[float, Field(gt=0, le=100e6, description="events a second, at the peak")]
    mean_share: Annotated[
        float, Field(gt=0, le=1, description="mean rate as a share of the peak, for disks")
    ] = 0.3
    event_bytes: Annotated[int, Field(ge=10, le=65_536, description="bytes of an event")] = 250
    alert_rate: Annotated[float, Field(ge=0, le=1e6, description="alerts a second")] = 1.0
    deliveries_per_alert: Annotated[
        float, Field(ge=0, le=1000, description="recipients and channels per alert")
    ] = 3.0
    retention_hours: Annotated[
        float, Field(gt=0, le=24 * 365, description="how long streams keep events")
    ] = 168.0
    replication: Annotated[int, Field(ge=1, le=5, description="copies of each event")] = 3
    opens_share: Annotated[
        float, Field(ge=0, le=1, description="share of events that open a book (a key with state)")
    ] = 0.2
    book_hours: Annotated[
        float, Field(gt=0, le=24 * 365, description="how long a watch keeps a book")
    ] = 25.0
    open_books: Annotated[
        int | None,
        Field(
            ge=0,
            le=10**11,
            description="books open at once; without it rate x mean_share x opens_share x "
            "book_hours",
        ),
    ] = None
    archive_days: Annotated[int, Field(ge=0, le=3650, description="days of Parquet; 0: none")] = 365
    ledger_days: Annotated[int, Field(ge=1, le=3650, description="days that alerts are kept")] = 400
    auditors: Annotated[
        int, Field(ge=1, le=2, description="2: a pair, so that one may die without delay")
    ] = 2
    busy_share: Annotated[
        float, Field(gt=0, le=0.9, description="how busy cores may be at the peak")
    ] = 0.5

    @property
    def books(self) -> int:
        """Books open at once: as many as asked for, or as the mean rate opens in their time."""
        if self.open_books is not None:
            return self.open_books
        opened = self.rate * self.mean_share * self.opens_share
        return round(opened * self.book_hours * 3600)

    @model_validator(mode="after")
    def _no_more_alerts_than_events(self) -> Self:
        if self.alert_rate > self.rate:
            raise ValueError("alert_rate is above rate: no watch finds more than one per event")
        return self
