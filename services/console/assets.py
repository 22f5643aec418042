"""Styles and scripts, served from here; their address changes with their content."""

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from services.backbone.web.problems import Problem

FOLDER: Final = Path(__file__).parent / "static"
FOREVER: Final = "public, max-age=31536000, immutable"
KINDS: Final = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
DIGEST_CHARACTERS: Final = 12


@dataclass(frozen=True)
class Asset:
    """One file as it is served."""

    path: str
    content: bytes
    media_type: str


def _read() -> dict[str, Asset]:
    found = {}
    for file in sorted(FOLDER.iterdir()):
        if file.suffix in KINDS:
            content = file.read_bytes()
            digest = hashlib.sha256(content).hexdigest()[:DIGEST_CHARACTERS]
            path = f"/static/{digest}/{file.name}"
            found[file.name] = Asset(path, content, KINDS[file.suffix])
    return found


ASSETS: Final = _read()
_BY_PATH: Final = {asset.path: asset for asset in ASSETS.values()}


def asset_path(name: str) -> str:
    """Return where a file is served."""
    return ASSETS[name].path


async def _serve(request: Request) -> Response:
    asset = _BY_PATH.get(request.url.path)
    if asset is None:
        raise Problem(404, "no_such_page", "there is no such file; load the page again")
    headers = {"Cache-Control": FOREVER}
    return Response(asset.content, headers=headers, media_type=asset.media_type)


def asset_route() -> Route:
    """Return the route of all files."""
    return Route("/static/{digest}/{name}", _serve)
