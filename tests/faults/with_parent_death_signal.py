"""Runs `python …` so that the kernel kills it when the test session ends, even by SIGKILL (Linux).

The setting survives the exec. It is made here and not between fork and exec of the tests, which have threads.
"""

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1

if sys.platform == "linux":
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
os.execv(sys.executable, [sys.executable, *sys.argv[1:]])  # noqa: S606  # no shell is wanted
