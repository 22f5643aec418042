"""The disk under the checkpoints fills up and is freed again: the watch goes on."""

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.integration.auditor.running import Findings, Place, Running, Sender, wait_for
from tests.said import said

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.timeout(600)]

SIZE_MEBIBYTES = 16


def may_mount() -> bool:
    """Tell whether this user may have a file system of its own, in a namespace of its own."""
    unshare = shutil.which("unshare")
    if unshare is None:
        return False
    mount = [unshare, "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(mount, capture_output=True, check=False).returncode == 0


class SmallDisk:
    """The auditor's checkpoints on a file system of some mebibytes that only it sees."""

    def __init__(self, auditor: Running, folder: Path) -> None:
        self._seen_from_here = Path(f"/proc/{auditor.process.pid}/root") / folder.relative_to("/")

    @property
    def _ballast(self) -> Path:
        return self._seen_from_here / "ballast"

    def fill(self) -> None:
        try:
            with self._ballast.open("wb", buffering=0) as file:
                while True:
                    file.write(bytes(64 * 1024))
        except OSError as error:
            assert "No space" in str(error)  # noqa: PT017 - the loop ends in no other way

    def free(self) -> None:
        self._ballast.unlink()


def failures(auditor: Running) -> list[str]:
    lines = said(auditor.log())
    return [str(line["trouble"]) for line in lines if line["event"] == "watch_failed"]


@pytest.mark.skipif(not may_mount(), reason="needs unprivileged user namespaces (unshare -rm)")
@pytest.mark.long
def test_full_disk_is_waited_out(place: Place) -> None:
    place.declare("over-purchase")
    sender, alerts = Sender(place), Findings(place)
    folder = place.folder / "checkpoints"
    folder.mkdir()
    mount = f"mount -t tmpfs -o size={SIZE_MEBIBYTES}m none {folder}"
    wrapped = ["unshare", "-rm", "sh", "-c", f'{mount} && exec "$0" "$@"']
    with place.auditor(wrapped=wrapped) as auditor:
        auditor.wait_until_ready()
        disk = SmallDisk(auditor, folder)
        sender.request("across", 1)
        sender.flush()
        wait_for("a batch", lambda: auditor.metric("aldebaran_auditor_batches_total", WATCH) >= 1)
        disk.fill()
        wait_for("the query fails", lambda: failures(auditor) != [])
        disk.free()
        sender.purchase("across-p", "across", 2)
        sender.flush()
        alerts.wait_for("across")
        assert set(failures(auditor)) == {"outside"}
        assert auditor.metric("aldebaran_auditor_checkpoints_set_aside_total", WATCH) == 0
        assert auditor.terminate() == 0, auditor.log()[-3000:]


WATCH = "over-purchase"
