"""`make run` as a newcomer lives it: start, paste, kill, start again, Ctrl-C."""

import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time

import psutil
import pytest
import requests

from config.env import BASE_DIR
from tests.ports import free_port


class Run:
    """A run of its own, with its own data folder and port."""

    def __init__(self, folder, port):
        keep = {name: value for name, value in os.environ.items() if not name.endswith("_URL")}
        self.log = folder / "run.log"
        self.folder = folder
        with self.log.open("w") as out:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "config.run"],
                cwd=BASE_DIR,
                # A path longer than a unix socket's may be.
                env={**keep, "DATA_DIR": str(folder / ("data" * 25)), "PORT": str(port)},
                stdout=out,
                stderr=subprocess.STDOUT,
            )

    def wait_for(self, text, seconds=60):
        end = time.monotonic() + seconds
        while text not in self.log.read_text():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < end, self.log.read_text()
            time.sleep(0.1)
        return self.log.read_text()

    def processes(self):
        """Everything of this run that lives: whose command or environment names its folder."""
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
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(30)


def paste(line):
    """Do what the printed curl does."""
    _curl, _silent, url, *rest = shlex.split(line)
    headers = dict(value.split(": ", 1) for flag, value in zip(rest[::2], rest[1::2], strict=True) if flag == "-H")
    return requests.post(url, data=rest[rest.index("-d") + 1].encode(), headers=headers, timeout=10)


def gone(find, seconds=15):
    end = time.monotonic() + seconds
    while find() and time.monotonic() < end:
        time.sleep(0.1)
    return find() == []


@pytest.mark.timeout(180)
def test_a_newcomers_first_hour(tmp_path):
    port = free_port()
    first = Run(tmp_path, port)
    try:
        text = first.wait_for("Rota is running")
        curls = re.findall(r"^curl .*$", text, re.MULTILINE)
        answers = [paste(line) for line in curls]
        assert [answer.status_code for answer in answers] == [200, 201, 200]
        assert answers[2].json()["data"]["to"] == "Salvador/BA"
        assert answers[0].json()["shippingValue"] == answers[1].json()["shippingValue"]

        second = Run(tmp_path, port)
        assert second.process.wait(30) == 1
        assert "running already" in second.log.read_text()

        os.kill(first.process.pid, signal.SIGKILL)
        first.process.wait(10)
    finally:
        first.process.kill()

    again = Run(tmp_path, port)
    try:
        token = re.search(r"Token\s+(\S+)", again.wait_for("Rota is running"))[1]
        delivery = answers[1].json()["deliveryId"]
        url = f"http://127.0.0.1:{port}/api/info-delivery/{delivery}"
        headers = {"Authorization": f"Bearer {token}"}
        assert requests.get(url, headers=headers, timeout=10).status_code == 200

        # A body sent in chunks is read like any other.
        cancel = url.replace("info", "cancel")
        chunks = requests.post(
            cancel, data=iter([b'{"reason": "', b"x" * 256, b'"}']),
            headers={**headers, "Content-Type": "application/json"}, timeout=10,
        )  # fmt: skip
        assert chunks.status_code == 422

        (web,) = [process for process in psutil.Process(again.process.pid).children() if "granian" in process.cmdline()]
        web.kill()
        again.wait_for("web ended with -9")
    finally:
        code = again.end()

    assert code == 0
    assert gone(again.processes)


def test_a_taken_port_is_named(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        run = Run(tmp_path, taken.getsockname()[1])

        assert run.process.wait(30) == 1

    assert f"Port {taken.getsockname()[1] if taken.fileno() > 0 else ''}".strip() in run.log.read_text()
    assert "Choose another one" in run.log.read_text()
