"""Steps from what runs to what is declared, and what an auditor runs first."""

import errno
import fcntl
import os
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from auditor.changes.change import Change, Kind, changes
from auditor.changes.opening import opening
from auditor.changes.turn import Turn
from auditor.queries.current import all_current, forget, keep, read_current
from auditor.queries.declared import Declared, Face, read_declarations
from services.backbone.errors import Refused, Transient
from services.contracts.streams import SHIPPED_STREAMS
from services.contracts.watches import SHIPPED_WATCHES
from tests.unit.auditor.failing import BY_A_PERSON, PASSING, fail

FACES = st.dictionaries(
    st.sampled_from("abcd"), st.builds(Face, st.sampled_from("12"), st.sampled_from("xy"))
)


def follow(running: dict[str, Face], declared: dict[str, Face], gone: set[str]) -> dict[str, Face]:
    """Do every step, as a plain dictionary would."""
    after = dict(running)
    for step in changes(running, declared, gone):
        match step.kind:
            case Kind.STOP:
                del after[step.watch]
            case Kind.START:
                assert step.watch not in after
                after[step.watch] = declared[step.watch]
            case Kind.CONTINUE:
                assert after[step.watch].state == declared[step.watch].state
                after[step.watch] = declared[step.watch]
            case Kind.REPLACE:
                assert after[step.watch].state != declared[step.watch].state
                after[step.watch] = declared[step.watch]
    return after


@given(FACES, FACES)
def test_steps_lead_to_what_is_declared(
    running: dict[str, Face], declared: dict[str, Face]
) -> None:
    assert follow(running, declared, running.keys() - declared.keys()) == declared
    assert changes(declared, declared, ()) == []


@given(FACES, FACES)
def test_what_is_not_surely_gone_is_not_stopped(
    running: dict[str, Face], declared: dict[str, Face]
) -> None:
    assert follow(running, declared, set()) == running | declared


def test_slots_are_freed_before_they_are_needed() -> None:
    one, other = Face("1", "x"), Face("2", "x")
    steps = changes({"a": one, "c": one}, {"b": one, "c": other}, ["a"])
    assert steps == [Change(Kind.STOP, "a"), Change(Kind.START, "b"), Change(Kind.REPLACE, "c")]


@pytest.fixture
def watches(tmp_path: Path) -> Path:
    folder = tmp_path / "watches"
    folder.mkdir()
    for path in SHIPPED_WATCHES.glob("*.yaml"):
        (folder / path.name).write_text(path.read_text())
    return folder


def edit(folder: Path, before: str, after: str, name: str = "over-purchase.yaml") -> None:
    text = (folder / name).read_text()
    assert before in text
    (folder / name).write_text(text.replace(before, after))


def declared(folder: Path) -> dict[str, Declared]:
    return dict(read_declarations(SHIPPED_STREAMS, folder).watches)


def test_bad_file_is_told_with_its_line_and_spoils_no_other(watches: Path) -> None:
    edit(watches, "severity: critical", "severity: loud")
    declarations = read_declarations(SHIPPED_STREAMS, watches)
    assert set(declarations.watches) == {"unusual-volume"}
    assert "over-purchase.yaml, line " in declarations.problems["over-purchase.yaml"]


@pytest.mark.parametrize("copy", ["a-copy.yaml", "z-copy.yaml"])
def test_a_copy_of_the_same_name_takes_nothing_over(watches: Path, copy: str) -> None:
    text = (watches / "over-purchase.yaml").read_text()
    (watches / copy).write_text(text.replace("severity: critical", "severity: info"))
    declarations = read_declarations(SHIPPED_STREAMS, watches)
    assert set(declarations.watches) == {"unusual-volume"}
    assert set(declarations.problems) == {"over-purchase.yaml", copy}
    assert all(copy in said for said in declarations.problems.values())
    assert declarations.may_want("over-purchase")


def test_paused_watch_is_declared_but_not_wanted(watches: Path) -> None:
    edit(watches, "version: 1", "version: 1\npaused: true")
    declarations = read_declarations(SHIPPED_STREAMS, watches)
    assert set(declarations.watches) == {"over-purchase", "unusual-volume"}
    assert set(declarations.wanted()) == {"unusual-volume"}


def test_paused_watch_is_wanted_no_more_while_another_file_is_bad(watches: Path) -> None:
    edit(watches, "version: 1", "version: 1\npaused: true")
    edit(watches, "severity: warning", "severity: loud", "unusual-volume.yaml")
    declarations = read_declarations(SHIPPED_STREAMS, watches)
    assert not declarations.may_want("over-purchase")
    assert declarations.may_want("unusual-volume")


def test_texts_change_the_face_and_not_the_state(watches: Path) -> None:
    before = declared(watches)["over-purchase"].face(2)
    edit(watches, "severity: critical", "severity: warning")
    texts = declared(watches)["over-purchase"].face(2)
    edit(watches, "limit: 24 hours", "limit: 25 hours")
    rule = declared(watches)["over-purchase"].face(2)
    assert before.state == texts.state
    assert before.whole != texts.whole
    assert texts.state != rule.state


