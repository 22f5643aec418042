"""What the machine is, and what it was busy with: a figure without them says nothing."""

import os
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

import psutil


def machine() -> dict[str, str]:
    """Return what the machine is."""
    return {
        "cores": str(os.cpu_count()),
        "processor": _processor(),
        "memory": f"{psutil.virtual_memory().total / 2**30:.0f} GiB",
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "python": platform.python_version(),
    }


def machine_line(facts: Mapping[str, str] | None = None) -> str:
    """Return what a machine is, this one if no other is given, as a line of a report."""
    told = machine() if facts is None else facts
    return f"Machine: {', '.join(f'{name} {value}' for name, value in told.items())}."


def now() -> dict[str, str]:
    """Return the time and the load average, for beside what is measured now."""
    at = datetime.now(UTC).isoformat(timespec="minutes")
    return {"at": at, "load_average": Path("/proc/loadavg").read_text().rsplit(" ", 2)[0]}


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.processor()
