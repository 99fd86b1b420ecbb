"""`python -m`: the web server with the things changed that CHANGES names, for `benchmarks.tail`."""

import os
import sys

import config.server.rsgi
from config.server import preload, web


def _apply(change: str) -> None:
    name, _, value = change.partition("=")
    match name:
        case "threads":
            config.server.rsgi.application.threads = int(value)
        case "switch_ms":
            sys.setswitchinterval(float(value) / 1000)
        case "gc_after":  # objects; 0: never
            preload._COLLECTED_AFTER = int(value)  # noqa: SLF001  # to measure it
        case _:
            raise SystemExit(f"No such change: {change}")


if __name__ == "__main__":
    for each in os.environ["CHANGES"].split():
        _apply(each)
    web.main()
