"""The requests that an application answers, its routers' included."""

from collections.abc import Iterator

from fastapi import FastAPI
from fastapi.routing import APIRoute, iter_route_contexts


def api_routes(app: FastAPI) -> Iterator[APIRoute]:
    """Return the routes that FastAPI answers, pages too."""
    for each in iter_route_contexts(app.routes):
        route = each.original_route
        if isinstance(route, APIRoute):
            yield route
