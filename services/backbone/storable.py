"""Texts that came from outside, as Postgres and our records can keep them."""


def storable(text: str, limit: int) -> str:
    """Cut a text to `limit` characters, without NUL, and with `?` for each half of a character.

    Clients decode what is no UTF-8 into such halves (surrogates), which nothing can encode again.
    """
    return text.replace("\x00", "")[:limit].encode(errors="replace").decode()
