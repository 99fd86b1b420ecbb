"""Runs a tool of `make lint`, and fails also if the tool says on standard error that a part of it crashed.

Some go on after that and end with 0, such as bandit when one of its checks raises an exception.
"""

import re
import subprocess
import sys

_CRASH = re.compile(r"Traceback \(most recent call last\)|internal error|exception occurred|panicked at", re.IGNORECASE)


def main() -> int:
    crashed = False
    with subprocess.Popen(sys.argv[1:], stderr=subprocess.PIPE, text=True, errors="replace") as process:
        assert process.stderr is not None  # a pipe
        for line in process.stderr:
            sys.stderr.write(line)
            crashed |= _CRASH.search(line) is not None
    if process.returncode == 0 and crashed:
        sys.stderr.write(f"{sys.argv[1]} ended with 0 although a part of it crashed, see above.\n")
    return process.returncode or crashed


if __name__ == "__main__":
    sys.exit(main())
