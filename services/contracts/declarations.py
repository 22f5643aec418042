"""Reading declarations: a YAML file per thing, refused with file, line and reason."""

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Final, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from services.contracts.records import DESCRIBED, describe
from services.contracts.yaml_lines import check_growth, lines_of
from services.contracts.yaml_values import GivenTwice, read_yaml

FILE_LIMIT_BYTES: Final = 256 * 1024

AS_IT_RAN: Final = "as it ran"
"""Context in which what ran before is read: what only misleads people, or concerns gateways alone,
does not end it.
"""

Declared = TypeVar("Declared", bound=BaseModel)
Thing = TypeVar("Thing")


class BadDeclaration(ValueError):
    """A declaration file that cannot be used; the message names the file and the place."""


def read_declaration(kind: type[Declared], path: Path, context: str | None = None) -> Declared:
    """Read one YAML file.

    Raises:
        BadDeclaration: the file cannot be read, is too long, or says what is not allowed.
    """
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise BadDeclaration(f"{path.name}: {error}") from None
    return parse_declaration(kind, text, path.name, context)


def parse_declaration(
    kind: type[Declared], text: str, name: str, context: str | None = None
) -> Declared:
    """Read one declaration from its YAML; `name` says where it is from.

    Raises:
        BadDeclaration: it is too long, or says what is not allowed.
    """
    if len(text) > FILE_LIMIT_BYTES:
        raise BadDeclaration(f"{name}: over {FILE_LIMIT_BYTES} bytes")
    try:
        check_growth(text)
        return kind.model_validate(read_yaml(text), context=context)
    except ValidationError as error:
        lines = lines_of(text, [item["loc"] for item in error.errors()[:DESCRIBED]])
        where = f"line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))}"
        raise BadDeclaration(f"{name}, {where}: {describe(error)}") from None
    except GivenTwice as error:
        raise BadDeclaration(f"{name}, {error}") from None
    except (yaml.YAMLError, ValueError) as error:
        raise BadDeclaration(f"{name}: {error}") from None


def read_folder(
    kind: type[Declared],
    folder: Path,
    what: str,
    name_of: Callable[[Declared], str],
    context: str | None = None,
) -> dict[str, Declared]:
    """Read every `*.yaml` of a folder; return what they declare by name.

    Raises:
        BadDeclaration: a file is wrong, two declare the same name, or there is none.
    """
    found: dict[str, Declared] = {}
    for path in sorted(folder.glob("*.yaml")):
        declared = read_declaration(kind, path, context)
        name = name_of(declared)
        if name in found:
            raise BadDeclaration(f"{path.name}: {what} {name} is declared twice")
        found[name] = declared
    if not found:
        raise BadDeclaration(f"no {what} is declared: {folder} has no *.yaml file")
    return found


def is_read(file: str) -> bool:
    """Tell whether a file of this name is read as a declaration."""
    return file.endswith(".yaml")


def unread_in(folder: Path) -> dict[str, str]:
    """Return by name what to do about files that look like declarations, and that nobody reads."""
    return {path.name: rename(path) for path in sorted(folder.glob("*.yml"))}


def rename(path: Path) -> str:
    """Say why a file is not read."""
    return f"{path.name}: only *.yaml files are read: rename it"


def by_name(
    files: Mapping[str, Thing], what: str, name_of: Callable[[Thing], str]
) -> tuple[dict[str, Thing], dict[str, str]]:
    """Return by name what one file declares, and by file why others are not used.

    Of two files with the same name neither counts: whichever did would take over unasked.
    """
    places: dict[str, list[str]] = {}
    for file, thing in files.items():
        places.setdefault(name_of(thing), []).append(file)
    once = {name: files[found[0]] for name, found in places.items() if len(found) == 1}
    problems = {
        file: f"{file}: {what} {name} is declared twice: {', '.join(found)}"
        for name, found in places.items()
        for file in found
        if name not in once
    }
    return once, problems


def digest_of(*folders: Path, kinds: Collection[str] = (".yaml", ".yml", ".csv")) -> str:
    """Return what changes with the content of any file of these kinds in these folders."""
    whole = hashlib.sha256()
    for folder in folders:
        for path in _files(folder, kinds):
            for part in (str(path).encode(), _content(path)):
                whole.update(len(part).to_bytes(8) + part)
    return whole.hexdigest()


def _files(folder: Path, kinds: Collection[str]) -> Iterator[Path]:
    yield from sorted(path for path in folder.glob("*") if path.suffix in kinds)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
