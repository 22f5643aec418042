"""Answers over HTTP as they go over the wire."""


def answering(content: bytes, *headers: bytes, status: bytes = b"200 OK") -> bytes:
    length = b"Content-Length: %d" % len(content)
    return b"\r\n".join([b"HTTP/1.1 " + status, length, *headers, b"", content])
