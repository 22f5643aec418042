"""A real Postfix with a folder of its own: takes mails for a next server, and logs."""

import os
import pwd
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from services.machine.ports import free_ports
from tests.integration.deliverer.waiting import until

POSTFIX: Final = Path("/usr/sbin/postfix")
POSTCONF: Final = POSTFIX.with_name("postconf")
_MAIN: Final = """\
compatibility_level = 3.6
queue_directory = {folder}/spool
data_directory = {folder}/data
maillog_file = {folder}/mail.log
maillog_file_prefixes = {folder}
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
myhostname = relay.aldebaran.example
mydestination =
local_recipient_maps =
relayhost = [127.0.0.1]:{next_port}
smtp_tls_security_level = none
smtpd_relay_restrictions = permit_mynetworks, reject
notify_classes =
alias_maps =
alias_database =
"""
_PROGRAMS: Final = """\
{port}  inet       n - n -     - smtpd
cleanup unix       n - n -     0 cleanup
qmgr    unix       n - n 300   1 qmgr
rewrite unix       - - n -     - trivial-rewrite
bounce  unix       - - n -     0 bounce
defer   unix       - - n -     0 bounce
trace   unix       - - n -     0 bounce
smtp    unix       - - n -     - smtp
error   unix       - - n -     - error
retry   unix       - - n -     - error
anvil   unix       - - n -     1 anvil
scache  unix       - - n -     1 scache
flush   unix       n - n 1000? 0 flush
postlog unix-dgram n - n -     1 postlogd
"""


def complaint() -> str | None:
    """Say why no Postfix can be started here, or None."""
    if not POSTFIX.exists():
        return "no Postfix here: apt-get install postfix"
    return None if os.geteuid() == 0 else "Postfix is started by root only"


@dataclass
class Postfix:
    """One relay; its programs run as Debian's user postfix, so its folder must be open to them."""

    next_port: int
    port: int = field(default_factory=lambda: free_ports(1)[0])
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="postfix-")))

    @property
    def log_file(self) -> Path:
        return self.folder / "mail.log"

    def start(self) -> None:
        self.folder.chmod(0o755)
        for name in ("etc", "spool", "data"):
            (self.folder / name).mkdir()
        os.chown(self.folder / "data", pwd.getpwnam("postfix").pw_uid, -1)
        places = {"folder": self.folder, "port": self.port, "next_port": self.next_port}
        (self.folder / "etc" / "main.cf").write_text(_MAIN.format(**places))
        (self.folder / "etc" / "master.cf").write_text(_PROGRAMS.format(**places))
        self._told("start")
        until(lambda: b"daemon started" in self.log_file.read_bytes(), "Postfix runs")

    def stop(self) -> None:
        self._told("stop")
        shutil.rmtree(self.folder)

    def restrict(self, restriction: str = "permit_mynetworks, reject") -> None:
        """Ask this of every recipient from now on; sessions that are open go on as before."""
        changed = f"smtpd_relay_restrictions = {restriction}"
        command = [str(POSTCONF), "-c", str(self.folder / "etc"), changed]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
        self._told("reload")

    def _told(self, word: str) -> None:
        command = [str(POSTFIX), "-c", str(self.folder / "etc"), word]
        subprocess.run(command, check=True, capture_output=True, timeout=60)
