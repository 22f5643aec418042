"""A mail server that does not answer in time is no bad setting."""

import threading

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.handlers import Sink
from aiosmtpd.smtp import SMTP

from services.backbone.errors import Transient
from services.machine.ports import free_ports
from services.simulator.inbox.mail import start


class Busy(Controller):
    """Takes a connection, and answers it when it is let."""

    let = threading.Event()

    def factory(self) -> SMTP:
        self.let.wait()
        return SMTP(self.handler)


def test_a_machine_that_is_too_slow_just_now_is_tried_again() -> None:
    (port,) = free_ports(1)
    server = Busy(Sink(), hostname="127.0.0.1", port=port, ready_timeout=0.1)
    try:
        with pytest.raises(Transient, match=r"does not answer: SMTP server .* too busy"):
            start(server)
    finally:
        server.let.set()
        server.stop()
