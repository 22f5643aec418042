"""How far groups are behind, asked by a process of its own: what its end costs, and what ends it.

The tests end it by hand: the fault for which it is apart takes a coordinator that moves in the
moment of a question, which no test can bring about at will.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import uuid
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, closing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copyfile
from typing import Final

import psutil
import pytest
from pydantic import SecretStr

from services.backbone.clock import SystemClock
from services.backbone.errors import Refused, Transient
from services.backbone.kafka.admin import TopicAdmin
from services.backbone.kafka.lag import Lag
from services.backbone.kafka.lag_apart import LagApart
from services.backbone.kafka.producer import ProducerSettings
from services.backbone.settings import KafkaSettings
from services.contracts.topics import Topic
from services.machine.waiting import wait_until
from tests.integration.backbone.test_lag import make_again, settle, told_of, write
from tests.metrics import ROOT

pytestmark = pytest.mark.kafka

AWAY: Final = "127.0.0.1:9"
WORKER: Final = "services.backbone.kafka.lag_worker"
SOON_SECONDS: Final = 0.3
"""A question has begun by then; sooner would do too, as then it meets what has ended."""
WITHIN_SECONDS: Final = 20.0

MANY: Final = tuple(f"topic-{n:0200}" for n in range(1000))
"""Names of more bytes than a pipe holds."""


def workers_of(parent: int) -> list[int]:
    """Return the numbers of the processes that ask for a process."""
    return [each.pid for each in psutil.Process(parent).children() if asks(each)]


def asks(process: psutil.Process) -> bool:
    with suppress(psutil.NoSuchProcess):
        return WORKER in process.cmdline()
    return False


@dataclass
class Apart:
    """A reader, its group's lag as it has to be, and the event that ends it."""

    reader: LagApart
    lag: Lag
    stop: threading.Event

    def asks(self) -> int:
        """Let it answer; return the number of the process that did."""
        assert self.lag in self.reader.read().lags
        (worker,) = workers_of(os.getpid())
        return worker


@pytest.fixture
def apart(kafka_bootstrap: str) -> Iterator[Apart]:
    settings = ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap)
    name, group = f"t{uuid.uuid4().hex}", f"0{uuid.uuid4().hex}"
    TopicAdmin(settings, "test").declare([Topic(name)])
    write(settings, name, 3)
    settle(kafka_bootstrap, name, [group])
    stop = threading.Event()
    reader = LagApart(settings, "test", {name, *MANY}, SystemClock(), stop, WITHIN_SECONDS)
    lag = Lag(group, name, 2, has_members=False)
    with closing(reader):
        yield Apart(reader, lag, stop)
    assert workers_of(os.getpid()) == []


def opened(
    options: dict[str, str], own: Collection[str] = (), within_seconds: float = WITHIN_SECONDS
) -> AbstractContextManager[LagApart]:
    """Return a reader whose brokers are away."""
    secret = {name: SecretStr(value) for name, value in options.items()}
    settings = KafkaSettings(kafka_bootstrap_servers=AWAY, kafka_options=secret)
    stop = threading.Event()
    return closing(LagApart(settings, "test", own, SystemClock(), stop, within_seconds))


def later(worker: int, *signals: signal.Signals) -> threading.Timer:
    """Send signals to a process in the middle of a question."""

    def send() -> None:
        for each in signals:
            os.kill(worker, each)

    timer = threading.Timer(SOON_SECONDS, send)
    timer.start()
    return timer


def test_one_process_answers_again_and_again_out_of_a_terminals_reach(apart: Apart) -> None:
    first = apart.asks()
    assert apart.asks() == first
    assert os.getsid(first) == first


@pytest.mark.parametrize("by", [signal.SIGSEGV, signal.SIGKILL])
def test_its_end_between_questions_costs_one_answer(apart: Apart, by: signal.Signals) -> None:
    worker = apart.asks()
    os.kill(worker, by)
    with pytest.raises(Transient, match=rf"was ended by {by.name}.*; the next question starts it"):
        apart.reader.read()
    assert apart.asks() != worker


