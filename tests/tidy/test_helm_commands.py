"""What documents show for Helm keeps the images in the file of values.

An upgrade that is given any value forgets what the install was given by `--set`: pods would ask for
images at a registry that has none.
"""

from pathlib import Path

import pytest

from tests.tidy.test_tidy import ROOT, tracked

PAGES = [name for name in tracked(".md") if "helm " in (ROOT / name).read_text("utf-8")]


def images_set_by_hand(page: Path) -> list[str]:
    """Return the lines of a page that give an image beside the file of values."""
    return [line for line in page.read_text("utf-8").splitlines() if "--set image." in line]


def test_helm_is_shown() -> None:
    assert "docs/kubernetes.md" in PAGES


@pytest.mark.parametrize("name", PAGES)
def test_no_command_sets_an_image(name: str) -> None:
    assert not images_set_by_hand(ROOT / name), "name it in my-values.yaml"


def test_a_command_that_does_is_seen(tmp_path: Path) -> None:
    shown = "helm upgrade a charts/a -f my.yaml --set image.service.tag=0.2.0"
    (page := tmp_path / "page.md").write_text(f"```\n{shown}\n```\n")
    assert images_set_by_hand(page) == [shown]
