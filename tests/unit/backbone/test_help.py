"""Asked what it is, or told what it does not know, a program starts nothing and says so."""

from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[3]
SERVICES: Final = [
    ".".join(each.parent.relative_to(ROOT).parts) for each in ROOT.glob("services/**/__main__.py")
]
APPS: Final = [each.parent.name for each in ROOT.glob("spark-apps/*/__main__.py")]
PROGRAMS: Final = sorted(SERVICES + APPS)


@pytest.mark.parametrize("program", PROGRAMS)
def test_help_tells_what_it_is(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        import_module(f"{program}.__main__").main(["--help"])
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert said.startswith("usage: ")
    assert program.rpartition(".")[2] in said


@pytest.mark.parametrize("program", PROGRAMS)
def test_what_it_does_not_know_starts_nothing(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        import_module(f"{program}.__main__").main(["--nonsense"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("usage: ")