def test_last_good_declaration_is_kept_whole(watches: Path, tmp_path: Path) -> None:
    for name, one in declared(watches).items():
        keep(tmp_path / "a" / name, one)
    assert all_current(tmp_path / "a") == declared(watches)
    forget(tmp_path / "a" / "over-purchase")
    forget(tmp_path / "a" / "over-purchase")
    assert set(all_current(tmp_path / "a")) == {"unusual-volume"}
    (tmp_path / "a" / "unusual-volume" / "current.json").write_text("{")
    assert read_current(tmp_path / "a" / "unusual-volume") is None


def test_a_note_that_cannot_be_removed_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "current.json").mkdir()
    forget(tmp_path)


@pytest.mark.parametrize("what", ["note", "folder"])
@pytest.mark.parametrize(
    ("number", "expected"),
    [*((each, Transient) for each in PASSING), *((each, Refused) for each in BY_A_PERSON)],
)
def test_what_cannot_be_read_is_not_taken_for_never_having_run(
    watches: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    what: str,
    number: int,
    expected: type[Exception],
) -> None:
    here = tmp_path / "a"
    keep(here / "over-purchase", declared(watches)["over-purchase"])

    def failing(*_: object) -> Any:
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        if what == "note":
            fail(patch, "read_bytes", "current.json", number)
        for name in ("listdir", "scandir") if what == "folder" else ():
            patch.setattr(os, name, failing)
        with pytest.raises(expected, match=re.escape(str(here))):
            all_current(here)


def test_only_folders_are_watches_that_ran(watches: Path, tmp_path: Path) -> None:
    keep(tmp_path / "a" / "over-purchase", declared(watches)["over-purchase"])
    (tmp_path / "a" / "note").write_text("no folder of a watch")
    assert set(all_current(tmp_path / "a")) == {"over-purchase"}
    assert all_current(tmp_path / "b") == {}


def test_changed_rule_starts_as_it_was(watches: Path) -> None:
    last = declared(watches)
    edit(watches, "limit: 24 hours", "limit: 25 hours")
    edit(watches, "severity: warning", "severity: info", "unusual-volume.yaml")
    declarations = read_declarations(SHIPPED_STREAMS, watches)
    first = opening(declarations, last, 2)
    assert first == {
        "over-purchase": last["over-purchase"],
        "unusual-volume": declarations.watches["unusual-volume"],
    }
    assert opening(declarations, {}, 2) == declarations.watches


def test_bad_file_starts_as_it_was_or_not_at_all(watches: Path) -> None:
    last = declared(watches)
    edit(watches, "severity: critical", "severity: loud")
    declarations = read_declarations(SHIPPED_STREAMS, watches)
    assert opening(declarations, last, 2) == last
    with pytest.raises(Refused, match=r"over-purchase\.yaml, line "):
        opening(declarations, {}, 2)


def test_a_watch_that_was_renamed_to_what_nobody_reads_goes_on_and_is_told(watches: Path) -> None:
    last = declared(watches)
    (watches / "over-purchase.yaml").rename(watches / "over-purchase.yml")
    declarations = read_declarations(SHIPPED_STREAMS, watches)
    said = "over-purchase.yml: only *.yaml files are read: rename it"
    assert declarations.problems == {"over-purchase.yml": said}
    assert declarations.may_want("over-purchase")
    assert opening(declarations, last, 2) == last


def test_a_file_that_nobody_reads_stops_no_first_start(watches: Path) -> None:
    (watches / "notes.yml").write_text("nothing of ours")
    declarations = read_declarations(SHIPPED_STREAMS, watches)
    assert set(opening(declarations, {}, 2)) == {"over-purchase", "unusual-volume"}


def test_a_folder_of_files_that_nobody_reads_is_refused(tmp_path: Path) -> None:
    (tmp_path / "cpu-high.yml").write_text("watch: cpu-high")
    with pytest.raises(Refused, match=r"has no \*\.yaml file; cpu-high\.yml: only \*\.yaml files"):
        read_declarations(SHIPPED_STREAMS, tmp_path)


def test_removed_or_paused_watch_does_not_start(watches: Path) -> None:
    last = declared(watches)
    edit(watches, "version: 1", "version: 1\npaused: true")
    assert set(opening(read_declarations(SHIPPED_STREAMS, watches), last, 2)) == {"unusual-volume"}
    (watches / "over-purchase.yaml").unlink()
    assert set(opening(read_declarations(SHIPPED_STREAMS, watches), last, 2)) == {"unusual-volume"}


def test_one_turn_at_a_time(tmp_path: Path) -> None:
    one, other = Turn(tmp_path / "new"), Turn(tmp_path / "new")
    assert one.take()
    assert one.take()
    assert not other.take()
    one.give_back()
    one.give_back()
    assert other.take()
    assert not one.take()
    other.give_back()


def test_a_lock_that_smb_does_not_permit_is_the_others_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def held(*_: object) -> None:
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(fcntl, "flock", held)
    assert not Turn(tmp_path).take()


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.EOPNOTSUPP])
def test_a_folder_that_knows_no_locks_is_told_and_not_taken_for_the_others_turn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def failing(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    turn = Turn(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(fcntl, "flock", failing)
        with pytest.raises(Transient, match=rf"turn\.lock: .*{os.strerror(number)}"):
            turn.take()
    assert not turn.held
    assert turn.take()
    turn.give_back()
