"""`python -m`: Celery, whose processes follow a file: it says how many seconds their clock is ahead."""

import os
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import time_machine
from celery.__main__ import main
from celery.signals import worker_process_init

_PAUSE_SECONDS = 0.05


@worker_process_init.connect
def _follow_file(**_kwargs: Any) -> None:
    threading.Thread(target=_follow, args=(Path(os.environ["CLOCK_OFFSET"]),), daemon=True).start()


def _follow(file: Path) -> None:
    offset, travel = 0, None
    while True:
        wanted = int(file.read_text())
        if wanted != offset:
            if travel:
                travel.stop()
            offset, travel = wanted, None
            if wanted:
                travel = time_machine.travel(datetime.now(UTC) + timedelta(seconds=wanted), tick=True)
                travel.start()
        time.sleep(_PAUSE_SECONDS)


if __name__ == "__main__":
    main()
