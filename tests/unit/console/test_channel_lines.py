"""How each channel stands: what no deliverer tells is not known, and looks like nothing else."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from services.backbone.ledger.answers.overview import AtLeast, ChannelState, Overview
from services.backbone.ledger.deliveries.pauses import Pause
from services.console.now import COLUMNS, POINTS_LIMIT, Now, channel_lines
from services.console.parts.figures import figures
from services.console.people.roles import NOBODY
from services.console.rendering import render
from services.console.shown import NOTHING
from services.contracts.states import State

CHANNELS = st.sampled_from(("email", "sms", "push"))
TOLD = st.dictionaries(CHANNELS, st.sampled_from((0.0, 3.0, 90.0)))
PAUSE = Pause("email", "ann", "the relay is moved", datetime(2026, 11, 21, tzinfo=UTC))


def seen(
    overdue: Mapping[str, float], breakers: Mapping[str, float], counted: frozenset[str]
) -> Now:
    states = [ChannelState(each, State.PENDING, 1, 10) for each in sorted(counted)]
    overview = Overview({}, states, [], 0, AtLeast([], [], failed=False))
    return Now(0, overview, figures=replace(figures({}), overdue=overdue, breakers=breakers))


def channels_page(now: Now, known: tuple[str, ...] = (), *pauses: Pause) -> str:
    stopped = {each.channel: each for each in pauses}
    return render(
        "channels.html", title="Channels", here="channels", said="", may=lambda _: False,
        person=NOBODY, lines=channel_lines(now, {*known, *stopped}), stopped=stopped,
    )  # fmt: skip


def first_page(now: Now) -> str:
    lines = channel_lines(now)
    return render("now_part.html", now=now, lines=lines, columns=COLUMNS, slots=POINTS_LIMIT)


@given(TOLD, TOLD, st.frozensets(CHANNELS), st.frozensets(CHANNELS))
def test_a_figure_is_what_a_deliverer_tells_or_unknown(
    overdue: dict[str, float],
    breakers: dict[str, float],
    counted: frozenset[str],
    known: frozenset[str],
) -> None:
    lines = channel_lines(seen(overdue, breakers, counted), known)
    assert [each.channel for each in lines] == sorted({*overdue, *breakers, *counted, *known})
    for each in lines:
        assert each.overdue_seconds == overdue.get(each.channel)
        assert each.breakers_open == breakers.get(each.channel)
        assert each.is_heard == (each.channel in overdue or each.channel in breakers)


def test_a_channel_whose_deliverers_are_all_dead_does_not_run() -> None:
    now = seen({}, {}, frozenset({"email"}))
    page = channels_page(now)
    assert '<span class="mark ">not seen</span>' in page
    assert "no deliverer of it is heard" in page
    assert ">runs<" not in page
    row = first_page(now).partition('id="channel-email"')[2].partition("</tr>")[0]
    assert "closed" not in row
    assert row.count("<td") == len(COLUMNS) + 2
    assert row.count(f"{NOTHING}</td>") == 2


def test_the_page_of_channels_says_what_it_counts() -> None:
    page = channels_page(seen({}, {}, frozenset({"email"})))
    assert "open deliveries all, ended ones of what was recorded in the last hour" in page


def test_a_channel_that_is_heard_runs() -> None:
    now = seen({"email": 0.0}, {"email": 0.0}, frozenset())
    assert '<span class="mark ready">runs</span>' in channels_page(now)
    row = first_page(now).partition('id="channel-email"')[2].partition("</tr>")[0]
    assert '<td class="number zero">0</td>' in row
    assert '<span class="soft">closed</span>' in row
    assert NOTHING not in row


def test_open_breakers_and_what_is_long_due_stand_out() -> None:
    now = seen({"email": 90.0}, {"email": 2.0}, frozenset())
    page = channels_page(now)
    assert '<span class="mark trouble">breaker</span>' in page
    assert "longest due 2 min" in page
    row = first_page(now).partition('id="channel-email"')[2].partition("</tr>")[0]
    assert '<td class="number bad">2 min</td>' in row
    assert "2 open" in row


def test_a_stopped_channel_is_listed_though_nobody_is_heard() -> None:
    page = channels_page(seen({}, {}, frozenset()), ("sms",), PAUSE)
    assert '<span class="mark warning">stopped</span>' in page
    assert '<span class="mark ">not seen</span>' in page
    assert page.count("no deliverer of it is heard") == 2


def test_without_a_line_it_is_said_that_nobody_is_heard() -> None:
    now = seen({}, {}, frozenset())
    assert "No deliverer is heard, and the ledger has no delivery yet." in channels_page(now)
    assert "recorded in the last hour has ended, and no deliverer is heard" in first_page(now)
