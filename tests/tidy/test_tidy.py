"""The style guide as a test; each rule names the alternative."""

import ast
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = Path(os.environ.get("ALDEBARAN_TOOLS", ".tools")).resolve()
CORE = ("services/contracts", "services/backbone", "services/gateway", "services/lookout")
CORE_TOO = (
    "services/deliverer",
    "services/console",
    "services/aldebaran",
    "services/heartbeat",
    "spark-apps",
)
USE_CASE_WORDS = re.compile(r"\b(trades?|purchas\w*|orders?|shares|stocks?|order_id)\b", re.I)
FUNCTION_LINES_MAX = 70
FILE_LINES_MAX = 400
JAVA_COLUMNS_MAX = 120
BANNED_CALLS = {
    "time.time": "take a Clock (services/backbone/clock.py)",
    "time.sleep": "take a Clock, or wait on an event",
    "datetime.now": "take a Clock (services/backbone/clock.py)",
    "print": "log it, or write to a stream that was passed in",
}
CALLS_ALLOWED_IN = ("services/backbone/clock.py", "tests/")


def tracked(*suffixes: str) -> list[str]:
    return [
        name
        for name in by_git(ROOT) or by_walking(ROOT)
        if name.endswith(suffixes) and (ROOT / name).is_file()
    ]


def by_git(root: Path) -> list[str]:
    """Return nothing where git is not installed, or does not take this for a repository."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    if shutil.which("git") is None:
        return []
    listed = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    return listed.stdout.splitlines()


def by_walking(root: Path) -> list[str]:
    """Return the files of an unpacked archive, without what our own tools made in it."""
    found: list[Path] = []
    for folder, inside, files in os.walk(root):
        inside[:] = [name for name in inside if is_source(Path(folder, name))]
        found += [Path(folder, name) for name in files]
    return sorted(str(file.relative_to(root)) for file in found)


def is_source(folder: Path) -> bool:
    made = folder.name == "__pycache__" or folder.resolve() == TOOLS
    return not made and (folder.name == ".ci" or not folder.name.startswith("."))


def python_files() -> list[str]:
    return tracked(".py")


@pytest.mark.parametrize("name", python_files())
def test_python_file_is_tidy(name: str) -> None:
    text = (ROOT / name).read_text()
    tree = ast.parse(text)
    problems = [*long_functions(tree), *banned_calls(name, tree)]
    if text.count("\n") > FILE_LINES_MAX:
        problems.append(f"over {FILE_LINES_MAX} lines: split it by subject")
    assert not problems, f"{name}: " + "; ".join(problems)


@pytest.mark.parametrize("name", tracked(".java"))
def test_java_file_is_tidy(name: str) -> None:
    lines = enumerate((ROOT / name).read_text().splitlines(), start=1)
    wide = [
        number
        for number, line in lines
        if len(line) > JAVA_COLUMNS_MAX and not line.startswith("import ")
    ]
    assert not wide, f"{name}: over {JAVA_COLUMNS_MAX} columns in lines {wide}"


def long_functions(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
            if lines > FUNCTION_LINES_MAX:
                yield f"{node.name} has {lines} lines, at most {FUNCTION_LINES_MAX}"


def banned_calls(name: str, tree: ast.AST) -> Iterator[str]:
    if name.startswith(CALLS_ALLOWED_IN):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (called := ast.unparse(node.func)) in BANNED_CALLS:
            yield f"line {node.lineno}: {called} is banned: {BANNED_CALLS[called]}"


@pytest.mark.parametrize("name", [n for n in python_files() if n.startswith(CORE + CORE_TOO)])
def test_core_names_no_use_case(name: str) -> None:
    found = {match.group().lower() for match in USE_CASE_WORDS.finditer((ROOT / name).read_text())}
    found -= {"order", "orders"}  # the order of things is not an order to buy
    assert not found, f"{name} names a use case: {sorted(found)}; say it in YAML instead"


def test_readme_and_docs_name_only_paths_that_exist() -> None:
    documents = [name for name in tracked(".md") if not name.startswith("docs/reports/")]
    missing = [
        f"{name}: {path}"
        for name in documents
        for path in re.findall(
            r"`((?:services|spark-apps|docs|tests|charts|docker)/[\w./-]*)`",
            (ROOT / name).read_text(),
        )
        if not (ROOT / path).exists()
    ]
    assert not missing, f"paths in documents that do not exist: {missing}"


def test_no_machine_path_or_registry_host() -> None:
    pattern = re.compile(
        r"(^|[^\w.])/(work|root|farm)/|repo1?\.maven\.|py" + r"pi\.org|python" + r"hosted", re.M
    )
    names = tracked(".py", ".md", ".yaml", ".toml", ".lock", ".in", "Makefile", ".sh", "run")
    found = [name for name in names if pattern.search((ROOT / name).read_text())]
    assert not found, f"machine paths or registry hosts in: {found}"


def test_open_ends_name_an_issue() -> None:
    pattern = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b(?!.*issue)")
    found = [name for name in python_files() if pattern.search((ROOT / name).read_text())]
    assert not found, f"an open end without an issue's name in: {found}"
