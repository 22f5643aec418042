"""The price file: every price with its source and date."""

from datetime import date
from pathlib import Path
from typing import Annotated, Final

import yaml
from pydantic import BaseModel, ConfigDict, Field

PRICES_FILE: Final = Path(__file__).with_name("prices.yaml")

Amount = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class _Read(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Price(_Read):
    """One price, or what a price is worked out from."""

    value: Amount
    source: Annotated[str, Field(min_length=5)]
    date: date


class Source(_Read):
    """Where a table of prices is from."""

    source: Annotated[str, Field(min_length=5)]
    date: date


class Machine(_Read):
    """A machine for rent, by the hour."""

    name: str
    cores: Annotated[int, Field(gt=0)]
    memory_gibibytes: Amount
    network_megabits: Amount
    """What it may use all the time, without bursts."""
    per_hour: Amount


class Aws(_Read):
    """Prices of AWS, in US dollars."""

    machines: Annotated[tuple[Machine, ...], Field(min_length=1)]
    machines_from: Source
    disk_gigabyte_month: Price
    disk_megabyte_per_second_month: Price
    archive_gigabyte_month: Price
    zone_gigabyte: Price


class Server(_Read):
    """A server that one buys."""

    name: str
    cores: Annotated[int, Field(gt=0)]
    memory_gibibytes: Amount
    disk_gigabytes: Amount
    network_megabits: Amount


class Own(_Read):
    """Prices of own machines, in US dollars."""

    server: Server
    server_price: Price
    server_years: Price
    server_kilowatt_hours_year: Price
    kilowatt_hour: Price
    place_month: Price
    hands_share: Price


class Prices(_Read):
    """The whole file."""

    aws: Aws
    own: Own


def read_prices(file: Path = PRICES_FILE) -> Prices:
    """Return the prices of a file; raises ValueError with what is wrong in it."""
    return Prices.model_validate(yaml.safe_load(file.read_text("utf-8")))
