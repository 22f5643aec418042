"""The dials of simulated traffic: what is sent, how much of it, how fast, where to."""

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

Share = Annotated[float, Field(ge=0, le=1)]


class Target(StrEnum):
    """Where the events go."""

    GATEWAY = "gateway"
    KAFKA = "kafka"


def read_rate(value: object) -> object:
    """Turn `max` and 0 into infinity."""
    return math.inf if value in ("max", "0", 0) else value


class Shape(BaseModel):
    """What a history looks like; every choice follows from the seed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    purchases_per_request: Annotated[int, Field(ge=0, le=1000)] = 4
    over_share: Share = 0.1
    disorder: Share = 0.0
    duplicates: Share = 0.0
    malformed: Share = 0.0
    seed: Annotated[int, Field(ge=0, le=2**63)] = 1

    @model_validator(mode="after")
    def _over_purchases_need_purchases(self) -> Self:
        if self.over_share > 0 and self.purchases_per_request == 0:
            raise ValueError("an over-purchase needs at least one purchase per request")
        return self


class Dials(BaseModel):
    """Everything that one run is told on its command line."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rate: Annotated[float, Field(gt=0), BeforeValidator(read_rate)] = 1.0
    shape: Shape = Shape()
    orders: Annotated[int, Field(ge=1)] | None = None
    events: Annotated[int, Field(ge=1)] | None = None
    seconds: Annotated[float, Field(gt=0)] | None = None
    run_id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")] | None = None
    to: Target = Target.GATEWAY
    batch: Annotated[int, Field(ge=1, le=10_000)] | None = None
    watch: str = "over-purchase"
    report: Path | None = None
    report_ids: Annotated[int, Field(ge=0, le=1_000_000)] = 100_000

    @property
    def batch_limit(self) -> int:
        """Most messages that leave together."""
        return self.batch or (1000 if self.to is Target.KAFKA else 100)

    @property
    def unpaced(self) -> bool:
        """Tell whether the run goes as fast as it can."""
        return math.isinf(self.rate)
