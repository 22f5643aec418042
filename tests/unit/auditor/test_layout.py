"""A book's bytes lie in the sequence of its columns, by its stream's key: both tell its version."""

import errno
import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from auditor.changes.opening import opening
from auditor.checkpoints.checkpoint import ASIDE, Checkpoint, Fingerprint, fingerprint
from auditor.checkpoints.spacing import words
from auditor.fleet import Running
from auditor.job import Scene
from auditor.queries.current import keep, read_current
from auditor.queries.declared import Declarations, Declared
from auditor.settings import AuditorSettings
from auditor.watching import open_fleet, read_opening
from services.backbone.clock import ManualClock
from services.backbone.errors import Refused, Transient
from services.contracts.watches import SHIPPED_WATCHES, WatchDeclaration
from tests.unit.auditor.batches import STREAMS, WATCHES
from tests.unit.auditor.failing import BY_A_PERSON, PASSING, fail
from tests.unit.declarations import copied

WATCH, WITHOUT_BOOK = WATCHES["over-purchase"], WATCHES["unusual-volume"]
WANTED = fingerprint(WATCH, STREAMS, 2)
EARLIER = replace(WANTED, book="", white_space="")
"""What the same watch was before the sequence of its columns counted, and its white space."""
KEYED_ELSE = {"trades": STREAMS["trades"].model_copy(update={"key": "client"})}
STORE = "s3a://bucket/a/w"
NOW_MS = 1_700_000_000_000


def swapped(watch: WatchDeclaration) -> WatchDeclaration:
    """Declare two columns of one type in the other sequence."""
    assert watch.book is not None
    names = list(watch.book.events)
    one, other = names.index("requested"), names.index("purchased")
    names[one], names[other] = names[other], names[one]
    events = {name: watch.book.events[name] for name in names}
    return watch.model_copy(update={"book": watch.book.model_copy(update={"events": events})})


def declared(watch: WatchDeclaration) -> Declared:
    return Declared(watch, STREAMS)


def test_the_sequence_of_a_books_columns_is_another_version() -> None:
    other = fingerprint(swapped(WATCH), STREAMS, 2)
    assert swapped(WATCH) == WATCH
    assert WANTED.differences(other) == ["book"]
    assert WANTED.id != other.id


def test_the_streams_key_is_another_version_of_a_book_and_of_nothing_else() -> None:
    assert WANTED.differences(fingerprint(WATCH, KEYED_ELSE, 2)) == ["book"]
    assert WANTED.id != fingerprint(WATCH, KEYED_ELSE, 2).id
    assert fingerprint(WITHOUT_BOOK, STREAMS, 2) == fingerprint(WITHOUT_BOOK, KEYED_ELSE, 2)


def test_a_watch_without_a_book_keeps_its_folder_of_earlier_releases() -> None:
    assert Fingerprint(1, "sql", "arguments", "streams", "10 minutes", 2).id == "b7ab1b886047"
    assert fingerprint(WITHOUT_BOOK, STREAMS, 2).book == ""


def test_the_whole_declaration_has_a_sequence_too() -> None:
    one, other = declared(WATCH).face(2), declared(swapped(WATCH)).face(2)
    assert one.whole != other.whole
    assert one.state != other.state


def test_the_sequence_is_kept_with_what_runs(tmp_path: Path) -> None:
    for number, watch in enumerate((WATCH, swapped(WATCH))):
        keep(tmp_path / str(number), declared(watch))
        kept = read_current(tmp_path / str(number))
        assert kept is not None
        assert kept.face(2) == declared(watch).face(2)


def written_before(home: Path, was: Fingerprint = EARLIER, store: bool = False) -> Path:
    """A checkpoint as releases wrote it before the sequence counted."""
    folder = home / was.id
    (folder / "spark").mkdir(parents=True)
    (folder / "spark" / "metadata").write_text("kept")
    (folder / "watch.json").write_text(json.dumps(without_book(was)))
    if store:
        (folder / "store.json").write_text(json.dumps({"since_ms": 7}))
    return folder


