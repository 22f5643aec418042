"""One sender's slow bodies do not keep the gateway from the others, and the log names its key."""

import socket
from contextlib import ExitStack
from pathlib import Path

import httpx2
import orjson
import pytest

from services.backbone.web.keys import new_key
from services.gateway.senders import entry
from services.machine.ports import free_ports
from tests.integration.gateway.conftest import StartGateway
from tests.integration.gateway.reading import Stream, event, wait_until
from tests.said import said, written_to

pytestmark = pytest.mark.kafka

GATEWAY = "services.gateway"
ANNOUNCED_BYTES = 4 * 1024 * 1024


@pytest.mark.parametrize(
    ("announced_bytes", "limits"),
    [
        (ANNOUNCED_BYTES, {}),
        (1000, {"inflight_limit_requests": "16"}),
    ],
    ids=["bytes", "requests"],
)
def test_slow_bodies_of_one_key_leave_half_of_the_room_to_the_others(
    announced_bytes: int,
    limits: dict[str, str],
    start_program: StartGateway,
    stream: Stream,
    tmp_path: Path,
) -> None:
    (port,), keys = free_ports(1), {name: new_key() for name in ("desk", "greedy")}
    file, url = tmp_path / "keys.yaml", f"http://127.0.0.1:{port}"
    file.write_text("keys:\n" + "".join(entry(name, key, ["*"]) for name, key in keys.items()))
    start_program(
        GATEWAY,
        port,
        kafka_bootstrap_servers=stream.bootstrap,
        api_keys_file=str(file),
        body_timeout_seconds="300",
        **limits,
    )

    def post(key: str) -> httpx2.Response:
        headers, body = {"authorization": f"Bearer {keys[key]}"}, orjson.dumps(event(key))
        return httpx2.post(url + stream.path, content=body, headers=headers, timeout=30)

    head = (
        f"POST {stream.path} HTTP/1.1\r\nHost: gateway\r\nX-API-Key: {keys['greedy']}\r\n"
        f"Content-Length: {announced_bytes}\r\n\r\n{{"
    )
    assert post("desk").status_code == 200
    with ExitStack() as held:
        for _ in range(16):
            slow = held.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
            slow.sendall(head.encode())
        wait_until(lambda: post("greedy").status_code == 429, "the key to have its share")
        assert "greedy" in post("greedy").json()["detail"]
        assert post("desk").status_code == 200
    told = said(written_to(tmp_path / f"{GATEWAY}.log"), "request_refused")
    assert [(each["caller"], each["most_held_by"]) for each in told] == [("greedy", "greedy")]
