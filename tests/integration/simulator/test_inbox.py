"""The inbox as a program: real SMTP and HTTP clients, live faults, counts after a restart."""

import os
import signal
import smtplib
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import EmailMessage
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2
import psutil
import pytest

from services.backbone.settings import EXIT_BAD_SETTINGS
from services.machine.ports import free_ports
from services.machine.waiting import wait_until

PATIENCE_SECONDS = 30
get = partial(httpx2.get, timeout=PATIENCE_SECONDS)
post = partial(httpx2.post, timeout=PATIENCE_SECONDS)


@dataclass(frozen=True)
class Inbox:
    home: Path
    smtp_port: int
    hook: str
    pages: str

    def dial(self, **dials: object) -> httpx2.Response:
        return post(f"{self.pages}/dials", json=dials)

    def received(self, way: str) -> dict[str, Any]:
        counts: dict[str, Any] = get(f"{self.pages}/received").json()[way]
        return counts

    def mail(self, delivery_id: str) -> None:
        message = EmailMessage()
        message["Message-ID"] = f"<{delivery_id}@example.org>"
        message["From"], message["To"] = "watch@example.org", "desk@example.org"
        message["Subject"] = "Something happened"
        message.set_content("See the page.")
        with smtplib.SMTP("127.0.0.1", self.smtp_port, timeout=PATIENCE_SECONDS) as client:
            client.send_message(message)

    def post(self, delivery_id: str) -> httpx2.Response:
        headers = {"Idempotency-Key": f'"{delivery_id}"'}
        return post(self.hook, json={"text": "Something happened"}, headers=headers)


COMMAND = (sys.executable, "-m", "services.simulator.inbox")


def told(home: Path, smtp: int, hook: int, pages: int) -> dict[str, str]:
    return os.environ | {
        "ALDEBARAN_HOME": str(home),
        "ALDEBARAN_HTTP_PORT": str(pages),
        "ALDEBARAN_INBOX_SMTP_PORT": str(smtp),
        "ALDEBARAN_INBOX_HOOK_PORT": str(hook),
    }


@contextmanager
def begun(home: Path) -> Iterator[tuple[Inbox, "subprocess.Popen[bytes]"]]:
    smtp, hook, pages = free_ports(3)
    output = (home / "output").open("a")
    environment = told(home, smtp, hook, pages)
    process = subprocess.Popen(COMMAND, env=environment, stdout=output, stderr=output)
    inbox = Inbox(home, smtp, f"http://127.0.0.1:{hook}/hook", f"http://127.0.0.1:{pages}")
    try:
        yield inbox, process
    finally:
        process.kill()
        process.wait()
        output.close()


@contextmanager
def running(home: Path) -> Iterator[Inbox]:
    with begun(home) as (inbox, process):
        wait_until(lambda: ready(inbox), 60, f"the inbox: {(home / 'output').read_text()}")
        yield inbox
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0, (home / "output").read_text()


def ready(inbox: Inbox) -> bool:
    return status(inbox, "healthz/ready") == 200


def status(inbox: Inbox, page: str) -> int | None:
    try:
        return get(f"{inbox.pages}/{page}").status_code
    except httpx2.TransportError:
        return None


@pytest.fixture
def inbox(tmp_path: Path) -> Iterator[Inbox]:
    with running(tmp_path) as started:
        yield started


def test_what_is_sent_is_kept_shown_and_counted_also_after_a_restart(tmp_path: Path) -> None:
    with running(tmp_path) as inbox:
        inbox.mail("a1")
        assert inbox.post("b1").status_code == 200
        assert inbox.post("b1").status_code == 200
    with running(tmp_path) as inbox:
        assert inbox.received("mail")["ids"] == {"a1": 1}
        assert inbox.received("hook")["repeats"] == {"b1": 2}
    (kept,) = (tmp_path / "mail" / "new").iterdir()
    assert b"See the page." in kept.read_bytes()
    shown = (tmp_path / "output").read_text()
    assert "mail  accepted desk@example.org: Something happened" in shown
    assert 'hook  accepted b1: {"text":"Something happened"}' in shown


@contextmanager
def disk_full_after(size_bytes: int, pid: int) -> Iterator[None]:
    """Let no file of another process become larger."""
    process = psutil.Process(pid)
    before = process.rlimit(psutil.RLIMIT_FSIZE)
    process.rlimit(psutil.RLIMIT_FSIZE, (size_bytes, before[1]))
    yield
    process.rlimit(psutil.RLIMIT_FSIZE, before)


@pytest.mark.skipif(not hasattr(psutil.Process, "rlimit"), reason="only Linux limits another")
@pytest.mark.parametrize("room_bytes", [0, 1000], ids=["for nothing", "for a mail alone"])
def test_what_a_full_disk_does_not_take_comes_again_and_counts_once(
    tmp_path: Path, room_bytes: int
) -> None:
    with begun(tmp_path) as (inbox, process):
        wait_until(lambda: ready(inbox), 60, "the inbox")
        assert post(inbox.hook, content=b"x" * 2 * room_bytes).status_code == 200
        with disk_full_after(room_bytes, process.pid):
            with pytest.raises(smtplib.SMTPDataError) as refused:
                inbox.mail("a1")
            assert (refused.value.smtp_code, inbox.post("b1").status_code) == (452, 503)
            assert list((tmp_path / "mail" / "new").iterdir()) == []
        inbox.mail("a1")
        assert inbox.post("b1").status_code == 200
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    with running(tmp_path) as inbox:
        mails, hooks = inbox.received("mail"), inbox.received("hook")
    assert (mails["ids"], hooks["ids"]["b1"]) == ({"a1": 1}, 1)
    assert mails["repeats"] == hooks["repeats"] == {}


