"""Another Redis becomes the master, found by Sentinel or by its address. No process ends, and webhooks go on.

With TLS and without: to the Sentinel, to the servers, and between them.
"""

import secrets
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from delivery.models import WebhookEvent
from dev import embedded
from tests.faults.calls import Traffic
from tests.faults.certificates import Authority
from tests.faults.report import await_all, figures_of, print_figures, sequences
from tests.faults.waiting import DEADLINE_SECONDS, until
from tests.ports import free_port, listens

_MASTER, _RESUMED_SECONDS = "rota", 5
_A_WHILE_SECONDS = 4
_WORKER = "tests.faults.worker_to_loopback"
_PLAIN = "port {port}\nbind 127.0.0.1\n"
_ENCRYPTED = """
port 0
tls-port {port}
bind 127.0.0.1
tls-cert-file {certificate}
tls-key-file {certificate}
tls-ca-cert-file {authority}
tls-auth-clients no
tls-replication yes
"""
_SENTINEL = """
dir {folder}
sentinel monitor {master} 127.0.0.1 {of} 1
sentinel auth-pass {master} {password}
sentinel down-after-milliseconds {master} 1000
sentinel failover-timeout {master} 5000
"""


@contextmanager
def _redis(
    program: str, folder: Path, port: int, *arguments: str, settings: str
) -> Iterator["subprocess.Popen[bytes]"]:
    file = folder / f"{port}.conf"
    file.write_text(settings)
    process = subprocess.Popen([program, str(file), *arguments], stdout=subprocess.DEVNULL)
    try:
        until(lambda: listens(port), what="Redis")
        yield process
    finally:
        process.kill()
        process.wait(DEADLINE_SECONDS)


class _Cluster:
    """`variables`: those of processes that trust the servers."""

    def __init__(
        self, servers: dict[int, "subprocess.Popen[bytes]"], sentinel: int, password: str, authority: Path | None
    ) -> None:
        self._servers, self._password = servers, password
        self._authority, self._scheme = authority, "redis" if authority is None else "rediss"
        self.variables = {"SSL_CERT_FILE": str(authority)} if authority is not None else {}
        self._sentinel = self._client(sentinel)
        self.url = f"{self._scheme}+sentinel://:{password}@127.0.0.1:{sentinel}/0?master={_MASTER}"

    @property
    def master(self) -> int:
        """The port of the server that Sentinel calls the master."""
        found: Any = self._sentinel.sentinel_get_master_addr_by_name(_MASTER)
        return int(found[1])

    @property
    def replica(self) -> int:
        """The port of the other one."""
        return next(port for port in self._servers if port != self.master)

    @property
    def url_of_master(self) -> str:
        return f"{self._scheme}://:{self._password}@127.0.0.1:{self.master}/0"

    def client_of_master(self) -> Redis:
        return self._client(self.master, password=self._password)

    def is_complete(self) -> bool:
        found: Any = self._sentinel.sentinel_master(_MASTER)
        return int(found["num-slaves"]) == 1

    def fail_over(self) -> None:
        """Make the replica the master, and the master a replica."""
        self._sentinel.sentinel_failover(_MASTER)

    def kill_master(self) -> None:
        self._servers[self.master].kill()

    def freeze_master(self) -> None:
        self._servers[self.master].send_signal(signal.SIGSTOP)

    def resume_replica(self) -> None:
        """Let the master that stood still go on, which learns that it is the replica now."""
        self._servers[self.replica].send_signal(signal.SIGCONT)
        with self._client(self.replica, password=self._password) as client:
            until(lambda: client.role()[0] in {"slave", b"slave"}, what="the old master is a replica")

    def _client(self, port: int, *, password: str | None = None) -> Redis:
        return Redis(
            host="127.0.0.1", port=port, password=password, socket_timeout=5,
            ssl=self._authority is not None, ssl_ca_certs=str(self._authority),
        )  # fmt: skip  # a call in few lines


