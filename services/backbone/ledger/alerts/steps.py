"""Steps of an escalation as they are recorded, together with their alert."""

from collections.abc import Iterable
from dataclasses import dataclass

import orjson


@dataclass(frozen=True, slots=True)
class NewStep:
    """One step to wait for: due `after_seconds` from the alert's recording.

    `plan` is the JSON of whom to tell, and how often again.
    """

    name: str
    step: int
    after_seconds: float
    plan: bytes


def step_json(alert_id: str, step: NewStep) -> bytes:
    """Return a step as the statement that records it takes it."""
    told = {
        "alert_id": alert_id,
        "name": step.name,
        "step": step.step,
        "after": step.after_seconds,
        "plan": orjson.Fragment(step.plan),
    }
    return orjson.dumps(told)


def steps_json(steps: Iterable[tuple[str, NewStep]]) -> str:
    """Return steps, each with its alert's id, as one JSON array."""
    return f"[{b','.join(step_json(alert_id, step) for alert_id, step in steps).decode()}]"
