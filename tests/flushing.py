"""A disk that does not flush: the kernel answers fsync with EIO, by a filter that needs no rights.

The filter is of the thread that asks for it and of all that it starts, for good.
"""

import ctypes
import errno
import platform
import struct
import sys
from typing import Final

import pytest

_FSYNC: Final = {"x86_64": 74, "aarch64": 82}
"""The number of the system call."""
_NO_NEW_PRIVILEGES: Final = 38
_SECCOMP: Final = 22
_FILTER: Final = 2
_LOAD: Final = 0x20
_SKIP_UNLESS_EQUAL: Final = 0x15
_RETURN: Final = 0x06
_FAIL_WITH: Final = 0x0005_0000
_ALLOW: Final = 0x7FFF_0000

linux_only = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() not in _FSYNC,
    reason="fsync is made to fail by a filter of Linux, here on other processors or systems",
)


class _Program(ctypes.Structure):
    _fields_ = (("steps", ctypes.c_ushort), ("place", ctypes.c_char_p))


def fail_flushes() -> None:
    """Let every fsync of this thread fail from now on."""
    steps = b"".join(
        struct.pack("HBBI", *step)
        for step in (
            (_LOAD, 0, 0, 0),
            (_SKIP_UNLESS_EQUAL, 0, 1, _FSYNC[platform.machine()]),
            (_RETURN, 0, 0, _FAIL_WITH | errno.EIO),
            (_RETURN, 0, 0, _ALLOW),
        )
    )
    program = _Program(len(steps) // 8, steps)
    libc = ctypes.CDLL(None, use_errno=True)
    for told in ((_NO_NEW_PRIVILEGES, 1, 0, 0, 0), (_SECCOMP, _FILTER, ctypes.byref(program))):
        if libc.prctl(*told) != 0:
            raise OSError(ctypes.get_errno(), "the kernel takes no filter")