@pytest.mark.parametrize("by", [signal.SIGSEGV, signal.SIGKILL])
def test_its_end_while_asked_costs_one_answer(apart: Apart, by: signal.Signals) -> None:
    worker = apart.asks()
    os.kill(worker, signal.SIGSTOP)
    timer = later(worker, by, signal.SIGCONT)
    with pytest.raises(Transient, match=f"was ended by {by.name}"):
        apart.reader.read()
    timer.join()
    assert apart.asks() != worker


def test_its_end_forgets_no_topic_that_is_made_again(apart: Apart, kafka_bootstrap: str) -> None:
    os.kill(apart.asks(), signal.SIGKILL)
    with pytest.raises(Transient, match="was ended"):
        apart.reader.read()
    make_again(ProducerSettings(kafka_bootstrap_servers=kafka_bootstrap), apart.lag.topic)
    again = replace(apart.lag, records=1, made_again=True)
    wait_until(lambda: again in told_of(apart.reader), 60, "what is there waits")


def test_one_that_stands_still_is_ended_in_time(apart: Apart) -> None:
    worker = apart.asks()
    os.kill(worker, signal.SIGSTOP)
    with pytest.raises(Transient, match="said nothing for 20 s, and was ended"):
        apart.reader.read()
    assert apart.asks() != worker


def test_one_that_stands_still_before_its_errand_is_ended_in_time() -> None:
    def stand_still() -> None:
        wait_until(lambda: bool(workers_of(os.getpid())), 60, "it is started")
        (worker,) = workers_of(os.getpid())
        os.kill(worker, signal.SIGSTOP)

    thread = threading.Thread(target=stand_still)
    with opened({}, MANY, within_seconds=3.0) as reader:
        thread.start()
        with pytest.raises(Transient, match="said nothing for 3 s, and was ended"):
            reader.read()
        thread.join()
        assert workers_of(os.getpid()) == []


def test_nobody_waits_for_it_when_the_program_ends(apart: Apart) -> None:
    os.kill(apart.asks(), signal.SIGSTOP)
    threading.Timer(SOON_SECONDS, apart.stop.set).start()
    with pytest.raises(Transient, match="as the program ends"):
        apart.reader.read()


def test_brokers_that_do_not_answer_end_no_process() -> None:
    with opened({}) as reader:
        with pytest.raises(Transient, match=r"^Kafka: "):
            reader.read()
        (worker,) = workers_of(os.getpid())
        with pytest.raises(Transient, match=r"^Kafka: "):
            reader.read()
        assert workers_of(os.getpid()) == [worker]


def test_options_that_have_become_unusable_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "ca.pem"
    copyfile(ROOT / "tests/integration/deliverer/relay.pem", file)
    with opened({"security.protocol": "ssl", "ssl.ca.location": str(file)}) as reader:
        file.unlink()
        with pytest.raises(Refused, match=r"^ALDEBARAN_KAFKA_OPTIONS: .*ssl\.ca\.loc") as caught:
            reader.read()
    assert str(file) not in str(caught.value)


def test_no_secret_is_seen_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"sasl.password": "hunter2"}
    monkeypatch.setenv("ALDEBARAN_KAFKA_OPTIONS", json.dumps(options))
    with opened(options) as reader:
        with pytest.raises(Transient):
            reader.read()
        (worker,) = workers_of(os.getpid())
        seen = psutil.Process(worker)
        assert "PATH" in seen.environ()
        assert "hunter2" not in f"{seen.cmdline()} {seen.environ()}"


PROGRAM: Final = """
import sys, threading
from services.backbone.clock import SystemClock
from services.backbone.errors import Transient
from services.backbone.kafka.lag_apart import LagApart
from services.backbone.settings import KafkaSettings
settings = KafkaSettings(kafka_bootstrap_servers=sys.argv[1])
reader = LagApart(settings, "test", [], SystemClock(), threading.Event())
while True:
    try:
        reader.read()
    except Transient:
        pass
"""


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_of_it_when_its_program_is_killed(by: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", PROGRAM, AWAY], stderr=subprocess.PIPE) as program:
        try:
            wait_until(lambda: bool(workers_of(program.pid)), 60, "it is started")
            (worker,) = map(psutil.Process, workers_of(program.pid))
            program.send_signal(by)
            said = program.communicate(timeout=60)[1].decode()
        finally:
            program.kill()
    assert "Traceback" not in said
    wait_until(lambda: not asks(worker), 60, "it ends too")
