"""`python -m`: granian with its own arguments. Its processes are forked from one that has loaded the application."""

import multiprocessing
import sys

from granian.cli import entrypoint

import config.server.rsgi
from config.server import heavy_calls, preload


def main() -> None:
    if sys.platform == "linux":  # elsewhere libraries of the system may not be forked
        multiprocessing.set_start_method("fork")  # which is not the default from Python 3.14 on
    preload.load()
    if sys.platform == "linux":
        heavy_calls.lane = heavy_calls.Lane()
        heavy_calls.lane.start(config.server.rsgi.HANDLER, config.server.rsgi.BACKGROUND)
    entrypoint()  # type: ignore[no-untyped-call]  # granian has no type for it


if __name__ == "__main__":
    main()
