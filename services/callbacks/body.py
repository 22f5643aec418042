"""Reads a request's body within limits of size and time."""

import asyncio

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request


async def read_body(request: Request, limit_bytes: int, timeout_seconds: float) -> bytes:
    """Return the whole body.

    Raises:
        HTTPException: 413, it is too large; 408, it does not come; 400, the sender went away.
    """
    said = request.headers.get("content-length", "0")
    if not said.isdecimal() or int(said) > limit_bytes:
        raise HTTPException(413, f"a body has at most {limit_bytes} bytes")
    content = bytearray()
    try:
        async with asyncio.timeout(timeout_seconds):
            async for part in request.stream():
                content += part
                if len(content) > limit_bytes:
                    raise HTTPException(413, f"a body has at most {limit_bytes} bytes")
    except TimeoutError:
        raise HTTPException(408, "the body did not come in time") from None
    except ClientDisconnect:
        raise HTTPException(400, "the sender went away") from None
    return bytes(content)
