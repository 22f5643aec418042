"""How a setting's type and default are said to people."""

import json
import socket
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from services.backbone.settings import PREFIX, SameAs
from services.machine.memory import how_many_fit
from tests.metrics import ROOT

_PLAIN: Final[dict[Any, str]] = {
    bool: "true or false",
    int: "whole number",
    float: "number",
    str: "text",
    SecretStr: "secret",
    Path: "path",
    Any: "value",
}
_WORKED_OUT: Final[dict[Any, str]] = {
    dict: "`{}`",
    socket.gethostname: "the machine's name",
    how_many_fit: "2, or 1 where memory is short",
}
"""Defaults that a function gives."""


def variable(name: str) -> str:
    """Return a setting's name in the environment."""
    return PREFIX + name.upper()


def type_in_words(field: FieldInfo) -> str:
    """Return a setting's type as people say it."""
    return _words(field.annotation, field.metadata)


def _words(kind: Any, marks: Sequence[Any]) -> str:
    """Return a type in words, with the bounds of a number."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return _words(parts[0], [*marks, *_flat(parts[1:])])
    if origin in (Union, UnionType):
        each = [_words(part, marks) for part in parts if part is not NoneType]
        return " or ".join(text for text in each if text)
    if origin is Literal:
        return ", ".join(f"`{part}`" for part in parts if part != "")
    if origin in (tuple, frozenset):
        return f"list of: {_words(parts[0], ())}"
    if origin is dict:
        return "object" if parts[1] is Any else f"{_words(parts[1], ())}, by name"
    return _word(kind) + _bounds(marks)


def _word(kind: Any) -> str:
    if kind in _PLAIN:
        return _PLAIN[kind]
    if issubclass(kind, Enum):
        return ", ".join(f"`{each.value}`" for each in kind)
    if issubclass(kind, BaseModel):
        return "object of " + ", ".join(f"`{name}`" for name in kind.model_fields)
    raise ValueError(f"say in words what a {kind} is")


def _flat(marks: Iterable[Any]) -> Iterator[Any]:
    for mark in marks:
        yield from mark.metadata if isinstance(mark, FieldInfo) else (mark,)


def _bounds(marks: Sequence[Any]) -> str:
    """Return a number's bounds, as what follows its type."""
    found = {
        name: _number(value)
        for mark in marks
        for name in ("ge", "gt", "le", "lt")
        if (value := getattr(mark, name, None)) is not None
    }
    if found.keys() == {"ge", "le"}:
        return f", {found['ge']} to {found['le']}"
    said = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
    return "".join(f", {said[name]} {value}" for name, value in found.items())


def default_in_words(field: FieldInfo) -> str:
    """Return a setting's default as people write it; of secrets only whether there is one."""
    if field.is_required():
        return "required"
    if isinstance(field.default_factory, SameAs):
        return f"that of `{variable(field.default_factory.name)}`"
    if field.default_factory is not None:
        return _WORKED_OUT[field.default_factory]
    return _shown(field.default)


def _shown(value: Any) -> str:
    if isinstance(value, SecretStr):
        return "not shown" if value.get_secret_value() else "empty"
    if value is None or value == "":
        return "unset" if value is None else "empty"
    if isinstance(value, Path):
        inside = value.relative_to(ROOT) if value.is_relative_to(ROOT) else value
        return f"`{inside.as_posix()}`"
    if isinstance(value, str):
        return f"`{value}`"
    if isinstance(value, tuple):
        return f"`[{', '.join(_json(each) for each in value)}]`"
    return f"`{_json(value)}`"


def _json(value: Any) -> str:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return _number(value) if is_number else json.dumps(value)


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) else str(value)
