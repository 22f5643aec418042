"""Tells a dead man's switch that accounting goes on; silence means that nobody looks."""

import httpx2

from services.accountant import metrics
from services.accountant.settings import AccountantSettings
from services.backbone.clock import Clock
from services.backbone.log import logger

log = logger(__name__)
TIMEOUT_SECONDS = 5.0


class Heartbeat:
    """Beats after an accounting that really ran, not more often than its period."""

    def __init__(self, settings: AccountantSettings, clock: Clock) -> None:
        self._url = settings.accountant_heartbeat_url
        self._period_seconds = settings.accountant_heartbeat_seconds
        self._clock = clock
        self._next_at = 0.0
        self._client = httpx2.Client(timeout=TIMEOUT_SECONDS, trust_env=False)

    def accounted(self) -> None:
        """Note a whole accounting, and beat if it is time."""
        metrics.ACCOUNTED_AT.set(self._clock.now_ms() / 1000)
        now = self._clock.monotonic_seconds()
        if self._url is None or now < self._next_at:
            return
        self._next_at = now + self._period_seconds
        metrics.HEARTBEATS.labels(
            "sent" if self._beat(self._url.get_secret_value()) else "failed"
        ).inc()

    def _beat(self, url: str) -> bool:
        try:
            status = self._client.post(url).status_code
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            log.warning("heartbeat_failed", reason=type(error).__name__)
            return False
        if status >= 300:
            log.warning("heartbeat_failed", reason=f"answered HTTP {status}")
        return status < 300

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()
