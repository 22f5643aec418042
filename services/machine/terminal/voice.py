"""What the user is shown on standard output; that nobody can read it ends nothing."""

import os
import sys


def say(text: str) -> None:
    """Show text to the user at once; where it cannot be written, all goes on without it."""
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except OSError:  # the disk is full, or what stood behind the pipe has ended
        _forget_unwritten()


def _forget_unwritten() -> None:
    """Python would try again at its own end, complain of it, and exit with 120."""
    shown = sys.stdout.fileno()
    kept = os.dup(shown)
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), shown)
    sys.stdout.flush()
    os.dup2(kept, shown)
    os.close(kept)
