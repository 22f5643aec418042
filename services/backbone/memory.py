"""Python's collector, told what was loaded."""

import gc


def forget_loaded() -> None:
    """Let the collector never again walk what exists now: modules, settings, clients.

    A full walk of it stops a program for 50 ms and more, in the middle of its work.
    """
    gc.collect()
    gc.freeze()
