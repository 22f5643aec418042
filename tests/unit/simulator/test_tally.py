"""The tally with answers of all kinds."""

from services.simulator.dials import Shape
from services.simulator.history import Kind, Message, history
from services.simulator.report import Report, report_of
from services.simulator.tally import Outcome, Tally


def order(over: bool = True) -> list[Message]:
    return list(history(Shape(over_share=float(over)), "run", 1))


def settle(messages: list[Message], outcomes: list[Outcome]) -> Tally:
    tally = Tally(ids_limit=10)
    tally.start(messages)
    for message, outcome in zip(messages, outcomes, strict=True):
        tally.settle(message, outcome)
    tally.close()
    return tally


def test_a_rejected_purchase_does_not_count() -> None:
    messages = order()
    outcomes = [Outcome.ACCEPTED] * 4 + [Outcome.REJECTED]
    tally = settle(messages, outcomes)
    assert tally.expected_alerts == 0
    assert tally.doubtful_order_ids == []


def test_an_unknown_answer_makes_the_order_doubtful_unless_it_is_over_anyway() -> None:
    outcomes = [Outcome.ACCEPTED] * 4 + [Outcome.UNKNOWN]
    tally = settle(order(), outcomes)
    assert tally.doubtful_order_ids == ["run-0"]
    assert tally.expected_order_ids == []
    more = [*order(), Message(Kind.PURCHASE, "run-0", b"", 1, 6)]
    parts = [message._replace(parts=6) for message in more]
    over = settle(parts, [Outcome.ACCEPTED] * 5 + [Outcome.UNKNOWN])
    assert over.expected_order_ids == ["run-0"]
    assert over.doubtful_order_ids == []


def test_ids_are_bounded_and_counts_are_not() -> None:
    messages = list(history(Shape(over_share=1), "run", 30))
    tally = settle(messages, [Outcome.ACCEPTED] * len(messages))
    assert tally.expected_alerts == 30
    assert len(tally.expected_order_ids) == 10


def report(tally: Tally) -> Report:
    return report_of(
        tally,
        run_id="run",
        seed=1,
        target="gateway",
        watch="over-purchase",
        seconds=2.0,
        lag_max_seconds=0.01,
        retried=3,
    )


def test_the_report_splits_what_was_sent() -> None:
    messages = list(history(Shape(over_share=1, malformed=0.5, duplicates=0.5), "run", 30))
    made = report(settle(messages, [Outcome.ACCEPTED] * len(messages)))
    assert made.sent == made.requests + made.purchases + made.duplicates + made.malformed
    assert made.sent == made.accepted + made.rejected + made.unknown == len(messages)
    assert made.malformed_accepted == made.malformed > 0
    assert made.rate_per_second == len(messages) / 2
    assert len(made.expected_alert_ids) == len(made.expected_order_ids) == 10
    assert "must alert 30 orders: run-0, run-1, run-2, …" in made.text()
