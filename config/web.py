"""`python -m`: granian with its own arguments. Its processes are forked from one that has loaded the application."""

import multiprocessing
import sys

from granian.cli import entrypoint

import config.rsgi  # noqa: F401  # loads it
from config import preload

if __name__ == "__main__":
    if sys.platform == "linux":  # elsewhere libraries of the system may not be forked
        multiprocessing.set_start_method("fork")  # which is not the default from Python 3.14 on
    preload.load()
    entrypoint()  # type: ignore[no-untyped-call]  # granian has no type for it
