"""What the first page shows of a moment."""

from services.backbone.kafka.lag import Lag
from services.backbone.ledger.answers.overview import AtLeast, ChannelState, Overview
from services.console.lagging import Lags
from services.console.now import COLUMNS, POINTS_LIMIT, Now, channel_lines
from services.console.parts.figures import figures
from services.console.rendering import render
from services.contracts.records import Severity
from services.contracts.states import State


def shown(overview: Overview | None, **refused: float) -> str:
    now = Now(0, overview, figures=figures({}, refused))
    terms = {"lines": channel_lines(now), "columns": COLUMNS, "slots": POINTS_LIMIT}
    return render("now_part.html", now=now, **terms)


def test_a_count_that_stopped_at_its_limit_has_a_plus() -> None:
    held = [ChannelState("email", State.HELD, 40, 5000), ChannelState("sms", State.SENT, 7, 0)]
    cut = AtLeast([Severity.CRITICAL], [State.HELD], failed=True)
    page = shown(Overview({"critical": 1000, "info": 3}, held, [], 900, cut))
    assert '<a class="summary" href="/alerts?open=1">1003+</a> <small>1000+ critical' in page
    assert "not acknowledged; the list has older ones too" in page
    assert '<a class="summary" href="/todo">40+</a>' in page
    assert "900+</a>" in page
    assert '<td class="number bad">40+ <small>5.0 s</small></td>' in page
    assert '<td class="number zero">0+</td>' in page
    assert '<td class="number">7</td>' in page


def test_a_whole_count_has_none() -> None:
    page = shown(Overview({"info": 3}, [], [], 9, AtLeast([], [], failed=False)))
    assert "3</a> <small>0 critical" in page
    assert "9</a>" in page
    assert "+</a>" not in page


def test_the_lag_of_a_topic_made_again_is_marked() -> None:
    lags = Lags((Lag("lookout", "alerts", 4, has_members=True, made_again=True),), at_ms=1)
    terms = {"columns": COLUMNS, "slots": POINTS_LIMIT}
    now = Now(0, None, figures=figures({}, {}), lags=lags)
    page = render("now_part.html", now=now, lines=channel_lines(now), **terms)
    assert '<span class="mark warning">topic made again</span>' in page
    assert "made again" not in shown(None)


def test_what_was_refused_leads_to_the_stream_of_most_of_it() -> None:
    page = shown(None, halls=2.0, trades=50.0, calm=0.0)
    assert '<div class="tile warn" id="tile-refused">' in page
    assert '<a class="summary" href="/streams/trades/rejected">52</a>' in page
    assert "of <bdi>trades</bdi> and 1 more" in page


def test_where_nothing_was_refused_nothing_warns() -> None:
    page = shown(None, calm=0.0)
    assert '<div class="tile" id="tile-refused">' in page
    assert '<p class="figure">0</p>' in page
    assert "none was seen" in page
    assert "no event is seen" in shown(None)


def test_the_table_of_deliveries_says_what_it_counts() -> None:
    """They are counted by when they were recorded: many end hours later."""
    page = shown(Overview({}, [], [], 0, AtLeast([], [], failed=False)))
    assert "open ones all, ended ones of what was recorded in the last hour" in page
