"""Where a key's records lie: producers of our kind and Java's place them by different hashes."""

import zlib
from typing import Final

_SEED: Final = 0x9747B28C
_MIX: Final = 0x5BD1E995
_WORD: Final = 0xFFFFFFFF


def partitions_of(key: bytes, count: int) -> frozenset[int]:
    """Return the partitions, of `count`, in which records of a key can be."""
    ours, javas = zlib.crc32(key), murmur2(key) & 0x7FFFFFFF
    return frozenset({ours % count, javas % count})


def murmur2(key: bytes) -> int:
    """Return the hash that Java's producers place a key by; 32 bits, without a sign."""
    mixed = _SEED ^ len(key)
    whole = len(key) - len(key) % 4
    for start in range(0, whole, 4):
        word = int.from_bytes(key[start : start + 4], "little") * _MIX & _WORD
        word = (word ^ (word >> 24)) * _MIX & _WORD
        mixed = mixed * _MIX & _WORD ^ word
    if rest := key[whole:]:
        mixed = (mixed ^ int.from_bytes(rest, "little")) * _MIX & _WORD
    mixed = (mixed ^ (mixed >> 13)) * _MIX & _WORD
    return mixed ^ (mixed >> 15)
