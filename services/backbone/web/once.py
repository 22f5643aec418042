"""A deed that is asked for once or more by a command, and done once: by its key."""

import argparse
import uuid
from typing import Any

from services.backbone.errors import Transient
from services.backbone.web.client import ApiClient


def add_key_argument(parser: argparse.ArgumentParser) -> None:
    """Add what names one deed, so that it is done once however often it is asked for."""
    parser.add_argument("--key", help="the same key again is the same deed, done once")


def ask_once(client: ApiClient, path: str, body: Any, key: str | None) -> Any:
    """Ask for a deed of this key, or of a new one, and return the answer.

    Raises:
        Trouble: as `ApiClient.ask` does; where the answer was lost, with the key to go on with.
    """
    key = key or uuid.uuid4().hex
    try:
        return client.ask("POST", path, body, key=key)
    except Transient as error:
        said = f"it may have been done all the same: the same command with --key {key} does it once"
        raise Transient(f"{error}; {said}") from error
