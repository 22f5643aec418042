"""The simulator's command line."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from services.contracts.records import describe
from services.simulator.dials import Dials, Shape

_DIALS: Final[dict[str, tuple[str, str]]] = {
    "rate": ("PER_SECOND", "messages per second; `max` or 0 for all that the machine gives (1)"),
    "orders": ("N", "end after this many whole orders"),
    "events": ("N", "end after this many messages, malformed and repeated ones included"),
    "seconds": ("S", "end after this time"),
    "run-id": ("NAME", "prefix of all order ids (default: from seed and start)"),
    "to": ("TARGET", "`gateway` (HTTP, default) or `kafka` (straight to the topic)"),
    "batch": ("N", "most messages that leave together (gateway 100, kafka 1000)"),
    "watch": ("NAME", "watch whose alert ids are reported (over-purchase)"),
    "report-ids": ("N", "most order ids in the report (100000)"),
}
_SHAPE: Final[dict[str, tuple[str, str]]] = {
    "purchases-per-request": ("N", "purchases made for each request (4)"),
    "over-share": ("SHARE", "share of orders that are over-purchased, 0 to 1 (0.1)"),
    "disorder": ("SHARE", "share of events that are up to 40 places late, requests too (0)"),
    "duplicates": ("SHARE", "share of purchases sent once more with the same id (0)"),
    "malformed": ("SHARE", "malformed messages per valid event (0)"),
    "seed": ("N", "the same seed gives the same history (1)"),
}


def parser() -> argparse.ArgumentParser:
    """Return the parser; defaults stand in the dials."""
    made = argparse.ArgumentParser(
        prog="python -m services.simulator",
        description="Sends simulated requests and purchases, and says which orders must alert.",
        epilog="The API key is read from ALDEBARAN_SIMULATOR_API_KEY unless --api-key gives it; "
        "docs/simulator.md tells more.",
    )
    for title, dials in (("the run", _DIALS), ("the history", _SHAPE)):
        group = made.add_argument_group(title)
        for name, (value, text) in dials.items():
            group.add_argument(f"--{name}", metavar=value, help=text)
    made.add_argument("--report", metavar="FILE", type=_report, help="write the report as JSON")
    made.add_argument("--url", metavar="URL", help="the gateway's address")
    made.add_argument("--api-key", metavar="KEY", help="the gateway's key; better by environment")
    made.add_argument("--http-port", metavar="PORT", help="port of health and metrics")
    return made


def _report(text: str) -> Path:
    """Read where a report goes; a run of hours is not to end with a place for none."""
    file = Path(text)
    if not file.parent.is_dir():
        raise argparse.ArgumentTypeError(f"there is no folder {file.parent}")
    if file.is_dir():
        raise argparse.ArgumentTypeError(f"{file} is a folder")
    return file


def read_dials(given: argparse.Namespace) -> Dials:
    """Turn parsed arguments into dials.

    Raises:
        ValueError: a dial is out of its range; the message names it as the user spells it.
    """
    try:
        shape = Shape.model_validate(_chosen(given, _SHAPE))
        rest = _chosen(given, _DIALS) | {"shape": shape, "report": given.report}
        return Dials.model_validate(rest)
    except ValidationError as error:
        raise ValueError(describe(error).replace("_", "-")) from None


def read_overrides(given: argparse.Namespace) -> dict[str, str]:
    """Return the settings that the command line lays over the environment."""
    named = {
        "simulator_gateway_url": given.url,
        "simulator_api_key": given.api_key,
        "http_port": given.http_port,
    }
    return {name: value for name, value in named.items() if value is not None}


def parse(arguments: Sequence[str]) -> tuple[Dials, dict[str, str]]:
    """Return the dials and the settings' overrides, or end with what is wrong."""
    made = parser()
    given = made.parse_args(arguments)
    try:
        return read_dials(given), read_overrides(given)
    except ValueError as error:
        made.error(str(error))


def _chosen(given: argparse.Namespace, names: dict[str, tuple[str, str]]) -> dict[str, str]:
    fields = [name.replace("-", "_") for name in names]
    return {name: getattr(given, name) for name in fields if getattr(given, name) is not None}
