"""What a distant Nagios tells of itself: statusjson.cgi and archivejson.cgi of Nagios 4."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import aiohttp

from services.deliverer.channels.nagios.status_file import Shown, Status
from services.deliverer.channels.nagios.wording import Place
from services.deliverer.posting import answer_object, ask, trouble_of

PAGE_LIMIT_BYTES: Final = 8 * 1024 * 1024
_SUCCESS: Final = 0
_NOT_FOUND: Final = 6


class NoAnswer(Exception):
    """The page was not to be had, or says something else than these pages do."""


class StatusPages:
    """Asks for one service or host at a time."""

    def __init__(self, web: aiohttp.ClientSession, url: str) -> None:
        self._web = web
        self._url = url.rstrip("/")

    async def status(self, place: Place) -> Status:
        """Return what Nagios shows of a place; nothing if it knows no such place.

        Raises:
            NoAnswer: it could not be asked.
        """
        kind = "host" if place.service is None else "service"
        return read_status(
            await self._asked("statusjson.cgi", {"query": kind, **_of(place)}), place
        )

    async def alerts(self, place: Place, since_ms: int, until_ms: int) -> list[str]:
        """Return the first lines of the results that have alerted, from Nagios' log.

        Raises:
            NoAnswer: it could not be asked.
        """
        kind = "host" if place.service is None else "service"
        times = {"starttime": str(since_ms // 1000), "endtime": str(until_ms // 1000)}
        asked = {"query": "alertlist", "objecttypes": kind, **_of(place), **times}
        return read_alerts(await self._asked("archivejson.cgi", asked))

    async def close(self) -> None:
        """Close connections."""
        await self._web.close()

    async def _asked(self, page: str, query: Mapping[str, str]) -> Mapping[str, Any]:
        try:
            response = await ask(self._web, f"{self._url}/{page}", query)
        except aiohttp.ClientError as error:
            raise NoAnswer(trouble_of(error)) from None
        said = await answer_object(response, PAGE_LIMIT_BYTES)
        if response.status != 200:
            raise NoAnswer(f"answered HTTP {response.status}: see nrdp_status_url")
        return said


def read_status(said: Mapping[str, Any], place: Place) -> Status:
    """Read statusjson's answer about a place.

    Raises:
        NoAnswer: it is none.
    """
    result = _result(said)
    status = Status(_seconds(result, "last_data_update"), _seconds(result, "program_start"))
    if result.get("type_code") == _NOT_FOUND:
        return status
    found = _data(said).get("host" if place.service is None else "service")
    if not isinstance(found, Mapping):
        raise NoAnswer("the answer has no host or service: is nrdp_status_url Nagios' own?")
    text = f"{found.get('plugin_output', '')}{found.get('long_plugin_output', '')}"
    status.shown[place] = Shown(_seconds(found, "last_check"), text)
    return status


def read_alerts(said: Mapping[str, Any]) -> list[str]:
    """Read archivejson's list of alerts.

    Raises:
        NoAnswer: it is none.
    """
    _result(said)
    found = _data(said).get("alertlist")
    if not isinstance(found, Sequence) or isinstance(found, str):
        raise NoAnswer("the answer has no list of alerts")
    return [str(each.get("plugin_output", "")) for each in found if isinstance(each, Mapping)]


def _of(place: Place) -> dict[str, str]:
    host = {"hostname": place.host}
    return host if place.service is None else host | {"servicedescription": place.service}


def _result(said: Mapping[str, Any]) -> Mapping[str, Any]:
    result = said.get("result")
    if not isinstance(result, Mapping):
        raise NoAnswer("the answer is not Nagios'")
    if result.get("type_code") not in (_SUCCESS, _NOT_FOUND):
        raise NoAnswer(f"Nagios says: {result.get('type_text')}: {result.get('message')}"[:200])
    return result


def _data(said: Mapping[str, Any]) -> Mapping[str, Any]:
    data = said.get("data")
    return data if isinstance(data, Mapping) else {}


def _seconds(values: Mapping[str, Any], name: str) -> int:
    """Return a time, which these pages give in milliseconds; 0 if there is none."""
    found = values.get(name)
    return found // 1000 if isinstance(found, int) else 0