@pytest.fixture
def cluster(request, program, tmp_path):
    """A master, a replica and a Sentinel. With `encrypted` as its parameter they take TLS only."""
    password, (first, second, sentinel) = secrets.token_hex(16), (free_port() for _number in range(3))
    authority = Authority(tmp_path) if getattr(request, "param", "") == "encrypted" else None
    listens_at = _PLAIN
    if authority is not None:
        listens_at = _ENCRYPTED.replace("{certificate}", f"{authority.file()}")
        listens_at = listens_at.replace("{authority}", str(authority.path))
    common = f'dir {tmp_path}\nrequirepass {password}\nmasterauth {password}\nsave ""\nappendonly no\n'
    with ExitStack() as stack:
        servers = {
            port: stack.enter_context(
                _redis(
                    program("redis-server"),
                    tmp_path,
                    port,
                    settings=f"{listens_at.format(port=port)}{common}repl-diskless-sync-delay 0\n{follows}",
                )
            )
            for port, follows in ((first, ""), (second, f"replicaof 127.0.0.1 {first}\n"))
        }
        settings = listens_at.format(port=sentinel)
        settings += _SENTINEL.format(folder=tmp_path, master=_MASTER, of=first, password=password)
        stack.enter_context(_redis(program("redis-server"), tmp_path, sentinel, "--sentinel", settings=settings))
        cluster = _Cluster(servers, sentinel, password, authority.path if authority else None)
        until(cluster.is_complete, what="Sentinel knows the replica")
        yield cluster


@pytest.fixture
def start(processes, cluster):
    """Starts a web server, two workers and beat with this REDIS_URL: all of them, the web server first."""

    def do(url):
        environment = {**embedded.environment(), "REDIS_URL": url, **cluster.variables}
        web = processes.start_web(**environment)
        workers = [processes.start("worker", module=_WORKER, **environment) for _number in range(2)]
        return [web, *workers, processes.start("beat", **environment)]

    return do


# Fails if a client stays with a server that is a replica: `new_redis` of common/connections.py, the setting
# CELERY_BROKER_URL. Fails if a client of the encrypted ones sends plain text: `Sentinels.tls`, CELERY_BROKER_USE_SSL.
@pytest.mark.ci
@pytest.mark.parametrize(
    ("cluster", "fault"), [("encrypted", "fail_over"), ("plain", "kill_master")], indirect=["cluster"]
)
def test_sentinel_makes_another_server_the_master(start, cluster, callers, shop, endpoint, fault):
    running = start(cluster.url)
    with Traffic(callers, [running[0].base], per_second=20) as traffic:
        until(lambda: len(endpoint.receipts) > 20, what="20 events received")
        before = cluster.master
        getattr(cluster, fault)()
        until(lambda: cluster.master != before, what="another master")
        resumed = _until_events_come(endpoint)
    _check(f"Redis under Sentinel, {fault}", running, traffic, shop, endpoint, resumed)


# Fails if a client waits for a server that is silent: `health_check_interval` in CELERY_BROKER_TRANSPORT_OPTIONS.
def test_the_master_is_frozen_for_a_while(start, cluster, callers, shop, endpoint):
    running = start(cluster.url)
    with Traffic(callers, [running[0].base], per_second=20) as traffic:
        until(lambda: len(endpoint.receipts) > 20, what="20 events received")
        before = cluster.master
        cluster.freeze_master()
        until(lambda: cluster.master != before, what="another master")
        resumed = _until_events_come(endpoint)
        cluster.resume_replica()
        again = _until_events_come(endpoint)
    _check("Master of Redis frozen", running, traffic, shop, endpoint, max(resumed, again))


# Fails if the answer of a replica ends a worker: CELERY_BROKER_CHANNEL_ERROR_RETRY.
@pytest.mark.ci
@pytest.mark.parametrize("cluster", ["encrypted"], indirect=True)
def test_the_server_is_a_replica_for_a_while(start, cluster, callers, shop, endpoint):
    running, server = start(cluster.url_of_master), cluster.client_of_master()
    with Traffic(callers, [running[0].base], per_second=20) as traffic:
        until(lambda: len(endpoint.receipts) > 20, what="20 events received")
        server.replicaof("127.0.0.1", cluster.replica)
        time.sleep(_A_WHILE_SECONDS)
        server.replicaof("NO", "ONE")
        resumed = _until_events_come(endpoint)
    _check("Redis is a replica for a while", running, traffic, shop, endpoint, resumed)


def _until_events_come(endpoint):
    seen = len(endpoint.receipts)
    return until(lambda: len(endpoint.receipts) > seen + 5, what="webhooks go on")


def _check(what, running, traffic, shop, endpoint, resumed):
    events = WebhookEvent.objects.filter(endpoint__integrator=shop.integrator)
    await_all(sequences(events), endpoint)
    figures = figures_of(sequences(events), endpoint.receipts)
    print_figures(what, figures, calls=len(traffic.answers), seconds_to_resume=resumed)
    assert [process.name for process in running if not process.is_running] == []
    assert traffic.refused == []
    assert (figures.lost, figures.out_of_order) == (0, 0)
    assert resumed < _RESUMED_SECONDS
