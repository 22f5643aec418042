"""Counts per id, before and after a restart; dials as JSON."""

import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.simulator.inbox.dials import turned, untouched
from services.simulator.inbox.faults import Verdict
from services.simulator.inbox.received import Arrival, Received, WayCounts
from tests.unit.simulator.inbox.disks import full_after


def arrival(way: str, delivery_id: str, verdict: Verdict) -> Arrival:
    return Arrival(way=way, delivery_id=delivery_id, verdict=verdict, at_ms=1)


ARRIVALS = st.builds(
    arrival, st.sampled_from(["mail", "hook"]), st.sampled_from("abc"), st.sampled_from(Verdict)
)


@given(st.lists(ARRIVALS, max_size=40), st.integers(0, 40))
def test_counts_survive_a_restart_at_any_point(arrivals: list[Arrival], restart: int) -> None:
    with TemporaryDirectory() as folder:
        journal = Path(folder) / "received.jsonl"
        for part in (arrivals[:restart], arrivals[restart:]):
            received = Received(journal, ["mail", "hook"])
            received.open()
            for each in part:
                received.add(each)
            received.close()
        counts = received.counts()
        for way in counts:
            mine = [each for each in arrivals if each.way == way]
            kept = Counter(each.delivery_id for each in mine if each.verdict != Verdict.REFUSED)
            assert counts[way].ids == dict(kept)
            assert counts[way].repeats == {key: n for key, n in kept.items() if n > 1}
            assert counts[way].accepted + counts[way].dropped == kept.total()
            assert counts[way].refused == len(mine) - kept.total()


def test_a_half_written_last_line_was_never_answered_and_does_not_count(tmp_path: Path) -> None:
    journal = tmp_path / "received.jsonl"
    received = Received(journal, ["mail", "hook"])
    received.open()
    received.add(arrival("mail", "a", Verdict.ACCEPTED))
    received.close()
    whole = journal.read_bytes()
    journal.write_bytes(whole + whole[:-5])
    again = Received(journal, ["mail", "hook"])
    again.open()
    assert again.counts()["mail"].ids == {"a": 1}
    again.close()
    assert journal.read_bytes() == whole


@given(st.lists(st.tuples(ARRIVALS, st.none() | st.integers(0, 120)), max_size=10))
def test_what_a_full_disk_takes_a_part_of_does_not_count_also_after_a_restart(
    tried: list[tuple[Arrival, int | None]],
) -> None:
    """The disk has so many bytes left at each try; a line has almost a hundred."""
    model = Counter[str]()
    with TemporaryDirectory() as folder:
        journal = Path(folder) / "received.jsonl"
        received = Received(journal, ["mail", "hook"], 400)
        received.open()
        for each, room in tried:
            size = sys.maxsize if room is None else journal.stat().st_size + room
            with suppress(OSError), full_after(size):
                received.add(each)
                model[each.verdict] += 1
        told = received.counts()
        received.close()
        again = Received(journal, ["mail", "hook"], 400)
        again.open()
        again.close()
        assert Counter({verdict: total(told, verdict) for verdict in Verdict}) == model
        assert again.counts() == told


def total(counts: dict[str, WayCounts], verdict: Verdict) -> int:
    kept: int = sum(getattr(way, verdict.value) for way in counts.values())
    return kept


def test_a_full_journal_that_cannot_be_followed_stays_in_use(tmp_path: Path) -> None:
    journal = tmp_path / "received.jsonl"
    received = Received(journal, ["mail"], 1)
    received.open()
    received.add(arrival("mail", "a", Verdict.ACCEPTED))
    barred = tmp_path / "received.jsonl.new"
    barred.mkdir()
    with pytest.raises(OSError, match=r"received\.jsonl\.new"):
        received.add(arrival("mail", "b", Verdict.ACCEPTED))
    barred.rmdir()
    received.add(arrival("mail", "b", Verdict.ACCEPTED))
    received.close()
    assert received.counts()["mail"].ids == {"a": 1, "b": 1}


def test_the_newest_are_kept_and_counted_again_after_a_restart(tmp_path: Path) -> None:
    journal, line = tmp_path / "received.jsonl", arrival("mail", "0", Verdict.ACCEPTED)
    limit = 3 * (len(line.model_dump_json()) + 1)
    received = Received(journal, ["mail"], limit)
    received.open()
    for number in range(8):
        received.add(arrival("mail", str(number), Verdict.ACCEPTED))
    received.close()
    assert len(received.counts()["mail"].ids) == 8
    assert sum(each.stat().st_size for each in tmp_path.iterdir()) <= 2 * limit
    again = Received(journal, ["mail"], limit)
    again.open()
    again.close()
    assert again.counts()["mail"].ids == dict.fromkeys("34567", 1)


def test_dials_are_turned_one_by_one() -> None:
    dials = turned(untouched(), {"hook": {"refuse_share": 1, "refuse_status": 429}})
    dials = turned(dials, {"hook": {"retry_after_seconds": 2}, "mail": {"delay_seconds": 1}})
    hook, mail = dials["hook"], dials["mail"]
    assert (hook.refuse_share, hook.refuse_status) == (1, 429)
    assert hook.retry_after_seconds == 2
    assert (mail.delay_seconds, mail.refuse_status) == (1, 451)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", "unexpected end"),
        (b"[]", "JSON object"),
        (b'{"fax": {}}', "fax"),
        (b'{"mail": {"colour": 1}}', "mail.colour"),
        (b'{"mail": {"refuse_share": 2}}', "mail.refuse_share"),
        (b'{"mail": 1}', "mail"),
    ],
)
def test_a_bad_dial_is_named(body: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        turned(untouched(), orjson.loads(body))
