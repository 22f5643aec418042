"""One setting for each folder of declarations is enough; a program's own name wins for it alone."""

from pathlib import Path

import pytest

from archivist.settings import ArchivistSettings
from auditor.settings import AuditorSettings
from services.backbone.settings import StreamsSettings, read_settings
from services.console.settings import ConsoleSettings
from services.contracts.streams import SHIPPED_STREAMS
from services.contracts.watches import SHIPPED_WATCHES
from services.gateway.amqp.settings import AmqpSettings
from services.gateway.settings import GatewaySettings
from services.heartbeat.settings import HeartbeatSettings
from services.topics.__main__ import TopicsSettings

STREAMS, WATCHES, OWN = Path("/streams"), Path("/watches"), Path("/own")
EVERY_READER: tuple[type[StreamsSettings], ...] = (
    AmqpSettings,
    ArchivistSettings,
    AuditorSettings,
    ConsoleSettings,
    GatewaySettings,
    HeartbeatSettings,
    TopicsSettings,
)


def folders() -> tuple[Path, Path, Path]:
    """Return where the auditor has streams and watches from, and the archivist streams."""
    auditor, archivist = read_settings(AuditorSettings), read_settings(ArchivistSettings)
    return auditor.auditor_streams, auditor.auditor_watches, archivist.archivist_streams


def test_what_is_shipped_is_read_where_nothing_is_said() -> None:
    assert folders() == (SHIPPED_STREAMS, SHIPPED_WATCHES, SHIPPED_STREAMS)


def test_the_names_of_all_programs_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALDEBARAN_STREAMS_DIR", str(STREAMS))
    monkeypatch.setenv("ALDEBARAN_WATCHES_DIR", str(WATCHES))
    assert folders() == (STREAMS, WATCHES, STREAMS)
    assert {read_settings(kind).streams_dir for kind in EVERY_READER} == {STREAMS}


@pytest.mark.parametrize(
    ("own", "expected"),
    [
        ("AUDITOR_STREAMS", (OWN, WATCHES, STREAMS)),
        ("AUDITOR_WATCHES", (STREAMS, OWN, STREAMS)),
        ("ARCHIVIST_STREAMS", (STREAMS, WATCHES, OWN)),
    ],
)
def test_a_programs_own_name_wins_from_wherever_it_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own: str, expected: tuple[Path, Path, Path]
) -> None:
    monkeypatch.setenv("ALDEBARAN_STREAMS_DIR", str(STREAMS))
    monkeypatch.setenv("ALDEBARAN_WATCHES_DIR", str(WATCHES))
    file = tmp_path / "settings.yaml"
    file.write_text(f"{own.lower()}: {OWN}\n")
    with monkeypatch.context() as here:
        here.setenv("ALDEBARAN_SETTINGS_FILE", str(file))
        assert folders() == expected
    monkeypatch.setenv(f"ALDEBARAN_{own}", str(OWN))
    assert folders() == expected
