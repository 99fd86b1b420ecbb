"""`make run`: start, printed commands, kill, restart, Ctrl-C."""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time

import psutil
import psycopg
import pytest
import requests

from config.env import BASE_DIR, StartRefused
from dev import run as local_run
from dev.children import Child
from tests.dev.runs import Run
from tests.faults.waiting import until
from tests.ports import free_port
from tests.production import ENVIRONMENT


def paste(command):
    """Do what the printed curl does. Returns the answer's status and body."""
    done = subprocess.run(
        ["/bin/sh", "-c", f"{command} -w '\n%{{http_code}}'"], check=True, capture_output=True, text=True, timeout=30
    )
    body, _line_feed, status = done.stdout.rpartition("\n")
    return int(status), json.loads(body)


def paste_command(line):
    """Do what the printed management command does; it names its data folder itself."""
    command = ["env", *shlex.split(line)]
    return subprocess.run(command, cwd=BASE_DIR, check=True, capture_output=True, text=True, timeout=60).stdout


def files_with(texts, folder):
    """Files outside the database that hold one of these texts."""
    found = []
    for path in folder.rglob("*"):
        if path.is_file() and folder / "postgres" not in path.parents:
            found += [path for text in texts if text.encode() in path.read_bytes()]
    return found


def people_and_shops(urls):
    with psycopg.connect(urls["DATABASE_URL"].replace("postgres://", "postgresql://")) as connection:
        return connection.execute(
            "SELECT (SELECT count(*) FROM auth_user), (SELECT count(*) FROM delivery_integrator)"
        ).fetchone()


def curls(text):
    """The printed curl commands, each of several lines: quote and request a delivery, quote freight."""
    return re.findall(r"^curl .*?'$(?=\n\n)", text, re.MULTILINE | re.DOTALL)


def secrets_in(text):
    return re.findall(
        r"^  (?:(?:Log-in|Shop's log-in) +\S+ /|Token|Signing secret|Sandbox token|Sandbox secret|API key) +(\S+)$",
        text,
        re.MULTILINE,
    )


def start_and_kill(folder, port):
    """Start a run, call it, and refuse another one beside it; then kill it. Returns its text and the calls' answers.

    Its output can be ASCII only.
    """
    run = Run(folder, port, PYTHONIOENCODING="ascii")
    runs = [run]
    try:
        run.wait_for("PostgreSQL ready")  # it holds its data folder by now
        (folder / "beside").mkdir()
        # It waits for five seconds, in which the first one goes on starting.
        beside = Run(folder / "beside", port, DATA_DIR=str(run.data))
        runs.append(beside)

        text = run.wait_for("Rota is running")
        answers = [paste(command) for command in curls(text)]
        assert [status for status, _body in answers] == [200, 201, 200]
        assert beside.process.wait(30) == 1
        assert "running already" in beside.log.read_text()

        os.kill(run.process.pid, signal.SIGKILL)
        run.process.wait(10)
    finally:
        for each in runs:
            each.process.kill()
    return text, [body for _status, body in answers]


def renewed_token(shown):
    """Replace the credentials with the printed command. Returns the new token of the sandbox."""
    (command,) = re.findall(r"^.*manage\.py demo_credentials.*$", shown, re.MULTILINE)
    renewed = paste_command(command)
    assert [paste(command)[0] for command in curls(renewed)] == [200, 201, 200]
    (token,) = re.findall(r"^  Sandbox token +(\S+)$", renewed, re.MULTILINE)
    return token


