"""Tests of programs that keep to some processors."""

import pytest

from services.machine.supervision.cores import cores_here

needs_choice = pytest.mark.skipif(
    not cores_here(), reason="here no program can choose its processors (Linux lets it)"
)