def test_it_is_alive_and_not_ready_while_it_counts_what_came_before(tmp_path: Path) -> None:
    (tmp_path / "inbox").mkdir()
    os.mkfifo(tmp_path / "inbox" / "received.jsonl")  # its reader waits
    with begun(tmp_path) as (inbox, _):
        wait_until(lambda: status(inbox, "healthz/live") == 200, 60, "the page does not open")
        assert status(inbox, "healthz/ready") == 503
        assert status(inbox, "received") == 503


@pytest.mark.parametrize(
    ("send", "way", "closed"),
    [
        (Inbox.mail, "mail", smtplib.SMTPServerDisconnected),
        (Inbox.post, "hook", httpx2.RemoteProtocolError),
    ],
)
def test_a_dropped_message_is_kept_and_nobody_is_told(
    inbox: Inbox, send: Callable[[Inbox, str], object], way: str, closed: type[Exception]
) -> None:
    inbox.dial(**{way: {"accept_then_drop_share": 1}})
    with pytest.raises(closed):
        send(inbox, "a1")
    counts = inbox.received(way)
    assert (counts["ids"], counts["dropped"], counts["accepted"]) == ({"a1": 1}, 1, 0)
    inbox.dial(**{way: {"accept_then_drop_share": 0}})
    send(inbox, "a1")
    assert inbox.received(way)["repeats"] == {"a1": 2}


@pytest.mark.parametrize("status", [451, 550])
def test_the_mail_server_refuses_as_told_and_keeps_nothing(inbox: Inbox, status: int) -> None:
    inbox.dial(mail={"refuse_share": 1, "refuse_status": status})
    with pytest.raises(smtplib.SMTPDataError) as refused:
        inbox.mail("a1")
    assert refused.value.smtp_code == status
    assert inbox.received("mail") == inbox.received("mail") | {"ids": {}, "refused": 1}


def test_the_webhook_refuses_as_told_with_the_time_to_come_again(inbox: Inbox) -> None:
    refusal = {"refuse_share": 1, "refuse_status": 429, "retry_after_seconds": 3}
    assert inbox.dial(hook=refusal).status_code == 200
    answer = inbox.post("b1")
    assert (answer.status_code, answer.headers["retry-after"]) == (429, "3")
    assert inbox.received("hook") == inbox.received("hook") | {"ids": {}, "refused": 1}


def test_other_requests_are_answered_and_not_counted(inbox: Inbox) -> None:
    assert post(inbox.hook + "s", content=b"x").status_code == 404
    too_large = post(inbox.hook, content=b"x" * 1_100_000)
    assert too_large.status_code == 413
    assert inbox.received("hook")["accepted"] == 0
    assert inbox.dial(hook={"colour": 1}).status_code == 422
    assert b"aldebaran_inbox_arrivals_total" in get(f"{inbox.pages}/metrics").content


def test_the_page_shows_every_dial_of_every_provider(inbox: Inbox) -> None:
    answer = inbox.dial(twilio={"undelivered_share": 1})
    assert answer.status_code == 200
    shown = get(f"{inbox.pages}/dials").json()
    assert shown == answer.json()
    assert shown["twilio"]["undelivered_share"] == 1


def test_a_request_that_ends_half_way_is_not_taken(inbox: Inbox) -> None:
    host, _, port = urlsplit(inbox.hook).netloc.partition(":")
    with socket.create_connection((host, int(port))) as sender:
        head = "POST /hook HTTP/1.1\r\nIdempotency-Key: half\r\nContent-Length: 100\r\n\r\n"
        sender.sendall(head.encode() + b'{"text": "Some')
        sender.shutdown(socket.SHUT_WR)
        assert sender.recv(100) == b""
    assert inbox.received("hook") == inbox.received("hook") | {"ids": {}, "refused": 0}


def test_a_port_that_is_taken_is_told_with_its_number(tmp_path: Path) -> None:
    smtp, *others = free_ports(3)
    with socket.create_server(("127.0.0.1", smtp)):
        environment = told(tmp_path, smtp, *others)
        ended = subprocess.run(
            COMMAND, env=environment, capture_output=True, text=True, check=False
        )
    assert ended.returncode == EXIT_BAD_SETTINGS
    assert f"cannot listen on port {smtp}" in ended.stdout + ended.stderr


def test_what_apples_part_cannot_use_is_told_by_its_own_name(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for folder, complaint in (
            (tmp_path / "apple", f"cannot listen on port {port}"),
            (tmp_path / "file" / "apple", f"inbox_apns_folder {tmp_path / 'file' / 'apple'}"),
        ):
            own = {"ALDEBARAN_INBOX_APNS_PORT": port, "ALDEBARAN_INBOX_APNS_FOLDER": str(folder)}
            ended = subprocess.run(
                COMMAND,
                env=told(tmp_path, *free_ports(3)) | own,
                capture_output=True,
                text=True,
                check=False,
            )
            assert ended.returncode == EXIT_BAD_SETTINGS
            assert complaint in ended.stdout + ended.stderr
