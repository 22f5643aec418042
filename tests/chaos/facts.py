"""What a run was made on, and how busy it was."""

import platform

import psutil


def machine() -> str:
    """Return what the run was made on."""
    gibibytes = psutil.virtual_memory().total / 2**30
    return f"{psutil.cpu_count()} cores, {gibibytes:.0f} GiB, {platform.system()}"


def load() -> str:
    """Return the load averages over 1, 5 and 15 minutes."""
    return ", ".join(f"{each:.1f}" for each in psutil.getloadavg())
