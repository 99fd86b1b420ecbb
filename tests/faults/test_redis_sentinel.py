"""Another Redis becomes the master, found by Sentinel or by its address. No process ends, and webhooks go on."""

import secrets
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
from tests.faults.report import await_all, figures_of, print_figures, sequences
from tests.faults.waiting import DEADLINE_SECONDS, until
from tests.ports import free_port, listens

_MASTER, _RESUMED_SECONDS = "rota", 5
_A_WHILE_SECONDS = 4
_WORKER = "tests.faults.worker_to_loopback"
_SENTINEL = """
port {port}
bind 127.0.0.1
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
    def __init__(self, servers: dict[int, "subprocess.Popen[bytes]"], sentinel: int, password: str) -> None:
        self._servers, self._sentinel = servers, Redis(port=sentinel, socket_timeout=5)
        self._password = password
        self.url = f"redis+sentinel://:{password}@127.0.0.1:{sentinel}/0?master={_MASTER}"

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
        return f"redis://:{self._password}@127.0.0.1:{self.master}/0"

    def is_complete(self) -> bool:
        found: Any = self._sentinel.sentinel_master(_MASTER)
        return int(found["num-slaves"]) == 1

    def fail_over(self) -> None:
        """Make the replica the master, and the master a replica."""
        self._sentinel.sentinel_failover(_MASTER)

    def kill_master(self) -> None:
        self._servers[self.master].kill()


@pytest.fixture
def cluster(program, tmp_path):
    """A master, a replica and a Sentinel."""
    password, (first, second, sentinel) = secrets.token_hex(16), (free_port() for _number in range(3))
    common = f'bind 127.0.0.1\ndir {tmp_path}\nrequirepass {password}\nmasterauth {password}\nsave ""\nappendonly no\n'
    with ExitStack() as stack:
        servers = {
            port: stack.enter_context(
                _redis(
                    program("redis-server"),
                    tmp_path,
                    port,
                    settings=f"port {port}\n{common}repl-diskless-sync-delay 0\n{follows}",
                )
            )
            for port, follows in ((first, ""), (second, f"replicaof 127.0.0.1 {first}\n"))
        }
        settings = _SENTINEL.format(port=sentinel, folder=tmp_path, master=_MASTER, of=first, password=password)
        stack.enter_context(_redis(program("redis-server"), tmp_path, sentinel, "--sentinel", settings=settings))
        cluster = _Cluster(servers, sentinel, password)
        until(cluster.is_complete, what="Sentinel knows the replica")
        yield cluster


@pytest.fixture
def start(processes):
    """Starts a web server, two workers and beat with this REDIS_URL: all of them, the web server first."""

    def do(url):
        environment = {**embedded.environment(), "REDIS_URL": url}
        web = processes.start_web(**environment)
        workers = [processes.start("worker", module=_WORKER, **environment) for _number in range(2)]
        return [web, *workers, processes.start("beat", **environment)]

    return do


# Fails if a client stays with a server that is a replica: `new_redis` of common/connections.py, the setting
# CELERY_BROKER_URL.
@pytest.mark.ci
@pytest.mark.parametrize("fault", ["fail_over", "kill_master"])
def test_sentinel_makes_another_server_the_master(start, cluster, callers, shop, endpoint, fault):
    running = start(cluster.url)
    with Traffic(callers, [running[0].base], per_second=20) as traffic:
        until(lambda: len(endpoint.receipts) > 20, what="20 events received")
        before = cluster.master
        getattr(cluster, fault)()
        until(lambda: cluster.master != before, what="another master")
        resumed = _until_events_come(endpoint)
    _check(f"Redis under Sentinel, {fault}", running, traffic, shop, endpoint, resumed)


# Fails if the answer of a replica ends a worker: CELERY_BROKER_CHANNEL_ERROR_RETRY.
@pytest.mark.ci
def test_the_server_is_a_replica_for_a_while(start, cluster, callers, shop, endpoint):
    running, server = start(cluster.url_of_master), Redis.from_url(cluster.url_of_master, socket_timeout=5)
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