def without_book(was: Fingerprint) -> dict[str, object]:
    later = ("book", "white_space")
    return {name: part for name, part in asdict(was).items() if name not in later}


def test_a_note_of_before_is_understood(tmp_path: Path) -> None:
    wanted = fingerprint(WITHOUT_BOOK, STREAMS, 2)
    folder = written_before(tmp_path, wanted)
    Checkpoint("w", tmp_path, wanted).claim(NOW_MS)
    assert (folder / "spark" / "metadata").read_text() == "kept"
    assert not (tmp_path / ASIDE).exists()


def test_a_book_that_ran_before_goes_on_under_its_new_name(tmp_path: Path) -> None:
    before = written_before(tmp_path)
    checkpoint = Checkpoint("w", tmp_path, WANTED)
    for _ in range(2):
        checkpoint.take_over()
        checkpoint.claim(NOW_MS)
        assert (checkpoint.spark / "metadata").read_text() == "kept"
    assert (before / "watch.json").is_file()
    assert before.resolve() == checkpoint.folder
    assert not (tmp_path / ASIDE).exists()


def test_a_version_of_before_its_white_space_counted_goes_on(tmp_path: Path) -> None:
    before = written_before(tmp_path, replace(WANTED, white_space=""))
    (before / "watch.json").write_text(json.dumps(without_book(WANTED) | {"book": WANTED.book}))
    checkpoint = Checkpoint("w", tmp_path, WANTED)
    checkpoint.take_over()
    checkpoint.claim(NOW_MS)
    assert (checkpoint.spark / "metadata").read_text() == "kept"
    assert before.resolve() == checkpoint.folder


def test_programs_of_every_release_before_find_it_under_their_name(tmp_path: Path) -> None:
    """It had one name until 27 November 2026, another one until 29 November, and now a third."""
    between = written_before(tmp_path, replace(WANTED, white_space=""))
    (between / "watch.json").write_text(json.dumps(without_book(WANTED) | {"book": WANTED.book}))
    checkpoint = Checkpoint("w", tmp_path, WANTED)
    checkpoint.take_over()
    for name in (EARLIER.id, between.name):
        assert (tmp_path / name).resolve() == checkpoint.folder
        assert (tmp_path / name / "spark" / "metadata").read_text() == "kept"


def test_a_name_for_older_programs_gives_way_to_a_rule_of_that_name(tmp_path: Path) -> None:
    written_before(tmp_path)
    renamed = Checkpoint("w", tmp_path, WANTED)
    renamed.take_over()
    other = Checkpoint("w", tmp_path, EARLIER)
    other.claim(NOW_MS)
    assert json.loads((other.folder / "watch.json").read_text()) == asdict(EARLIER)
    assert not other.spark.exists()
    assert (renamed.spark / "metadata").read_text() == "kept"
    assert not (tmp_path / ASIDE).exists()


def test_a_disk_without_links_loses_nothing_but_the_way_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = written_before(tmp_path)
    fail(monkeypatch, "symlink_to", before.name, errno.EPERM)
    checkpoint = Checkpoint("w", tmp_path, WANTED)
    checkpoint.take_over()
    checkpoint.claim(NOW_MS)
    assert (checkpoint.spark / "metadata").read_text() == "kept"
    assert not before.is_symlink()


def test_its_part_in_a_store_stays_where_it_is(tmp_path: Path) -> None:
    written_before(tmp_path, store=True)
    checkpoint = Checkpoint("w", tmp_path, WANTED, STORE)
    checkpoint.take_over()
    checkpoint.claim(NOW_MS)
    assert checkpoint.location() == f"{STORE}/{EARLIER.id}/7"
    checkpoint.set_aside("broken", NOW_MS)
    checkpoint.claim(NOW_MS + 1)
    assert checkpoint.location() == f"{STORE}/{WANTED.id}/{NOW_MS + 1}"


