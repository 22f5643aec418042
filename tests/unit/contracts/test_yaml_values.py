"""A key stands once in its mapping: a second one is refused with its line, by every reader."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from services.backbone.errors import Refused
from services.backbone.settings import EXIT_BAD_SETTINGS, Settings, read_settings
from services.backbone.settings_sources import settings_file
from services.backbone.web.keys import ApiKey, load_keys
from services.contracts.declarations import BadDeclaration
from services.contracts.streams import load_stream
from services.contracts.watches import load_watch
from services.contracts.yaml_values import GivenTwice, read_yaml
from services.gateway.amqp.bindings import load_bindings

Written = tuple[int, str]
"""How deep a line is, and the key on it."""

lines = st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc")), min_size=1, max_size=12)


def nested(drawn: Sequence[Written]) -> list[Written]:
    """Return the lines no deeper than the one above lets them be."""
    made: list[Written] = []
    for depth, key in drawn:
        made.append((min(depth, made[-1][0] + 1 if made else 0), key))
    return made


def told_twice(written: Sequence[Written]) -> set[str]:
    """Return what may be said of the lines: one for each key whose mapping has it already."""
    told, above, seen = set[str](), list[str](), set[tuple[str, ...]]()
    for number, (depth, key) in enumerate(written, start=1):
        above[depth:] = [f"{key}:{number}"]
        place = (*above[:depth], key)
        if place in seen:
            told.add(f"line {number}: {key} is given twice")
        seen.add(place)
    return told


@given(lines.map(nested))
def test_a_key_is_refused_just_where_its_mapping_has_it_already(written: list[Written]) -> None:
    text = "".join(f"{' ' * depth}{key}:\n" for depth, key in written)
    if told := told_twice(written):
        with pytest.raises(GivenTwice) as refused:
            read_yaml(text)
        assert str(refused.value) in told
    else:
        assert read_yaml(text) == yaml.safe_load(text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\n'a': 1\n", 2),
        ("- {a: 1, b: 2,\n   a: 1}\n", 2),
        ("x: &x {a: 1,\n  a: 2}\ny: *x\n", 2),
        ("x: &x {a: 1}\ny: {<<: *x, a: 2,\n  a: 3}\n", 3),
    ],
)
def test_a_key_is_the_same_however_it_is_written(text: str, line: int) -> None:
    with pytest.raises(GivenTwice, match=f"^line {line}: a is given twice$"):
        read_yaml(text)


@pytest.mark.parametrize(
    "text",
    [
        "x: &x {a: 1, b: 1}\ny: {<<: *x, a: 2}\n",
        "x: &x {a: 1}\ny: {a: 2, <<: *x}\n",
        "x: &x {a: 1}\ny: {z: {w: &w {<<: *x, a: 2}}}\nv: {<<: *w, a: 3}\n",
        "x: &x {a: 1}\ny: &y {a: 2}\nz: {<<: [*x, *y]}\n",
    ],
)
def test_a_mapping_may_overrule_what_it_takes_from_another(text: str) -> None:
    assert read_yaml(text) == yaml.safe_load(text)


READERS: dict[str, Callable[[Path], object]] = {
    "stream": load_stream,
    "watch": load_watch,
    "keys": lambda path: load_keys(path, ApiKey),
    "bindings": lambda path: load_bindings(path, {"trades"}),
    "settings": lambda path: settings_file({"ALDEBARAN_SETTINGS_FILE": str(path)}),
}


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_refuses_it_with_file_and_line(reader: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text("one: 1\ntwo: hunter2\none: hunter2\n")
    with pytest.raises((Refused, BadDeclaration)) as refused:
        READERS[reader](path)
    assert "mine.yaml" in str(refused.value)
    assert str(refused.value).endswith("line 3: one is given twice")


def test_a_program_does_not_start_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "settings.yaml"
    path.write_text("log_level: info\nlog_level: debug\n")
    monkeypatch.setenv("ALDEBARAN_SETTINGS_FILE", str(path))
    with pytest.raises(SystemExit) as stopped:
        read_settings(Settings)
    assert stopped.value.code == EXIT_BAD_SETTINGS
    assert "settings.yaml, line 2: log_level is given twice" in capsys.readouterr().err
