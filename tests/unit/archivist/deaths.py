"""Kills what files a batch, at each of its steps."""

from collections.abc import Callable
from typing import Any

import pytest

from archivist import shelving
from engine import folders


class KilledError(Exception):
    """Stands for a kill -9."""


class Death:
    """Kills at a step, before or after it was taken; all steps after that are free."""

    def __init__(self, step: int) -> None:
        self.step = step
        self.steps = 0

    def around(self, taken: Callable[..., Any]) -> Callable[..., Any]:
        def step(*arguments: Any) -> Any:
            self._pass()
            result = taken(*arguments)
            self._pass()
            return result

        return step

    def _pass(self) -> None:
        self.steps += 1
        if self.steps == self.step:
            raise KilledError


def dying_at(step: int, patch: pytest.MonkeyPatch) -> Death:
    """Let a batch's way to its folders end at this step."""
    death = Death(step)
    for module, name in (
        *((shelving, one) for one in ("write_in", "move_files", "remove")),
        *((folders, one) for one in ("move_file", "remove")),
    ):
        patch.setattr(module, name, death.around(getattr(module, name)))
    return death
