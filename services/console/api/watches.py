"""Watches as JSON: what they look for, how they run, and what they cost."""

from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel

from services.backbone.web.problems import Problem
from services.console.api.terms import PlainText
from services.console.desk import Served
from services.console.parts.figures import WatchFigures
from services.console.people.door import Reader
from services.console.watches import WatchShelf
from services.contracts.watches import WatchDeclaration

WatchName = Annotated[str, PlainText, Path(max_length=63, description="for example over-heat")]


class WatchLine(BaseModel):
    """One watch; `figures` is null while no auditor tells of it."""

    watch: str
    description: str
    streams: list[str]
    paused: bool
    figures: WatchFigures | None


class WatchList(BaseModel):
    """Every watch, by name, and what is wrong with the files that cannot be used."""

    rows: list[WatchLine]
    problems: list[str]


class WatchPage(BaseModel):
    """One watch as its file declares it."""

    declared: WatchDeclaration
    figures: WatchFigures | None


def watch_api() -> APIRouter:
    """Return the routes."""
    router = APIRouter(prefix="/v1/watches", tags=["watches"])

    @router.get("", summary="Every watch, how it runs, and what it costs")
    def every(person: Reader, desk: Served) -> WatchList:
        shelf, figures = desk.shelf.all(), desk.watch_figures()
        rows = [
            WatchLine(
                watch=name,
                description=each.description,
                streams=list(each.streams),
                paused=each.paused,
                figures=figures.get(name),
            )
            for name, each in shelf.watches.items()
        ]
        return WatchList(rows=rows, problems=list(shelf.problems))

    @router.get("/{watch}", summary="Show one watch: its rule, its SQL, how it runs")
    def one(watch: WatchName, person: Reader, desk: Served) -> WatchPage:
        return WatchPage(
            declared=known_watch(desk.shelf, watch), figures=desk.watch_figures().get(watch)
        )

    return router


def known_watch(shelf: WatchShelf, name: str) -> WatchDeclaration:
    """Return a watch as its file declares it.

    Raises:
        Problem: 404, no file declares it.
    """
    declared = shelf.one(name)
    if declared is None:
        raise Problem(404, "no_such_watch", f"no file declares a watch {name}")
    return declared
