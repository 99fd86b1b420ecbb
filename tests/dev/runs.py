"""A real run of `dev.run`, for tests."""

import os
import signal
import subprocess
import sys
import time

import psutil

from config.env import BASE_DIR

FOREGROUND = [sys.executable, "-S", "-I", str(BASE_DIR / "dev" / "foreground.py")]


class Run:
    """A run of its own, with its own data folder and port. `in_foreground`: as `make run` starts it."""

    def __init__(self, folder, port, *, in_foreground=False, **environment):
        keep = {name: value for name, value in os.environ.items() if not name.endswith("_URL")}
        self.log = folder / "run.log"
        self.folder = folder
        self.data = folder / ("data" * 25)  # a path longer than a unix socket's may be
        self.in_foreground = in_foreground
        with self.log.open("w") as out:
            self.process = subprocess.Popen(
                [*(FOREGROUND if in_foreground else []), sys.executable, "-m", "dev.run"],
                cwd=BASE_DIR,
                env={**keep, "DATA_DIR": str(self.data), "PORT": str(port), **environment},
                start_new_session=in_foreground,
                stdout=out,
                stderr=subprocess.STDOUT,
            )

    def wait_for(self, text, seconds=120):
        end = time.monotonic() + seconds
        while text not in self.log.read_text():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < end, self.log.read_text()
            time.sleep(0.1)
        return self.log.read_text()

    def processes(self):
        """Processes of this run: those whose command or environment names its folder."""
        found = []
        for process in psutil.process_iter():
            try:
                known = (*process.cmdline(), process.environ().get("DATA_DIR", ""))
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                continue
            if any(str(self.folder) in text for text in known) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        return found

    def end(self):
        """Press Ctrl-C. Returns the status."""
        if self.process.poll() is None and self.in_foreground:
            os.killpg(self.process.pid, signal.SIGINT)
        elif self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(30)
