"""Where settings stand beside the environment: in a YAML file, and in a folder of secrets."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import yaml

from services.backbone.errors import Refused
from services.contracts.yaml_values import GivenTwice, place, read_yaml

SETTINGS_FILE: Final = "ALDEBARAN_SETTINGS_FILE"
SECRETS_DIR: Final = "ALDEBARAN_SECRETS_DIR"


def settings_file(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return what the settings file holds, by name; nothing where none is named.

    Raises:
        Refused: it is named and cannot be used.
    """
    if not (path := environment.get(SETTINGS_FILE)):
        return {}
    try:
        read = read_yaml(Path(path).expanduser().read_text("utf-8")) or {}
    except GivenTwice as error:
        raise Refused(f"{SETTINGS_FILE}: {path}, {error}") from None
    except yaml.YAMLError as error:
        raise Refused(f"{SETTINGS_FILE}: {path} is no YAML{place(error)}") from None
    except (OSError, RuntimeError, ValueError) as error:
        raise Refused(f"{SETTINGS_FILE} cannot be read: {error}") from None
    if not isinstance(read, Mapping):
        raise Refused(f"{SETTINGS_FILE}: {path} holds no settings by name")
    return {str(name): value for name, value in read.items()}


def secret_files(environment: Mapping[str, str]) -> list[str]:
    """Return the names in the folder of secrets; none where no folder is named.

    Raises:
        Refused: it is named and cannot be read.
    """
    if not (folder := environment.get(SECRETS_DIR)):
        return []
    try:
        return [each.name for each in Path(folder).expanduser().iterdir()]
    except (OSError, RuntimeError) as error:
        raise Refused(f"{SECRETS_DIR} cannot be read: {error}") from None
