"""What was refused in the last hour, of processes that come, go and stand behind one address."""

from prometheus_client import CollectorRegistry, Counter, generate_latest

from services.console.parts.looking import Look, Target
from services.console.parts.refusals import Refusals, refused
from services.console.parts.samples import Samples, samples
from services.console.watching import Memory

GATEWAY = Target("gateway", "http://gateway")
ONRAMP = Target("gateway-amqp", "http://amqp")
START_SECONDS = 1_700_000_000
HOUR = 3600
OLD = -2.0 * HOUR
"""When a process began to count, from the start of a test."""


def counted(target: Target, at: float, born: float = OLD, **counts: float) -> Look:
    """Return a look at a gateway that has refused so many events of each stream."""
    found: Samples = {}
    for stream, count in counts.items():
        for result in ("accepted", "rejected"):
            labels = (("result", result), ("stream", stream))
            found["aldebaran_gateway_events_total", labels] = count
            found["aldebaran_gateway_events_created", labels] = START_SECONDS + born
    return Look(target, at, {}, {}, found)


def away(target: Target, at: float) -> Look:
    return Look(target, at, {"answer": "its name leads to no address now"})


def kept(refusals: Refusals, *seen: Look) -> dict[str, float]:
    """Return what is told after a round of looks."""
    refusals.keep(seen, int((START_SECONDS + seen[0].at_seconds) * 1000))
    return dict(refusals.lately())


def test_what_was_refused_of_each_stream_is_told_for_an_hour() -> None:
    refusals = Refusals()
    assert kept(refusals, counted(GATEWAY, 0, s=7), counted(ONRAMP, 0)) == {"s": 0}
    seen = [counted(GATEWAY, 600, s=9), counted(ONRAMP, 600, born=2, t=4)]
    assert kept(refusals, *seen) == {"s": 2, "t": 4}
    seen = [counted(GATEWAY, 603, s=10), counted(ONRAMP, 603, born=2, t=4)]
    assert kept(refusals, *seen) == {"s": 3, "t": 4}
    seen = [counted(GATEWAY, 4201, s=10), counted(ONRAMP, 4201, born=2, t=4)]
    assert kept(refusals, *seen) == {"s": 1, "t": 0}
    assert kept(refusals, counted(GATEWAY, 4204, s=10)) == {"s": 0, "t": 0}


def test_the_first_event_of_all_counts_where_it_was_refused() -> None:
    refusals = Refusals()
    assert kept(refusals, counted(GATEWAY, 0)) == {}
    assert kept(refusals, counted(GATEWAY, 2, born=1, s=1)) == {"s": 1}


def test_what_a_new_process_refused_before_the_first_look_counts_whole() -> None:
    refusals = Refusals()
    assert kept(refusals, away(ONRAMP, 0)) == {}
    assert kept(refusals, counted(ONRAMP, 30, born=20, s=64)) == {"s": 64}
    assert kept(refusals, counted(ONRAMP, 32, born=20, s=64)) == {"s": 64}
    # The console is new, its gateway is not.
    assert kept(Refusals(), counted(GATEWAY, HOUR, born=0, s=64)) == {"s": 64}
    assert kept(Refusals(), counted(GATEWAY, HOUR + 1, born=0, s=64)) == {"s": 0}


def test_two_processes_that_answer_in_turn_at_one_address_are_two_counters() -> None:
    refusals = Refusals()
    assert kept(refusals, counted(GATEWAY, 0, born=OLD, s=5)) == {"s": 0}
    assert kept(refusals, counted(GATEWAY, 2, born=OLD - 1, s=100)) == {"s": 0}
    assert kept(refusals, counted(GATEWAY, 4, born=OLD, s=5)) == {"s": 0}
    assert kept(refusals, counted(GATEWAY, 6, born=OLD - 1, s=103)) == {"s": 3}
    assert kept(refusals, counted(GATEWAY, 8, born=OLD, s=6)) == {"s": 4}


def test_what_is_refused_while_nobody_could_look_comes_with_the_next_answer() -> None:
    refusals = Refusals()
    kept(refusals, counted(GATEWAY, 0, s=5))
    assert kept(refusals, away(GATEWAY, 2)) == {"s": 0}
    assert kept(refusals, away(Target("gateway", "http://gateway-by-name"), 4)) == {"s": 0}
    assert kept(refusals, counted(GATEWAY, 6, s=8)) == {"s": 3}


def test_a_process_that_was_started_again_counts_from_zero() -> None:
    refusals = Refusals()
    kept(refusals, counted(GATEWAY, 0, s=5))
    assert kept(refusals, counted(GATEWAY, 2, born=1, s=7)) == {"s": 7}
    untold = START_SECONDS * -1.0
    kept(refusals, counted(ONRAMP, 4, born=untold, s=5))
    assert kept(refusals, counted(ONRAMP, 6, born=untold, s=1)) == {"s": 8}


def test_a_counter_that_was_not_met_for_an_hour_is_forgotten() -> None:
    refusals = Refusals()
    kept(refusals, counted(GATEWAY, 0, s=5))
    assert kept(refusals, away(GATEWAY, HOUR)) == {"s": 0}
    assert kept(refusals, away(GATEWAY, HOUR + 1)) == {}
    assert kept(refusals, counted(GATEWAY, HOUR + 2, s=50)) == {"s": 0}


def test_every_counter_tells_when_it_began() -> None:
    registry = CollectorRegistry()
    made = Counter("aldebaran_gateway_events_total", "-", ["stream", "result"], registry=registry)
    made.labels("s", "rejected").inc(3)
    found = samples(generate_latest(registry).decode())
    ((tally, count),) = refused(Look(GATEWAY, 0, {}, {}, found))
    assert (tally.target, tally.stream, count) == (GATEWAY, "s", 3)
    assert tally.born_seconds > START_SECONDS


def test_the_page_of_now_is_told_of_it() -> None:
    memory, now_ms = Memory(), START_SECONDS * 1000
    assert memory.keep([counted(GATEWAY, 0, s=7)], now_ms).refused == {"s": 0}
    assert memory.keep([counted(GATEWAY, 2, s=9)], now_ms).refused == {"s": 2}
