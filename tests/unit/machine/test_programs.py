import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.machine.supervision.programs import Program, check_plan, stop_levels


def program(name: str, *after: str) -> Program:
    return Program(name, ("true",), after=after)


@st.composite
def plans(draw: st.DrawFn) -> tuple[Program, ...]:
    names = [f"p{number}" for number in range(draw(st.integers(0, 8)))]
    return tuple(
        program(name, *draw(st.lists(st.sampled_from(names[:index]), unique=True)))
        if index
        else program(name)
        for index, name in enumerate(names)
    )


@given(plans())
def test_every_program_stops_once_and_before_all_it_needs(plan: tuple[Program, ...]) -> None:
    check_plan(plan)
    levels = stop_levels(plan)
    position = {name: number for number, level in enumerate(levels) for name in level}
    assert sorted(position) == sorted(each.name for each in plan)
    assert sum(len(level) for level in levels) == len(plan)
    for each in plan:
        assert all(position[each.name] < position[needed] for needed in each.after)


def test_a_name_stands_once() -> None:
    with pytest.raises(ValueError, match="two programs are named a"):
        check_plan((program("a"), program("a")))


def test_a_program_waits_only_for_earlier_ones() -> None:
    with pytest.raises(ValueError, match="a waits for"):
        check_plan((program("a", "b"), program("b")))
