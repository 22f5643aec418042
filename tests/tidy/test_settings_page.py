"""docs/settings.md and the list of known names have every setting that a class has."""

import re

from services.backbone.settings import PREFIX
from services.backbone.spelling import KNOWN
from tests.settings import PAGE, every_kind, known_names, listed, page
from tests.tidy.test_tidy import ROOT, tracked

SOURCES = ("services/", "spark-apps/")
CLASS = re.compile(r"^class (\w*Settings)\(", re.M)
NAME = re.compile(rf"\b{PREFIX}[A-Z0-9_]*[A-Z0-9]\b")
NO_SETTING = {"ALDEBARAN_NAME", "ALDEBARAN_AUDITOR", "ALDEBARAN_LOG", "ALDEBARAN_PORT"}
"""Stands for any name in a text, or begins several."""


def test_the_page_has_every_setting_as_it_is_defined() -> None:
    assert PAGE.read_text("utf-8") == page(), "run: make docs"


def test_the_list_has_every_name() -> None:
    assert KNOWN.read_text("ascii") == listed(), "run: make docs"


def test_every_setting_says_what_it_is_for() -> None:
    assert re.findall(r"^\| `\w+` \|.*\|  \|$", PAGE.read_text("utf-8"), re.M) == []


def test_no_class_is_overlooked() -> None:
    shown = {(kind.__module__, kind.__name__) for kind in every_kind()}
    for file in tracked(".py"):
        if file.startswith(SOURCES):
            module = re.sub(r"^spark-apps/|(/__init__)?\.py$", "", file).replace("/", ".")
            for name in CLASS.findall((ROOT / file).read_text("utf-8")):
                assert (module, name) in shown, f"tests/settings.py needs {name} of {module}"


def test_every_name_in_code_chart_and_documents_is_known() -> None:
    """So nobody is warned of what we ourselves tell people to set."""
    files = (
        file
        for file in [*tracked(".py", ".md", ".yaml", ".tpl", ".Dockerfile"), "Makefile"]
        if file.startswith((*SOURCES, "docs/", "charts/", "docker/", "README.md", "Makefile"))
    )
    known = {*known_names()} | NO_SETTING
    for file in files:
        assert {*NAME.findall((ROOT / file).read_text("utf-8"))} <= known, file
