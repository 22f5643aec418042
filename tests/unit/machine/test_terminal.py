from services.contracts.ids import digest
from services.contracts.records import Alert, DeliveryEvent, Severity
from services.contracts.states import State
from services.contracts.topics import ALERTS, DELIVERY_EVENTS
from services.machine.terminal.__main__ import Shown
from services.machine.terminal.lines import LINE_LIMIT, alert_line, delivery_line

AT_MS = 1_767_268_984_250


def alert(number: int = 1, summary: str = "110 of 100 bought") -> Alert:
    return Alert(
        alert_id=digest("alert", str(number)),
        watch="over-purchase",
        severity=Severity.CRITICAL,
        summary=summary,
        key={"order_id": f"O-{number}"},
        appended_at_ms=AT_MS,
        detected_at_ms=AT_MS + 3,
        auditor="a",
    )


def moved(before: State | None, after: State, reason: str = "") -> DeliveryEvent:
    return DeliveryEvent(
        delivery_id=digest("delivery", "1"),
        alert_id=alert().alert_id,
        channel="email",
        recipient="desk@example.org",
        before=before,
        after=after,
        reason=reason,
        at_ms=AT_MS,
    )


def test_an_alert_is_one_line() -> None:
    shown = alert().alert_id[:8]
    assert alert_line(alert()) == (
        f"12:03:04  ALERT     {shown} critical over-purchase: 110 of 100 bought [3 ms]"
    )


def test_a_move_of_a_delivery_is_one_line() -> None:
    shown = alert().alert_id[:8]
    assert delivery_line(moved(State.CLAIMED, State.RETRY_WAIT, "refused: 451")) == (
        f"12:03:04  delivery  {shown} email to desk@example.org:"
        " CLAIMED -> RETRY_WAIT (refused: 451)"
    )
    assert delivery_line(moved(None, State.PENDING)).endswith("example.org: PENDING")


def test_what_came_from_outside_cannot_steer_or_flood_the_terminal() -> None:
    line = alert_line(alert(summary="\x1b[2J\n\r" + "x" * 4000))
    assert line.isprintable()
    assert len(line) <= LINE_LIMIT + len("12:03:04  ")
    assert line.endswith("...")


def test_an_alert_is_shown_once_and_an_outcome_each_time() -> None:
    shown = Shown()
    move = (DELIVERY_EVENTS, moved(State.CLAIMED, State.RETRY_WAIT).encode())
    records = [(ALERTS, alert(1).encode()), (ALERTS, alert(1).encode()), move, move]
    kinds = [line.split()[1] for line in shown.lines(records)]
    assert kinds == ["ALERT", "delivery", "delivery"]
    assert list(shown.lines([(ALERTS, alert(1).encode())])) == []


def test_a_delivery_that_goes_well_is_one_line() -> None:
    way = [moved(None, State.PENDING), moved(State.PENDING, State.CLAIMED)]
    way.append(moved(State.CLAIMED, State.SENT))
    records = [(DELIVERY_EVENTS, event.encode()) for event in way]
    assert [line.split()[-1] for line in Shown().lines(records)] == ["SENT"]


def test_only_so_many_alerts_are_remembered() -> None:
    shown = Shown(remembered=2)
    records = [(ALERTS, alert(number).encode()) for number in (1, 2, 3, 3, 1)]
    assert len(list(shown.lines(records))) == 4


def test_a_malformed_record_is_shown_as_such_and_stops_nothing() -> None:
    lines = list(Shown().lines([(ALERTS, b"{"), (ALERTS, alert().encode())]))
    assert lines[0].startswith("a record of alerts cannot be read: ")
    assert "ALERT" in lines[1]
