"""glibc's malloc, told to keep the memory of messages instead of returning it to the kernel.

By default glibc maps every block above a threshold afresh and unmaps it when it is freed, so that
each large message pays a page fault for every 4 KiB of it: several times the cost of the transfer
on virtual machines. The price of keeping the memory: the process stays at its peak size.
"""

from __future__ import annotations

import ctypes
import os
import threading

ENVIRONMENT = "NORMD_TUNE_ALLOCATOR"

# From malloc.h.
_M_TRIM_THRESHOLD, _M_TOP_PAD, _M_MMAP_MAX, _M_ARENA_MAX = -1, -2, -4, -8
_SETTINGS = (
    (_M_TRIM_THRESHOLD, -1),  # never give memory back
    (_M_TOP_PAD, 64 << 20),  # grow by 64 MiB
    (_M_MMAP_MAX, 0),  # large blocks from the heap as well
    (_M_ARENA_MAX, 1),  # one heap for gRPC's threads and ours
)

_lock = threading.Lock()
_state: bool | None = None


def tune_allocator() -> bool:
    """Applies the settings to this process; done by the first Client unless told otherwise.

    To opt out: `Client(..., tune_allocator=False)`, or NORMD_TUNE_ALLOCATOR=0 in the environment,
    which holds for explicit calls, too. Repeated calls do nothing.

    Returns:
        Whether the settings are in force: False without glibc or after opting out.
    """
    global _state  # the settings are the process's, and so is this
    with _lock:
        if _state is None:
            _state = os.environ.get(ENVIRONMENT, "1") != "0" and _apply()
        return _state


def _apply() -> bool:
    process = ctypes.CDLL(None)
    # musl and others have no mallopt, or one that does nothing.
    if not hasattr(process, "gnu_get_libc_version") or not hasattr(process, "mallopt"):
        return False
    return all(process.mallopt(option, value) == 1 for option, value in _SETTINGS)
