"""`watch check`, `watch try`: whether a watch's file can be used, before any auditor sees it.
`watch list`: how those run that are used.
"""

import argparse
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final, TextIO

from services.aldebaran.rehearsals import add_try
from services.aldebaran.remarks import Remarks
from services.aldebaran.rows import show
from services.backbone.errors import Refused
from services.backbone.inherited import JAVAS_LOCALE, passed_on
from services.backbone.settings import StreamsSettings, read_settings, same_as
from services.backbone.web.client import ApiClient
from services.contracts.declarations import BadDeclaration, is_read, rename
from services.contracts.streams import load_streams
from services.contracts.watches import load_watch

ROOT: Final = Path(__file__).parents[2]
FINDS_JAVA: Final = ROOT / "services" / "machine" / "installation" / "prerequisites.py"
_UNMEASURED: Final = {
    "stopped": "stopped: it waits for a person",
    "paused": "paused",
    "runs": "no batch has ended yet",
}
"""What is said of a watch that an auditor tells of, but not what it costs."""


class CheckSettings(StreamsSettings):
    """What a check has to know of the auditors."""

    auditor_streams: Path = same_as("streams_dir")
    """The folder of streams that the auditors read, where it is another."""
    auditor_jars: Path | None = None
    """Folder of the jars that Spark gets from us; unset it is that of `tools`, if it is there."""
    tools: Path = ROOT / ".tools"
    """Where `make setup` put what it fetched."""


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands."""
    watch = commands.add_parser("watch", help="watches")
    actions = watch.add_subparsers(dest="action", required=True)
    check = actions.add_parser(
        "check", help="check a watch's file: its form, its streams, and its SQL where Spark is"
    )
    check.add_argument("file", type=Path)
    check.add_argument("--streams", type=Path, help="folder of streams (ALDEBARAN_STREAMS_DIR)")
    check.add_argument("--form-only", action="store_true", help="do not start Spark")
    add_try(actions)
    listed = actions.add_parser("list", help="every watch: how it runs, and what it costs")
    listed.add_argument("--json", action="store_true", help="a line of JSON each")


def list_all(chosen: argparse.Namespace, client: ApiClient, out: TextIO) -> int:
    """List every watch, and what is wrong with the files that cannot be used."""
    told = client.ask("GET", "/v1/watches")
    show(told["rows"], chosen.json, out, _line)
    remarks = Remarks(out, chosen.json)
    for problem in told["problems"]:
        remarks.say(problem)
    return 0


def _line(each: dict[str, Any]) -> str:
    figures = each["figures"]
    if figures is None:
        return f"{each['watch']}: {'paused' if each['paused'] else 'no auditor tells of it'}"
    state = "stopped" if figures["stopped"] else "paused" if each["paused"] else "runs"
    if figures["processors"] is None:
        return f"{each['watch']}: {_UNMEASURED[state]}"
    rows, found = figures["rows_per_second"] or 0.0, figures["findings_per_second"] or 0.0
    memory, disk = (figures["state_bytes"] or 0) / 2**20, (figures["state_disk_bytes"] or 0) / 2**20
    return (
        f"{each['watch']}: {state}, {rows:.0f} rows/s, {found:.1f} findings/s, "
        f"{figures['processors']:.2g} processors, "
        f"state {memory:.1f} MiB memory, {disk:.1f} MiB disk"
    )


def check(chosen: argparse.Namespace, out: TextIO) -> int:
    """Check a file; the form at once, the SQL by the auditor's own check.

    Raises:
        Refused: what is wrong, with file and line.
    """
    if not is_read(chosen.file.name):
        raise Refused(rename(chosen.file))
    settings = read_settings(CheckSettings)
    streams = chosen.streams or settings.auditor_streams
    try:
        declared = load_watch(chosen.file)
        declared.check_streams(load_streams(streams))
    except (BadDeclaration, ValueError) as error:
        raise Refused(str(error)) from None
    out.write(f"{declared.watch}: its form is right\n")
    if chosen.form_only or importlib.util.find_spec("pyspark") is None:
        out.write("its SQL was not checked: that takes Spark\n")
        return 0
    command = [sys.executable, "-m", "auditor", "check", str(chosen.file.resolve())]
    told = {**passed_on(os.environ), **_told_to_the_auditor(settings, streams), **JAVAS_LOCALE}
    out.flush()
    return subprocess.run(command, cwd=ROOT, env=told | _java(), check=False).returncode


def _told_to_the_auditor(settings: CheckSettings, streams: Path) -> dict[str, str]:
    """Paths are whole: the auditor is started in another folder."""
    told = {
        "PYTHONPATH": f"{ROOT}:{ROOT / 'spark-apps'}",
        "ALDEBARAN_AUDITOR_STREAMS": str(streams.resolve()),
    }
    jars = settings.auditor_jars or settings.tools / "jars" / "spark"
    return told | ({"ALDEBARAN_AUDITOR_JARS": str(jars.resolve())} if jars.is_dir() else {})


def _java() -> dict[str, str]:
    """Return which Java Spark is to start, the one of `make run`; where there is none, nothing."""
    command = [sys.executable, str(FINDS_JAVA), "java-home"]
    found = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    return {"JAVA_HOME": home} if (home := found.stdout.strip()) else {}
