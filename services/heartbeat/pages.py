"""What the program answers over HTTP beside health and metrics: the disagreements that last."""

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from services.backbone.health import health_app
from services.backbone.service import Life
from services.heartbeat.agreement import Shown


def create_app(life: Life, shown: Shown) -> Starlette:
    """Build the application; `shown` is filled by another thread."""

    async def disagreements(_: Request) -> Response:
        now = life.clock.monotonic_seconds()
        return JSONResponse(
            {
                "disagreements": [
                    {
                        "alert_id": each.alert_id,
                        "watch": each.watch,
                        "raised_by": list(each.raised_by),
                        "missing_from": each.missing,
                        "age_seconds": round(now - each.since_seconds, 1),
                    }
                    for each in shown.disagreements
                ]
            }
        )

    return health_app(life.health, Route("/v1/disagreements", disagreements))
