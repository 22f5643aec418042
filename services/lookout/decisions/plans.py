"""A recipient's plan as the ledger keeps it, so that time and failure can act on it later."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import orjson

from services.backbone.ledger.alerts.fallbacks import fallback_plan
from services.contracts.records import Severity
from services.lookout.routing import Grouping, Instruction, Quiet, Routes, Target


def encode_plan(instruction: Instruction) -> bytes:
    """Return the JSON of everything but the recipient, which the row itself names."""
    plan: dict[str, Any] = {"route": instruction.route}
    if instruction.template:
        plan["template"] = instruction.template
    instead = [(each.channel, each.recipient) for each in instruction.fallback]
    plan |= fallback_plan(instead, on_held=instruction.fallback_on_held)
    if (quiet := instruction.quiet) is not None:
        first, *others = (_encoded(each) for each in quiet.parts)
        # A lookout of before does not know `and`, and heeds the first route's times alone.
        plan["quiet"] = first | ({"and": others} if others else {})
    if (grouping := instruction.grouping) is not None:
        wait, limit = grouping.wait_seconds, grouping.limit
        plan["grouping"] = {"by": grouping.by, "wait_seconds": wait, "limit": limit}
    if instruction.asked_at is not None:
        plan["asked_at_ms"] = int(instruction.asked_at.timestamp() * 1000)
    if instruction.since is not None:
        plan["since_ms"] = int(instruction.since.timestamp() * 1000)
    return orjson.dumps(plan)


def read_plan(plan: Mapping[str, Any], target: Target, routes: Routes) -> Instruction:
    """Return the instruction of a row; times of the week are those of today's routes.

    Times that the routes do not name any more hold nothing back, nor do those of further routes
    with them. Ages are the ledger's to judge, so when a message was asked for is not read.
    """
    return Instruction(
        target,
        route=plan.get("route", ""),
        template=plan.get("template"),
        fallback=tuple(Target(**each) for each in plan.get("fallback", ())),
        fallback_on_held=plan.get("fallback_on") == "held",
        quiet=_quiet(plan.get("quiet"), routes),
        grouping=_grouping(plan.get("grouping")),
        since=_moment(plan.get("since_ms")),
    )


def _encoded(quiet: Quiet) -> dict[str, Any]:
    times, unless = quiet.times, sorted(quiet.unless)
    return {"times": times.name, "outside": times.inverse, "unless": unless}


def _quiet(told: Mapping[str, Any] | None, routes: Routes) -> Quiet | None:
    times = routes.times.get(told["times"]) if told else None
    if told is None or times is None:
        return None
    unless = frozenset(Severity(each) for each in told["unless"])
    others = [_quiet(each, routes) for each in told.get("and", ())]
    known = tuple(each for each in others if each is not None)
    if len(known) < len(others):
        return None
    return Quiet(times.outside() if told["outside"] else times, unless, known)


def _moment(at_ms: int | None) -> datetime | None:
    return None if at_ms is None else datetime.fromtimestamp(at_ms / 1000, UTC)


def _grouping(told: Mapping[str, Any] | None) -> Grouping | None:
    if told is None:
        return None
    return Grouping(tuple(told["by"]), told["wait_seconds"], told["limit"])
