"""Any receiver of webhooks: keeps what is posted to `/hook`."""

from typing import Final

from services.simulator.inbox.provider import Desk, ProviderAnswer, ProviderRequest, Sending

PREFIX: Final = "/hook"


class Hook:
    """Takes every POST; the Idempotency-Key names the delivery."""

    def read(self, request: ProviderRequest) -> Sending | ProviderAnswer:
        """Return the message; nothing but POST to the very path is one."""
        if request.method != "POST" or request.path:
            return _plain(404, b"post to /hook\n")
        key = request.headers.get("idempotency-key", "").strip().strip('"')[:1000]
        return Sending(key, f"{key}: {request.body[:200].decode(errors='replace')}")

    def take(self, _: ProviderRequest, __: Sending) -> ProviderAnswer:
        """Say that it is kept."""
        return _plain(200, b"kept\n")

    def refuse(self, status: int) -> ProviderAnswer:
        """Say who wanted it so."""
        return _plain(status, b"refused, because a dial says so\n")


def _plain(status: int, text: bytes) -> ProviderAnswer:
    return ProviderAnswer(status, text, media_type="text/plain")


def open_provider(_: Desk) -> Hook:
    """Make the receiver."""
    return Hook()
