"""Settings that no program has: they change nothing, so whoever misspelt one is told.

The names that there are stand in a list, since a program imports no other's classes, and finds
settings of others in its environment.
"""

from collections.abc import Collection, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from services.backbone.errors import Refused
from services.backbone.settings import PREFIX
from services.backbone.settings_sources import secret_files, settings_file

KNOWN: Final = Path(__file__).with_name("known_settings.txt")
"""Every name under ALDEBARAN_ that something of ours reads; made by `make docs`."""


def unknown_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """Return each setting that no program has, as its user spells it, with the nearest that one
    has, or with nothing: in the environment, in the folder of secrets, in the settings file.
    """
    known = {_short(name) for name in KNOWN.read_text("ascii").split()}
    variables = _prefixed([*environment, *_secrets(environment)])
    found = {
        name: PREFIX + near.upper() if (near := _nearest(name, known)) else ""
        for name in sorted(variables)
        if _short(name) not in known
    }
    keys = sorted(key for key in _keys(environment) if key not in known)
    return found | {key: _nearest(key, known) for key in keys}


def sentence(unknown: Mapping[str, str]) -> str:
    """Return one sentence about settings that no program has."""
    named = (f"{name} (is it {near}?)" if near else name for name, near in unknown.items())
    return f"no program has these settings, they change nothing: {', '.join(named)}"


def _short(name: str) -> str:
    """Return a setting's name as a settings file spells it."""
    return name.lower().removeprefix(PREFIX.lower())


def _nearest(name: str, known: Collection[str]) -> str:
    return next(iter(get_close_matches(_short(name), sorted(known), n=1)), "")


def _prefixed(names: Iterable[str]) -> set[str]:
    return {name for name in names if name.upper().startswith(PREFIX)}


def _secrets(environment: Mapping[str, str]) -> list[str]:
    """Return the names in the folder of secrets; one that cannot be read is told of elsewhere."""
    try:
        return secret_files(environment)
    except Refused:
        return []


def _keys(environment: Mapping[str, str]) -> list[str]:
    """Return the keys of the settings file; one that cannot be read is told of elsewhere."""
    try:
        return list(settings_file(environment))
    except Refused:
        return []
