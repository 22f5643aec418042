"""A connection to RabbitMQ that is lost, as few kinds of error, whatever its client says of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from aio_pika.exceptions import AMQPError

LOST: Final = (AMQPError, OSError)
"""What work with RabbitMQ within `told_as_lost` raises when its connection or channel is gone."""

_MEANWHILE: Final = "closed meanwhile"
_WITHOUT_REASON: Final = (Exception, StopAsyncIteration)


@contextmanager
def told_as_lost() -> Iterator[None]:
    """Raise ConnectionError for what the client raises of a loss and is none of LOST.

    Of a connection that ends just behind a frame it knows no reason: whoever waits gets a bare
    Exception, a handshake the end of its reader's iteration. What has closed answers further use
    with RuntimeError. Only the client's work belongs within: a bug of ours would be a loss.
    """
    try:
        yield
    except RuntimeError as error:
        raise ConnectionError(f"{_MEANWHILE}: {error}") from None
    except Exception as error:
        if type(error) not in _WITHOUT_REASON:
            raise
        raise ConnectionError(_MEANWHILE) from None
