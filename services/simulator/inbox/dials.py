"""All dials: as they are at first, and turned one by one."""

from typing import Any

from pydantic import ValidationError

from services.contracts.records import describe
from services.simulator.inbox import mail
from services.simulator.inbox.faults import Dials, Faults, MailFaults
from services.simulator.inbox.provider import first_dials, provider_names


def untouched() -> Dials:
    """Return the dials of every way in, before anybody has turned them."""
    return {mail.WAY: MailFaults()} | {name: first_dials(name) for name in provider_names()}


def turned(dials: Dials, wanted: Any) -> Dials:
    """Return dials with those turned that `wanted` names: way, dial, value.

    Raises:
        ValueError: it is no JSON object, names an unknown way or dial, or a value out of range.
    """
    if not isinstance(wanted, dict):
        raise ValueError("dials come as a JSON object")
    if unknown := wanted.keys() - dials.keys():
        raise ValueError(f"no way in is named {', '.join(unknown)}; there are {', '.join(dials)}")
    return {**dials, **{way: _laid_over(way, dials[way], wanted[way]) for way in wanted}}


def _laid_over(way: str, below: Faults, above: Any) -> Faults:
    if not isinstance(above, dict):
        raise ValueError(f"{way}: dials come as a JSON object")
    try:
        return type(below).model_validate(below.model_dump() | above)
    except ValidationError as error:
        raise ValueError(f"{way}.{describe(error)}") from None
