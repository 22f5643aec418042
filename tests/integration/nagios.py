"""A real Nagios with a folder of its own, started by tests and killed at will."""

import getpass
import grp
import os
import signal
import subprocess
from pathlib import Path

from services.deliverer.channels.nagios.status_file import Shown, Status, read_status
from services.deliverer.channels.nagios.wording import Place
from tests.integration.deliverer.waiting import until
from tests.said import whole_lines, written_to

NAGIOS = Path("/usr/sbin/nagios4")
EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "nagios" / "aldebaran.cfg"
"""The shipped objects; Debian's own files define what they build on."""

_SETTINGS = """\
cfg_file={folder}/aldebaran.cfg
cfg_file={folder}/surroundings.cfg
log_file={folder}/nagios.log
object_cache_file={folder}/objects.cache
status_file={folder}/status.dat
status_update_interval=1
state_retention_file={folder}/retention.dat
lock_file={folder}/nagios.pid
temp_file={folder}/nagios.tmp
temp_path={folder}
check_result_path={folder}/spool
check_result_reaper_frequency=1
max_check_result_file_age=1
command_file={folder}/nagios.cmd
query_socket={folder}/nagios.qh
nagios_user={user}
nagios_group={group}
check_external_commands=1
log_passive_checks=1
use_syslog=0
check_workers=1
check_for_updates=0
retain_state_information=1
"""
_SURROUNDINGS = """\
define timeperiod {
  timeperiod_name 24x7
  alias always
  sunday 00:00-24:00
  monday 00:00-24:00
  tuesday 00:00-24:00
  wednesday 00:00-24:00
  thursday 00:00-24:00
  friday 00:00-24:00
  saturday 00:00-24:00
}
define contact {
  contact_name desk
  host_notification_period 24x7
  service_notification_period 24x7
  host_notification_options d,u,r
  service_notification_options w,u,c,r
  host_notification_commands aldebaran-quiet
  service_notification_commands aldebaran-quiet
}
define contactgroup {
  contactgroup_name admins
  alias admins
  members desk
}
define host {
  host_name machine
  check_command aldebaran-quiet
  max_check_attempts 1
  active_checks_enabled 0
  passive_checks_enabled 1
  notification_period 24x7
  contact_groups admins
}
"""


def complaint() -> str | None:
    """Say why no Nagios can be started here, or None."""
    return None if NAGIOS.exists() else "no Nagios here: apt-get install nagios4-core"


class Nagios:
    """One Nagios; the shipped objects, and a host `machine` that takes passive results."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.spool = folder / "spool"
        self.spool.mkdir(parents=True)
        self._running: subprocess.Popen[bytes] | None = None
        user, group = getpass.getuser(), grp.getgrgid(os.getgid()).gr_name
        settings = _SETTINGS.format(folder=folder, user=user, group=group)
        (folder / "nagios.cfg").write_text(settings)
        (folder / "surroundings.cfg").write_text(_SURROUNDINGS)
        (folder / "aldebaran.cfg").write_bytes(EXAMPLE.read_bytes())

    @property
    def command_file(self) -> Path:
        return self.folder / "nagios.cmd"

    @property
    def status_file(self) -> Path:
        return self.folder / "status.dat"

    @property
    def log_file(self) -> Path:
        return self.folder / "nagios.log"

    def start(self) -> None:
        with (self.folder / "out.log").open("ab") as out:
            self._running = subprocess.Popen(
                [NAGIOS, self.folder / "nagios.cfg"], stdout=out, stderr=out
            )
        pid = self._running.pid
        until(lambda: self.status().started_seconds and self._reads_as(pid), "Nagios runs")

    def _reads_as(self, pid: int) -> bool:
        return f"nagios_pid={pid}" in self._status_text() and self._has_reader()

    def _has_reader(self) -> bool:
        try:
            os.close(os.open(self.command_file, os.O_WRONLY | os.O_NONBLOCK))
        except OSError:
            return False
        return True

    def status(self) -> Status:
        return read_status(self._status_text().splitlines())

    def _status_text(self) -> str:
        """Nagios removes the file of its earlier run while it starts."""
        try:
            return self.status_file.read_text()
        except FileNotFoundError:
            return ""

    def shown(self, recipient: str) -> Shown:
        return self.status().shown[Place.of(recipient)]

    def logged(self, kind: str, word: str) -> list[str]:
        """Return log lines of a kind that hold a word."""
        lines = whole_lines(written_to(self.log_file))
        return [line for line in lines if f"] {kind}: " in line and word in line]

    def kill(self) -> None:
        """Let it die at once; its helpers notice and end by themselves."""
        if self._running is not None:
            self._running.send_signal(signal.SIGKILL)
            self._running.wait(30)
            self._running = None
            until(lambda: not self._has_reader(), "its reader of commands ends")
