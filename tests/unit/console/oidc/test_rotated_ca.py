"""A CA file of the login provider that is replaced counts for the next login."""

import asyncio
import ssl
from contextlib import suppress
from pathlib import Path

from services.backbone.clock import SystemClock
from services.backbone.web.problems import Problem
from services.console.oidc.provider import Provider
from tests.integration.rabbitmq import CERTIFICATE
from tests.unit.console.oidc.test_provider import SETTINGS
from tests.unit.deliverer.test_rotated_ca import STRANGERS, FarEnd


async def test_a_new_ca_is_trusted_by_a_console_that_runs(tmp_path: Path) -> None:
    ca_file = tmp_path / "ca.pem"
    ca_file.write_text(STRANGERS.certificate)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATE)
    there = FarEnd()
    async with await asyncio.start_server(there.serve, "127.0.0.1", 0, ssl=context) as server:
        there.port = server.sockets[0].getsockname()[1]
        told = {"console_oidc_issuer": there.url, "console_oidc_ca_file": str(ca_file)}
        provider = Provider(SETTINGS.model_copy(update=told), SystemClock())
        await asyncio.to_thread(ask, provider)
        assert there.trusted == 0
        ca_file.write_bytes(CERTIFICATE.read_bytes())
        await asyncio.to_thread(ask, provider)
        assert there.trusted
        provider.close()


def ask(provider: Provider) -> None:
    with suppress(Problem):
        provider.pages()
