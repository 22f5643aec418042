"""NRDP 2 before a Nagios: tokens, JSON and XML, HTTP 200 to everything; `inbox-token` is the token.

Works as `server/` of NRDP does: what is refused gets status -1 and a word; each result it takes is
one more, whoever sent it before. `GET /nrdp/results` shows the newest.
"""

import re
import threading
from typing import Any, Final
from urllib.parse import parse_qsl
from xml.sax.saxutils import escape

import orjson

from services.simulator.inbox.faults import Faults
from services.simulator.inbox.provider import (
    KEPT_LIMIT,
    Desk,
    ProviderAnswer,
    ProviderRequest,
    Sending,
)

PREFIX: Final = "/nrdp"
TOKEN: Final = "inbox-token"  # noqa: S105 - a stand-in's token is no secret
_ID: Final = re.compile(r"\[delivery ([0-9a-f]{32})\]")
_XML_FIELD: Final = re.compile(r"<(hostname|servicename|state|output)>([^<]*)</")


class NrdpFaults(Faults):
    """NRDP's dials."""

    refuse_word: str | None = None
    """Refusals answer 200 with status -1 and this word, as NRDP does, and not by the status."""


DIALS: Final = NrdpFaults()


class Nrdp:
    """Takes check results."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._lock = threading.Lock()
        self._results: list[dict[str, Any]] = []

    def read(self, request: ProviderRequest) -> Sending | ProviderAnswer:
        """Return the results handed over, a refusal, or the list of all."""
        if request.method == "GET" and request.path == "/results":
            with self._lock:
                return ProviderAnswer(200, orjson.dumps(self._results))
        if request.method != "POST" or request.path not in ("", "/"):
            return ProviderAnswer(404, b"not found\n", media_type="text/plain")
        form = _form(request)
        if wrong := _wrong(form):
            return _said(form, -1, wrong)
        output = str(_results(form)[0].get("output", ""))
        found = _ID.search(output)
        return Sending(found[1] if found else "", output)

    def take(self, request: ProviderRequest, _: Sending) -> ProviderAnswer:
        """Write the results into Nagios' spool, each under a new name."""
        form = _form(request)
        results = _results(form)
        with self._lock:
            self._results += results
            del self._results[:-KEPT_LIMIT]
        return _said(form, 0, "OK", f"{len(results)} checks processed")

    def refuse(self, status: int) -> ProviderAnswer:
        """Say NRDP's word for it, or answer as the web server before NRDP would."""
        dials = self._desk.faults()
        if isinstance(dials, NrdpFaults) and dials.refuse_word is not None:
            return _said({"json": ""}, -1, dials.refuse_word)
        return ProviderAnswer(status, b"refused, because a dial says so\n", media_type="text/plain")


def _form(request: ProviderRequest) -> dict[str, str]:
    posted = dict(parse_qsl(request.body.decode(errors="replace"), keep_blank_values=True))
    form = {**request.query, **posted}
    return {("json" if key in ("JSONDATA", "jsondata") else key): form[key] for key in form}


def _wrong(form: dict[str, str]) -> str | None:
    if not form.get("token"):
        return "NO TOKEN"
    if form["token"] != TOKEN:
        return "BAD TOKEN"
    if form.get("cmd") != "submitcheck":
        return "NO COMMAND"
    if not _results(form):
        return "BAD JSON" if "json" in form else "BAD XML"
    return None


def _results(form: dict[str, str]) -> list[dict[str, Any]]:
    if "json" not in form:
        data = form.get("XMLDATA", form.get("xml", ""))
        return [found] if (found := dict(_XML_FIELD.findall(data))) else []
    try:
        results = orjson.loads(form["json"])["checkresults"]
    except (ValueError, TypeError, KeyError):
        return []
    usable = isinstance(results, list) and all(isinstance(each, dict) for each in results)
    return results if usable else []


def _said(form: dict[str, str], status: int, word: str, output: str = "") -> ProviderAnswer:
    """Answer in the form in which the data came, XML where none came."""
    if "json" in form:
        result: dict[str, Any] = {"status": status, "message": word}
        if output:
            result["meta"] = {"output": output}
        return ProviderAnswer(200, orjson.dumps({"result": result}))
    meta = f"<meta><output>{escape(output)}</output></meta>" if output else ""
    inside = f"<status>{status}</status><message>{escape(word)}</message>{meta}"
    whole = f'<?xml version="1.0" encoding="utf-8"?>\n<result>{inside}</result>'
    return ProviderAnswer(200, whole.encode(), media_type="text/xml")


def open_provider(desk: Desk) -> Nrdp:
    """Make the provider."""
    return Nrdp(desk)
