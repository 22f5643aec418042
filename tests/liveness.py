"""Whether a process still does anything."""

import psutil


def lives(process: psutil.Process) -> bool:
    """Tell whether a process still does anything; a zombie only waits to be reaped."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
