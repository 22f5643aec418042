"""What JSON may have in it, seen from its bytes: most records need not be read for that."""

from collections.abc import Iterable


def may_have(original: bytes, texts: Iterable[bytes]) -> bool:
    """Tell whether JSON may have one of these texts or whole numbers in it.

    Only a backslash spells one otherwise than it is: as `M\\u00fcller`, or with a quote in it.
    """
    return b"\\" in original or any(text in original for text in texts)
