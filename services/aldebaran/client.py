"""How the command line speaks with a running console."""

from collections.abc import Iterator, Mapping
from typing import Any

import httpx2

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


def all_rows(
    client: ApiClient, path: str, query: Mapping[str, Any] | None = None
) -> Iterator[dict[str, Any]]:
    """Yield the rows of a list, newest first; pages are asked for as they are needed.

    Raises:
        Trouble: the console does not do it, or does not answer.
    """
    for page in all_pages(client, path, query or {}):
        yield from page["rows"]


def all_pages(client: ApiClient, path: str, query: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the pages of a list as they are needed, and raise as `all_rows` does.

    A console of before does not go on with every list: there the first page is all.
    """
    while True:
        page = client.ask("GET", path, query=query)
        yield page
        if (further := page.get("next_cursor")) is None:
            return
        query = {**query, "cursor": further}
