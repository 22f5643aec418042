"""`python -m tests.chart.manual`: writes the chart's README from its values and their comments."""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from tests.chart.rendering import CHART, EXAMPLES, case_of

PAGE: Final = CHART / "README.md"
HEAD: Final = """# Chart of Aldebaran

<!-- Made by `make docs` from values.yaml; change the comments there. -->

```
helm install aldebaran charts/aldebaran -f my-values.yaml   # with your image.registry in it
helm test aldebaran --logs   # sends one trade too many, waits until somebody is told
```

How to install, try, scale, upgrade and remove: [docs/kubernetes.md](../../docs/kubernetes.md).
Each example stands beside what it makes (`rendered.yaml`):

| example | |
|---|---|
"""
TABLE: Final = """
What cannot work is refused before anything is installed, with what to change. Unknown names are
refused too.

| value | default | |
|---|---|---|
"""
DEFAULT_LIMIT: Final = 60
_LINE: Final = re.compile(r"^(?P<indent> *)(?P<name>[A-Za-z][\w-]*):(?P<rest>.*)$")


@dataclass(frozen=True)
class Value:
    """One value that a user may set: where it stands, what it is at first, what it does."""

    path: str
    default: Any
    told: str

    def line(self) -> str:
        """Return its line of the table."""
        shown = yaml.safe_dump(self.default, default_flow_style=True, width=1000).strip()
        shown = shown.removesuffix("...").strip()
        if len(shown) > DEFAULT_LIMIT:
            shown = shown[: DEFAULT_LIMIT - 2] + " …"
        return f"| `{self.path}` | `{shown}` | {self.told} |".replace("\n", " ")


def values(written: str) -> Iterator[Value]:
    """Return every value that has a comment beginning with `# --`."""
    read = yaml.safe_load(written)
    path: list[tuple[int, str]] = []
    told: list[str] = []
    for line in written.splitlines():
        words = line.strip()
        if words.startswith("# -- "):
            told = [words.removeprefix("# -- ")]
        elif words.startswith("#"):
            told += [words.removeprefix("#").strip()] * bool(told)
        elif found := _LINE.match(line):
            indent = len(found["indent"])
            path = [*(each for each in path if each[0] < indent), (indent, found["name"])]
            names = [name for _, name in path]
            if told:
                yield Value(".".join(names), _default(read, names), " ".join(told))
            told = []


def _default(read: Any, names: list[str]) -> Any:
    for name in names:
        read = read[name]
    return read


def text() -> str:
    """Return the values as they are written."""
    return (CHART / "values.yaml").read_text("utf-8")


def defaults() -> dict[str, Any]:
    """Return the values as they are read."""
    read: dict[str, Any] = yaml.safe_load(text())
    return read


def page() -> str:
    """Return the README's text."""
    lines = [*map(_example, EXAMPLES), TABLE, *(each.line() + "\n" for each in values(text()))]
    return HEAD + "".join(lines)


def _example(case: Path) -> str:
    name = case_of(case)
    return f"| [{name}](examples/{name}/values.yaml) | {_purpose(case.read_text('utf-8'))} |\n"


def _purpose(written: str) -> str:
    comments = [line for line in written.splitlines() if line.startswith("#")]
    return " ".join(line.removeprefix("#").strip() for line in comments)


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
