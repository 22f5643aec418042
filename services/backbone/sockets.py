"""What a socket tells before anybody reads from it."""

import select


def has_news(descriptor: int) -> bool:
    """Tell, without asking the other side, whether something came that nobody has read.

    On a connection that nobody waits for it is mostly a goodbye.
    """
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