@pytest.mark.parametrize("number", [*PASSING, *BY_A_PERSON])
def test_what_was_cut_short_is_done_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    written_before(tmp_path, store=True)
    checkpoint = Checkpoint("w", tmp_path, WANTED, STORE)
    with monkeypatch.context() as patched:
        fail(patched, "rename", EARLIER.id, number)
        with pytest.raises(Refused if number in BY_A_PERSON else Transient):
            checkpoint.take_over()
    checkpoint.take_over()
    checkpoint.claim(NOW_MS)
    assert (checkpoint.spark / "metadata").read_text() == "kept"
    assert checkpoint.location() == f"{STORE}/{EARLIER.id}/7"


def test_another_querys_folder_is_not_taken_over(tmp_path: Path) -> None:
    before = written_before(tmp_path)
    (before / "watch.json").write_text(json.dumps(without_book(EARLIER) | {"sql": "other"}))
    Checkpoint("w", tmp_path, WANTED).take_over()
    assert before.exists()


def test_a_folder_of_this_release_under_that_name_is_another_rules(tmp_path: Path) -> None:
    """On one line its comment takes all that follows, so its words alone tell its version."""
    text = f"{WITHOUT_BOOK.sql} -- why\nAND 1 = 1"
    one_line = WITHOUT_BOOK.model_copy(update={"sql": words(text)})
    other = fingerprint(one_line, STREAMS, 2)
    wanted = fingerprint(WITHOUT_BOOK.model_copy(update={"sql": text}), STREAMS, 2)
    assert replace(wanted, white_space="") == other != wanted
    of_other = Checkpoint("w", tmp_path, other)
    of_other.claim(NOW_MS)
    of_other.spark.mkdir()
    checkpoint = Checkpoint("w", tmp_path, wanted)
    checkpoint.take_over()
    checkpoint.claim(NOW_MS)
    assert of_other.spark.is_dir()
    assert not checkpoint.spark.exists()


class Upgraded:
    """An auditor of today over what an earlier release kept."""

    def __init__(self, folder: Path, ran: WatchDeclaration) -> None:
        self.streams, self.watches = copied(folder, SHIPPED_WATCHES)
        self.settings = AuditorSettings(
            auditor_streams=self.streams,
            auditor_watches=self.watches,
            auditor_checkpoints=folder / "kept",
            auditor_shuffle_partitions=2,
        )
        self.home = self.settings.checkpoints_here() / ran.watch
        written_before(self.home)
        keep(self.home, declared(ran))

    def opens(self) -> WatchDeclaration:
        """Return what runs first under the name of the watch that ran."""
        scene = Scene(None, self.settings, ManualClock())  # type: ignore[arg-type] # no Spark
        opened = read_opening(self.settings)
        open_fleet(scene, _refuse, opened)
        return opened.first[WATCH.watch].watch


def _refuse(*_: object) -> Running:
    raise Refused("not here")


def test_an_unchanged_watch_is_not_built_again_by_the_upgrade(tmp_path: Path) -> None:
    upgraded = Upgraded(tmp_path, WATCH)
    upgraded.opens()
    assert (upgraded.home / WANTED.id / "spark" / "metadata").read_text() == "kept"


def test_a_book_goes_on_in_the_sequence_in_which_it_was_written(tmp_path: Path) -> None:
    upgraded = Upgraded(tmp_path, swapped(WATCH))
    opened = upgraded.opens()
    assert list(opened.book.events) == list(swapped(WATCH).book.events)  # type: ignore[union-attr] # both have one
    other = fingerprint(swapped(WATCH), STREAMS, 2)
    assert (upgraded.home / other.id / "spark" / "metadata").read_text() == "kept"
    assert not (upgraded.home / WANTED.id).exists()


def test_a_swapped_book_starts_as_it_was() -> None:
    declarations = Declarations("", {WATCH.watch: declared(swapped(WATCH))}, {})
    first = opening(declarations, {WATCH.watch: declared(WATCH)}, 2)
    assert first[WATCH.watch].face(2) == declared(WATCH).face(2)
