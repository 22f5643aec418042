"""Whose cancellation an `asyncio.CancelledError` is."""

import asyncio


def is_cancelled() -> bool:
    """Tell whether somebody ends this task; a client may pass its own cancelled future on to us.

    aiormq does so with all that it has been asked when no heartbeat comes.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
