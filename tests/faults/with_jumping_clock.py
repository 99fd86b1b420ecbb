"""`python -m`: a program whose processes follow a file that says by how many seconds their clock is wrong.

CLOCK_OFFSET names the file, PROGRAM the module. The monotonic clock goes on as it does when a machine's clock is set.
"""

import os
import runpy
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import time_machine

_PAUSE_SECONDS = 0.05
_travel: time_machine.travel | None = None


def _follow(file: Path, offset: int) -> None:
    global _travel  # noqa: PLW0603  # one clock for the process
    while True:
        wanted = int(file.read_text())
        if wanted != offset:
            if _travel:
                _travel.stop()
            offset, _travel = wanted, None
            if wanted:
                _travel = time_machine.travel(datetime.now(UTC) + timedelta(seconds=wanted), tick=True)
                _travel.start()
        time.sleep(_PAUSE_SECONDS)


def _start_following() -> None:
    file = Path(os.environ["CLOCK_OFFSET"])
    # A process that is forked has the wrong clock of its parent.
    offset = int(file.read_text()) if _travel else 0
    threading.Thread(target=_follow, args=(file, offset), daemon=True).start()


_start_following()
os.register_at_fork(after_in_child=_start_following)

if __name__ == "__main__":
    runpy.run_module(os.environ["PROGRAM"], run_name="__main__")
