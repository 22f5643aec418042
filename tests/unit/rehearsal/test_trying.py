"""A try ends in time, leaves nothing behind, passes no secret on, and says why it failed."""

import os
import sys
import tempfile
import threading
from pathlib import Path

import pytest
from pydantic import SecretStr

from services.backbone.clock import SystemClock
from services.contracts.rehearsals import Rehearsal
from services.machine.waiting import wait_until
from services.rehearsal.settings import RehearsalSettings
from services.rehearsal.trying import Failed, Stopped, Trying, environment

REHEARSAL = Rehearsal(new="watch: x")
ANSWERS = """
import sys
at = dict(zip(sys.argv[1::2], sys.argv[2::2]))
open(at["--answer"], "w").write('{"watch": "x", "refused": "%s %s"}' % (
    "watch: x" in open(at["--question"]).read(), at["--records"]))
"""


def trying(script: str, stop: threading.Event | None = None, **settings: float) -> Trying:
    at = RehearsalSettings.model_validate(settings)
    return Trying(at, SystemClock(), stop or threading.Event(), (sys.executable, "-c", script))


def test_the_program_reads_the_question_and_its_answer_comes_back() -> None:
    answer = trying(ANSWERS, rehearsal_records=77).answer(REHEARSAL)
    assert (answer.watch, answer.refused) == ("x", "True 77")


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("import time; time.sleep(600)", "ended after 0.5 s: take a shorter span"),
        ("import os; os._exit(3)", "more memory than it may"),
        ("import os; os.kill(os.getpid(), 9)", "more memory than it may"),
        ("raise SystemExit('Kafka: nobody is there')", "ended with 1: Kafka: nobody is there"),
        ("pass", "its answer cannot be read: "),
        (ANSWERS.replace("watch", "wat\\nch"), "its answer cannot be read: "),
    ],
)
def test_failures_say_what_to_do(script: str, said: str) -> None:
    seconds = 0.5 if "sleep" in script else 60
    with pytest.raises(Failed, match=said):
        trying(script, rehearsal_seconds=seconds).answer(REHEARSAL)


def test_a_temporary_folder_that_cannot_be_used_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    with pytest.raises(Failed, match=r"no room for a rehearsal: .*gone"):
        trying(ANSWERS).answer(REHEARSAL)


def test_it_ends_with_this_program_and_with_all_that_it_has_started(tmp_path: Path) -> None:
    stop, file = threading.Event(), tmp_path / "pid"
    script = f"""
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open({str(file)!r}, "w").write(str(child.pid))
time.sleep(600)"""

    def stop_when_started() -> None:
        while not (file.exists() and file.read_text()):
            stop.wait(0.01)
        stop.set()

    threading.Thread(target=stop_when_started).start()
    with pytest.raises(Stopped):
        trying(script, stop).answer(REHEARSAL)
    pid = int(file.read_text())
    wait_until(lambda: not _runs(pid), 30, "what it has started still runs")


def _runs(pid: int) -> bool:
    state = Path(f"/proc/{pid}/stat")
    return state.exists() and state.read_text().rpartition(")")[2].split()[0] != "Z"


def test_the_environment_holds_no_secret_but_how_to_reach_kafka(tmp_path: Path) -> None:
    at = RehearsalSettings(
        kafka_bootstrap_servers="kafka:1", auditor_kafka_options={"sasl": SecretStr("s")}
    )
    own = {
        "PATH": os.environ["PATH"],
        "ALDEBARAN_POSTGRES_URL": "postgresql://secret",
        "ALDEBARAN_OPERATOR_KEY": "secret",
        "ALDEBARAN_AUDITOR_WATCHES": "/watches",
    }
    assert environment(own, at, tmp_path) == {
        "PATH": os.environ["PATH"],
        "TMPDIR": str(tmp_path),
        "SPARK_LOCAL_DIRS": str(tmp_path),
        "ROCKSDB_SHAREDLIB_DIR": str(tmp_path),
        "ALDEBARAN_KAFKA_BOOTSTRAP_SERVERS": "kafka:1",
        "ALDEBARAN_AUDITOR_WATCHES": "/watches",
        "ALDEBARAN_AUDITOR_KAFKA_OPTIONS": '{"sasl": "s"}',
        "ALDEBARAN_AUDITOR_HEAP": "512m",
    }


def test_the_folders_that_all_programs_know_are_passed_on(tmp_path: Path) -> None:
    at = RehearsalSettings(streams_dir=Path("/streams"), watches_dir=Path("/watches"))
    told = environment({}, at, tmp_path)
    assert told["ALDEBARAN_STREAMS_DIR"] == "/streams"
    assert told["ALDEBARAN_WATCHES_DIR"] == "/watches"


def test_what_the_file_of_settings_says_of_auditors_is_passed_on(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(
        "auditor_slots: 32\nauditor_watches: /filed\nauditor_fail_on_data_loss: true\n"
        "postgres_url: postgresql://secret\n"
    )
    own = {"ALDEBARAN_SETTINGS_FILE": str(file), "ALDEBARAN_AUDITOR_WATCHES": "/named"}
    told = environment(own, RehearsalSettings(), tmp_path)
    assert told["ALDEBARAN_AUDITOR_SLOTS"] == "32"
    assert told["ALDEBARAN_AUDITOR_WATCHES"] == "/named"
    assert told["ALDEBARAN_AUDITOR_FAIL_ON_DATA_LOSS"] == "true"
    assert "ALDEBARAN_POSTGRES_URL" not in told
