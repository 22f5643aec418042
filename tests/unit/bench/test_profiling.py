"""A sample belongs to the innermost frame that names a step; processor time is shared out whole."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.bench.engine import ROOT
from tests.bench.profiling.lines import profile_lines
from tests.bench.profiling.profile import ProfileRow, Spell, shared_out
from tests.bench.profiling.steps import FRAMES, OTHERS, PYTHON, ROWS, THREADS, counted

TASK = "[Executor task launch worker for task 0.0 in stage 0.0 (TID 0) tid=9]"
GENERATED = "org/apache/spark/sql/catalyst/expressions/GeneratedClass$GeneratedIterator.next"
JAVA = ROOT / "spark-apps" / "java"


@pytest.mark.parametrize(
    ("line", "step"),
    [
        (f"{TASK};{GENERATED};aldebaran/books/Ring.at;java/util/HashMap.get 3", "books: the rule"),
        (f"{TASK};aldebaran/books/Keeper.take;org/rocksdb/RocksDB.get;memcpy 3", "state store"),
        (f"{TASK};{GENERATED};aldebaran/events/Plain.read 3", "events from bytes"),
        (f"{TASK};java/lang/Thread.run 3", ROWS),
        (f"{TASK};org/apache/spark/sql/kafka010/KafkaDataWriter.writeAll;{GENERATED} 3", ROWS),
        ("[VM Thread tid=2];thread_native_entry;VMThread::run 3", "garbage collection"),
        ("[kafka-producer-network-thread tid=7];java/lang/Thread.run 3", "alerts to the broker"),
        ("[main tid=7];aldebaran/books/Ring.find 3", OTHERS),
    ],
)
def test_a_sample_belongs_to_its_innermost_step(line: str, step: str) -> None:
    assert counted([line, line]) == {step: 6}


def test_what_is_no_sample_is_refused() -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        counted(["[main tid=7];java/lang/Thread.run"])


def test_steps_of_ours_name_packages_that_exist() -> None:
    ours = [name for names in FRAMES.values() for name in names if name.startswith("aldebaran/")]
    assert {f"aldebaran/{each.name}/" for each in (JAVA / "aldebaran").iterdir()} - set(ours) == {
        "aldebaran/sql/"  # runs while a query is planned
    }
    assert [name for name in ours if not (JAVA / name).is_dir()] == []


@given(st.dictionaries(st.sampled_from([*FRAMES, *THREADS]), st.integers(1, 10**6), min_size=1))
def test_processor_time_is_shared_out_whole(samples: dict[str, int]) -> None:
    shared = shared_out(samples, 8.0)
    assert sum(shared.values()) == pytest.approx(8.0, abs=0.001 * len(samples))
    assert list(shared.values()) == sorted(shared.values(), reverse=True)


def test_the_rest_of_an_auditors_time_is_pythons() -> None:
    spell = Spell(1_000_000, Counter({ROWS: 3, OTHERS: 1}), java_seconds=4.0, whole_seconds=4.5)
    assert spell.steps() == {ROWS: 3.0, OTHERS: 1.0, PYTHON: 0.5}


@pytest.mark.parametrize("spell", [Spell(9, Counter(), 1.0, 1.0), Spell(0, Counter("x"), 1.0, 1.0)])
def test_a_backlog_that_is_over_too_soon_is_told(spell: Spell) -> None:
    with pytest.raises(RuntimeError, match="larger --backlog"):
        spell.steps()


def test_a_profile_shows_every_step_of_every_visit() -> None:
    first = ProfileRow("over-purchase", 100, 7, 4.0, {"books: the rule": 3.5}, True, 1.0, 0)
    second = ProfileRow("over-purchase", 100, 8, 4.5, {ROWS: 0.5}, False, 1.0, 1)
    text = "\n".join(profile_lines([first, second]))
    for said in (
        "| step | over-purchase (0) | over-purchase (1) |",
        "| books: the rule | 3.50 | 0.00 |",
        f"| {ROWS} | 0.00 | 0.50 |",
        "| **all** | 4.00 | 4.50 |",
        "| right | yes | **no** |",
    ):
        assert said in text
