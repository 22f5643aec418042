"""A bookmark that cannot be read now is tried again; one that holds no time is for a person."""

from pathlib import Path

import pytest

from archivist.bookmark import Bookmark
from services.backbone.errors import Refused


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"judged_until_ms": "soon"}'])
def test_what_is_no_time_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(Refused, match="remove it, and the account judges its look-back again"):
        Bookmark(path).read()


def test_what_cannot_be_read_is_tried_again(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="Is a directory"):
        Bookmark(tmp_path).read()
