"""Who works with this process, as what people do is kept with their names."""

import getpass
import os


def own_name() -> str:
    """Return the user's name; a container's user may have none, and goes by its number."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # the second from Python 3.13 on
        return f"uid {os.getuid()}"
