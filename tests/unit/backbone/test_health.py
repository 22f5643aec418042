"""Health pages: 200 while well, 503 with the reasons while not; live failing means not ready."""

from starlette.applications import Starlette
from starlette.testclient import TestClient

from services.backbone.health import Health, health_routes


def client(health: Health) -> TestClient:
    return TestClient(Starlette(routes=health_routes(health)))


def test_a_well_program_is_live_and_ready() -> None:
    health = Health()
    health.add_ready("broker", lambda: None)
    http = client(health)
    assert http.get("/healthz/live").json() == {"status": "ok", "failures": {}}
    assert http.get("/healthz/ready").status_code == 200


def test_a_program_is_not_ready_before_it_says_what_it_depends_on() -> None:
    http = client(Health())
    assert http.get("/healthz/live").status_code == 200
    assert http.get("/healthz/ready").json()["failures"] == {"start": "the program is starting"}


def test_a_missing_dependency_fails_ready_only() -> None:
    health = Health()
    health.add_ready("broker", lambda: "cannot be reached")
    http = client(health)
    assert http.get("/healthz/live").status_code == 200
    answer = http.get("/healthz/ready")
    assert answer.status_code == 503
    assert answer.json()["failures"] == {"broker": "cannot be reached"}


def test_a_stuck_program_is_neither() -> None:
    health = Health()
    health.add_live("loop", lambda: "no progress for 30 s")
    http = client(health)
    assert http.get("/healthz/live").status_code == 503
    assert http.get("/healthz/ready").status_code == 503


def test_metrics_are_prometheus_text() -> None:
    answer = client(Health()).get("/metrics")
    assert answer.status_code == 200
    assert "python_info" in answer.text
