"""How the command line speaks with a running console."""

import argparse
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

import httpx2

from services.backbone.errors import Transient
from services.backbone.web.client import ApiClient, OperatorSettings, command_client
from services.contracts.web import ServerAddress


class CommandSettings(OperatorSettings):
    """Where the console is, and the operator's key."""

    console_url: ServerAddress = "http://127.0.0.1:18080"
    """Where the console's API is."""


def console_client(
    settings: CommandSettings, transport: httpx2.BaseTransport | None = None
) -> ApiClient:
    """Return what asks the console."""
    return command_client("console", settings.console_url, settings, transport)


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


def all_rows(
    client: ApiClient, path: str, query: Mapping[str, Any] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a list, newest first; pages are asked for as they are needed.

    Raises:
        Trouble: the console does not do it, or does not answer.
    """
    query = query or {}
    while True:
        page = client.ask("GET", path, query=query)
        yield from page["rows"]
        if page["next_cursor"] is None:
            return
        query = {**query, "cursor": page["next_cursor"]}
