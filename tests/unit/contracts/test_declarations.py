"""How declarations are read, and what tells one state of their folder from another."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from services.contracts.declarations import BadDeclaration, digest_of
from services.contracts.watches import parse_watch


def test_digest_follows_every_byte_and_no_other_file(tmp_path: Path) -> None:
    before = digest_of(tmp_path)
    (tmp_path / "notes.txt").write_text("x")
    assert digest_of(tmp_path) == before
    (tmp_path / "limits.csv").write_text("a")
    with_rules = digest_of(tmp_path)
    (tmp_path / "limits.csv").write_text("b")
    assert len({before, with_rules, digest_of(tmp_path)}) == 3


def test_a_file_under_the_other_ending_is_seen_to_come_and_go(tmp_path: Path) -> None:
    before = digest_of(tmp_path)
    (tmp_path / "cpu-high.yml").write_text("watch: cpu-high")
    assert digest_of(tmp_path) != before


def test_a_text_with_many_mistakes_is_read_once_to_find_their_lines(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[str] = []
    compose = yaml.compose

    def counted(text: str, **options: Any) -> Any:
        read.append(text)
        return compose(text, **options)

    monkeypatch.setattr(yaml, "compose", counted)
    text = "".join(f"a{number}: 1\n" for number in range(50))
    with pytest.raises(BadDeclaration, match=r"^mine\.yaml, line 1: .* and \d+ more$"):
        parse_watch(text, "mine.yaml")
    assert read == [text]


@given(st.text(alphabet="[]{}:-&*a1 \n\"'!<?|", max_size=60) | st.text(max_size=40))
@example("[" * 100_000)
@example("{a: " * 50_000)
@example("a: &a [1]\n" + "b: &b [*a, *a]\n" * 40)
@example("a: 2026-99-99")
@example("<<: [1]")
@example("!!bool maybe")
@example("a: !!int ''")
@example("!!timestamp foo")
def test_any_text_that_is_no_watch_is_refused_by_its_name(text: str) -> None:
    with pytest.raises(BadDeclaration, match=r"^mine\.yaml"):
        parse_watch(text, "mine.yaml")
