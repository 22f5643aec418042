"""`watch check`, `watch try`: whether a watch's file can be used, before any auditor sees it."""

import argparse
import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from typing import Final, TextIO

from services.aldebaran.rehearsals import add_try
from services.backbone.errors import Refused
from services.contracts.declarations import BadDeclaration
from services.contracts.streams import SHIPPED_STREAMS, load_streams
from services.contracts.watches import load_watch

ROOT: Final = Path(__file__).parents[2]


def add_commands(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the commands."""
    watch = commands.add_parser("watch", help="watches")
    actions = watch.add_subparsers(dest="action", required=True)
    check = actions.add_parser(
        "check", help="check a watch's file: its form, its streams, and its SQL where Spark is"
    )
    check.add_argument("file", type=Path)
    check.add_argument("--streams", type=Path, default=SHIPPED_STREAMS, help="folder of streams")
    check.add_argument("--form-only", action="store_true", help="do not start Spark")
    add_try(actions)


def check(chosen: argparse.Namespace, out: TextIO) -> int:
    """Check a file; the form at once, the SQL by the auditor's own check.

    Raises:
        Refused: what is wrong, with file and line.
    """
    try:
        declared = load_watch(chosen.file)
        declared.check_streams(load_streams(chosen.streams))
    except (BadDeclaration, ValueError) as error:
        raise Refused(str(error)) from None
    out.write(f"{declared.watch}: its form is right\n")
    if chosen.form_only or importlib.util.find_spec("pyspark") is None:
        out.write("its SQL was not checked: that takes Spark\n")
        return 0
    paths = {"PYTHONPATH": f"{ROOT}:{ROOT / 'spark-apps'}"}
    command = [sys.executable, "-m", "auditor", "check", str(chosen.file.resolve())]
    out.flush()
    return subprocess.run(command, cwd=ROOT, env=os.environ | paths, check=False).returncode
