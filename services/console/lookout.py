"""The lookout's API, asked in the name of the person who pressed: it knows routes and brokers."""

from typing import Any, Final, TypeVar

import httpx2
from pydantic import TypeAdapter, ValidationError

from services.backbone.log import logger
from services.backbone.web.client import ApiClient
from services.backbone.web.problems import Problem

log = logger(__name__)

Kind = TypeVar("Kind")

TIMEOUT_SECONDS: Final = 25.0
"""Longer than the lookout waits for the brokers (20 s), so that its answer is heard."""


def lookout_client(url: str, key: str, transport: httpx2.BaseTransport | None = None) -> ApiClient:
    """Return what asks the operators' API with the console's own key."""
    return ApiClient("lookout", url, key, TIMEOUT_SECONDS, transport, _fault)


def read(kind: type[Kind], told: Any) -> Kind:
    """Return what the lookout has answered.

    Raises:
        Problem: 502, it is none of its answers, as where another program is at its address.
    """
    try:
        return TypeAdapter(kind).validate_python(told)
    except ValidationError as error:
        log.warning("lookout_not_understood", reason=str(error))
        said = "the lookout's answer is not understood; is it of this version?"
        raise Problem(502, "lookout", said) from None


def _fault(told: Problem) -> Problem:
    """Say that it is the console's key, not the person's, that the lookout does not know."""
    if told.__cause__:
        log.warning("lookout_away", reason=str(told.__cause__))
    if told.status not in (401, 403):
        return told
    said = "the console's own key is not known there: name one in ALDEBARAN_OPERATOR_KEY"
    return Problem(502, "lookout_key", f"{said} ({told.detail})")