@pytest.mark.timeout(180)
def test_starts_serves_restarts_and_stops(tmp_path):
    port = free_port()
    text, (quote, delivery, freight) = start_and_kill(tmp_path, port)
    assert freight["data"]["to"] == "Salvador/BA"
    assert quote["shippingValue"] == delivery["shippingValue"]
    assert text.index(f"http://127.0.0.1:{port}/docs/") < text.index("/panel/")
    assert "superuser" not in text
    assert text.index("curl -s") < text.index("Log-in")

    again = Run(tmp_path, port)
    try:
        shown = again.wait_for("Rota is running")
        secrets = secrets_in(text)
        assert len(set(secrets)) == 7
        assert not [secret for secret in secrets if secret in shown]
        assert files_with(secrets, tmp_path / ("data" * 25)) == []

        headers = {"Authorization": f"Bearer {renewed_token(shown)}"}
        assert paste(curls(text)[0])[0] == 401  # with the first token
        url = f"http://127.0.0.1:{port}/api/info-delivery/{delivery['deliveryId']}"
        assert requests.get(url, headers=headers, timeout=10).status_code == 200

        # A body sent in chunks is read like any other.
        headers["Content-Type"] = "application/json"
        body = iter([b'{"reason": "', b"x" * 256, b'"}'])
        assert requests.post(url.replace("info", "cancel"), data=body, headers=headers, timeout=10).status_code == 422

        children = psutil.Process(again.process.pid).children()
        (web,) = [process for process in children if "config.server.web" in process.cmdline()]
        assert any("play_demo" in process.cmdline() for process in children)
        web.kill()
        again.wait_for("web ended with -9")
    finally:
        code = again.end()

    assert code == 0
    until(lambda: not again.processes(), what="the end of all processes")


class TestWaitForServices:
    def test_names_a_process_that_has_ended(self):
        worker = Child("worker", [sys.executable, "-c", "raise SystemExit(3)"])
        worker.start().wait(30)

        with pytest.raises(StartRefused, match="worker has ended with 3; see its messages above"):
            local_run._wait_for_services(free_port(), [worker])

    def test_gives_up_without_a_sign_of_life(self, monkeypatch):
        monkeypatch.setattr(local_run, "_START_SECONDS", 0.5)
        worker = Child("worker", ["sleep", "60"])
        worker.start()

        try:
            with pytest.raises(StartRefused, match="no sign of life"):
                local_run._wait_for_services(free_port(), [worker])
        finally:
            worker.signal_end()
            worker.stop(time.monotonic() + 10)


@pytest.mark.parametrize(("home", "cache"), [("/proc/1", "{base}/var/uv-cache"), ("{tmp}", "{tmp}/.cache/uv")])
def test_packages_are_cached_where_files_can_be_written(program, tmp_path, home, cache):
    done = subprocess.run(
        [program("make"), "--no-print-directory", "--eval", "shown: ; @echo $$UV_CACHE_DIR", "shown"],
        cwd=BASE_DIR, env={"PATH": os.environ["PATH"], "HOME": home.format(tmp=tmp_path)},
        check=True, capture_output=True, text=True, timeout=30,
    )  # fmt: skip  # a command in few lines

    assert done.stdout.strip() == cache.format(tmp=tmp_path, base=BASE_DIR)


def test_a_taken_port_is_named(monkeypatch):
    monkeypatch.setattr(local_run, "_PREVIOUS_RUN_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]

        with pytest.raises(StartRefused, match=f"Port {port} is taken. Choose another one"):
            local_run._wait_for_port(port)


@pytest.mark.timeout(240)
def test_an_external_database_gets_no_demo_data(tmp_path, migrated):
    production = {**ENVIRONMENT, **migrated}
    run = Run(tmp_path, free_port(), in_foreground=True, HOST="127.0.0.2", **production)
    try:
        text = run.wait_for("Rota is running")
    finally:
        status = run.end()
    assert (status, "Traceback" in run.log.read_text()) == (0, False)
    assert people_and_shops(migrated) == (0, 0)
    assert "http://127.0.0.2:" in text
    assert "An external database gets no demo data" in text
    assert "Log-in " not in text


def test_the_embedded_mode_does_not_open_to_other_machines(tmp_path):
    run = Run(tmp_path, free_port(), HOST="0.0.0.0")

    assert run.process.wait(30) == 1
    assert "HOST=0.0.0.0 would open the embedded mode to other machines" in run.log.read_text()
    assert "Traceback" not in run.log.read_text()
    assert not (tmp_path / ("data" * 25)).exists()


def test_a_lock_that_is_a_link_is_not_followed(tmp_path, monkeypatch):
    monkeypatch.setenv("DATA_DIR", str(tmp_path))
    (tmp_path / "others").write_text("kept")
    (tmp_path / "run.lock").symlink_to(tmp_path / "others")

    with pytest.raises(StartRefused, match=r"run\.lock cannot be used"), local_run._only_run():
        pass

    assert (tmp_path / "others").read_text() == "kept"
