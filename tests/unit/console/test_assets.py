"""What is served beside the pages: foreign files are those that were looked at."""

import hashlib
import re

import yaml
from hypothesis import given
from hypothesis import strategies as st

from services.console.assets import ASSETS, FOLDER
from services.console.sparkline import HEIGHT, WIDTH, sparkline

OURS = {"console.js", "style.css", "icon.svg"}


def test_foreign_files_have_the_recorded_checksums() -> None:
    vendored = yaml.safe_load((FOLDER / "vendored.yaml").read_text())
    assert {each["file"] for each in vendored} == set(ASSETS) - OURS
    for each in vendored:
        content = (FOLDER / each["file"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == each["sha256"], each["file"]


def test_colours_are_named_once() -> None:
    style = (FOLDER / "style.css").read_text()
    rules = style.partition("* { box-sizing")[2]
    colours = re.findall(r"#(?:[0-9a-f]{3,8})\b", rules)
    assert set(colours) <= {"#0008"}


@given(st.lists(st.one_of(st.none(), st.floats(0, 1e9)), max_size=50))
def test_lines_stay_inside_their_box(values: list[float | None]) -> None:
    path = sparkline(values, 50)
    numbers = [float(each) for each in re.findall(r"[\d.]+", path)]
    assert all(0 <= x <= WIDTH for x in numbers[::2])
    assert all(0 <= y <= HEIGHT for y in numbers[1::2])
    assert path.count("M") + path.count("L") == sum(value is not None for value in values)
