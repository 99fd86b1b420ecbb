"""PostgreSQL under Patroni, as three machines would run it, and HAProxy before it and a Redis: of Debian's packages.

Patroni and etcd have the shortest times that their documentation allows. How long they take to find another primary is
theirs, so it is measured apart from what Rota takes then.
"""

import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import psutil
import psycopg
import requests

from tests import servers
from tests.faults.failover.forwarder import Forwarder
from tests.faults.redis_server import redis_server
from tests.faults.waiting import DEADLINE_SECONDS, until
from tests.ports import free_port
from tests.stock_postgresql import programs

PROGRAMS = ("patroni", "etcd", "haproxy", "redis-server")
MEMBERS = range(3)
_SHORT_SECONDS = 1  # a pause that servers have on a busy machine
_USER = "postgres"  # which the package makes, for a caller who is root
_PATRONI = """
scope: rota
name: pg{member}
restapi: {{listen: '127.0.0.1:{rest}', connect_address: '127.0.0.1:{rest}'}}
etcd: {{proxy: 'http://127.0.0.1:{etcd}'}}
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 2
    retry_timeout: 3
    synchronous_mode: true
    primary_start_timeout: 5
    postgresql:
      use_pg_rewind: true
      parameters: {{max_connections: 100, shared_buffers: 64MB, wal_log_hints: 'on'}}
  initdb: [{{encoding: UTF8}}, {{locale: C.UTF-8}}, data-checksums]
  pg_hba: ['host replication all 127.0.0.1/32 scram-sha-256', 'host all all 127.0.0.1/32 scram-sha-256']
postgresql:
  listen: 127.0.0.1:{port}
  connect_address: 127.0.0.1:{port}
  data_dir: {folder}/data
  bin_dir: {programs}
  pgpass: {folder}/pgpass
  parameters: {{unix_socket_directories: '{folder}'}}
  authentication:
    superuser: {{username: postgres, password: {password}}}
    replication: {{username: replicator, password: {password}}}
    rewind: {{username: rewinder, password: {password}}}
"""
_HAPROXY = """
defaults
  mode tcp
  timeout connect 3s
  timeout client 30m
  timeout server 30m
  timeout check 2s
listen primary
  bind 127.0.0.1:{primary}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
{checked}
listen replica
  bind 127.0.0.1:{replica}
  option httpchk OPTIONS /replica
  http-check expect status 200
  default-server inter 1s fall 2 rise 1 on-marked-down shutdown-sessions
{checked}
listen redis
  bind 127.0.0.1:{redis}
  default-server on-marked-down shutdown-sessions
  server redis {redis_server} check inter 1s
"""


class Cluster:
    """`urls`: of DATABASE_URL through HAProxy and by the hosts, of DATABASE_REPLICA_URL and REDIS_URL."""

    def __init__(self, folder: Path, redis_url: str, stack: ExitStack) -> None:
        self._folder, self._stack, self._password = folder, stack, secrets.token_hex(16)
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._commands: dict[str, list[str]] = {}
        self._etcd = [free_port() for _member in MEMBERS]
        self._rest = [free_port() for _member in MEMBERS]
        self.ports = [free_port() for _member in MEMBERS]
        self._proxies = {name: free_port() for name in ("primary", "replica", "redis")}
        self._ways_to_etcd = [stack.enter_context(Forwarder(self._etcd)) for _member in MEMBERS]
        login = f"postgres://rota:{self._password}@"
        hosts = ",".join(f"127.0.0.1:{port}" for port in self.ports)
        password, address = redis_url.removeprefix("redis://").removesuffix("/0").split("@")
        self.url = f"{login}127.0.0.1:{self._proxies['primary']}/rota"
        self.url_of_hosts = f"{login}{hosts}/rota"
        self.replica_url = f"{login}127.0.0.1:{self._proxies['replica']}/rota"
        self.redis_url = f"redis://{password}@127.0.0.1:{self._proxies['redis']}/0"
        self._write_files(address)

    def start(self) -> None:
        """Start everything, and make the database."""
        peers = [free_port() for _member in MEMBERS]
        initial = ",".join(f"etcd{member}=http://127.0.0.1:{peers[member]}" for member in MEMBERS)
        for member in MEMBERS:
            client, peer = (f"http://127.0.0.1:{port}" for port in (self._etcd[member], peers[member]))
            self._start(
                f"etcd{member}",
                ["etcd", f"--name=etcd{member}", f"--data-dir={self._folder}/etcd{member}", "--enable-v2=true",
                 f"--listen-client-urls={client}", f"--advertise-client-urls={client}", f"--listen-peer-urls={peer}",
                 f"--initial-advertise-peer-urls={peer}", f"--initial-cluster={initial}", "--logger=zap"],
            )  # fmt: skip  # a command in few lines
        until(lambda: _answers(self._etcd[0], "/health"), what="etcd answers")
        for member in MEMBERS:
            self._start(f"patroni{member}", ["patroni", f"{self._folder}/patroni{member}.yml"])
        self._start("haproxy", ["haproxy", "-db", "-f", f"{self._folder}/haproxy.cfg"])
        self.until_whole()
        self._execute(
            f"CREATE ROLE rota LOGIN PASSWORD '{self._password}'", "CREATE TABLE probe (at timestamptz DEFAULT now())"
        )
        self.create_database("rota")
        until(partial(_is_reached, self.url), what="HAProxy leads to the primary")
        servers.make_tables(self.url)

    def create_database(self, name: str) -> str:
        """An empty one. Returns its URL."""
        self._execute(f"CREATE DATABASE {name} OWNER rota TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C.UTF-8'")
        return f"{self.url.rpartition('/')[0]}/{name}"

    def connect(self, member: int, database: str = "rota") -> "psycopg.Connection[Any]":
        """As the superuser, to a server itself."""
        return psycopg.connect(
            host="127.0.0.1", port=self.ports[member], user="postgres", password=self._password, dbname=database,
            autocommit=True, connect_timeout=2,
        )  # fmt: skip  # a call in few lines

    @property
    def primary(self) -> int:
        """The member that has the lock. Raises AssertionError if there is none for long."""
        found: list[int] = []

        def is_found() -> bool:
            found[:] = [member for member in MEMBERS if _answers(self._rest[member], "/primary")]
            return len(found) == 1

        until(is_found, what="one server has the lock")
        return found[0]

    def until_whole(self) -> None:
        """Wait until there are a primary, a synchronous standby and another one."""
        until(lambda: self._roles() == ["leader", "replica", "sync_standby"], what="the cluster is whole")

    def until_another(self, member: int) -> None:
        """Wait until another server than this one is the primary."""

        def is_another() -> bool:
            return any(_answers(self._rest[each], "/primary") for each in MEMBERS if each != member)

        until(is_another, what="another server is the primary")

    def switch_over(self) -> None:
        old = self.primary
        (new,) = [each["name"] for each in self._members() if each["role"] == "sync_standby"]
        body = {"leader": f"pg{old}", "candidate": new}
        requests.post(f"http://127.0.0.1:{self._rest[old]}/switchover", json=body, timeout=DEADLINE_SECONDS)
        self.until_another(old)

    def kill_postgresql(self, member: int) -> None:
        """Patroni stays, and starts it again."""
        for process in self._of_server(member):
            process.kill()

    @contextmanager
    def machine_away(self, member: int) -> Iterator[None]:
        """Kill Patroni and PostgreSQL; at the end they are started again."""
        for process in (*self._of_patroni(member), *self._of_server(member)):
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self._processes[f"patroni{member}"].wait(DEADLINE_SECONDS)
        yield
        self._start(f"patroni{member}")

    @contextmanager
    def machine_frozen(self, member: int) -> Iterator[None]:
        stopped = [*self._of_patroni(member), *self._of_server(member)]
        for process in stopped:
            process.suspend()
        try:
            yield
        finally:
            for process in stopped:
                with suppress(psutil.NoSuchProcess):
                    process.resume()

    @contextmanager
    def standbys_behind(self, member: int) -> Iterator[None]:
        """The standbys of this primary receive nothing, and what is on its way to them is lost."""
        stopped = [
            process
            for each in MEMBERS
            if each != member
            for process in self._of_server(each)
            if "walreceiver" in " ".join(process.cmdline())
        ]
        assert len(stopped) == len(MEMBERS) - 1
        for process in stopped:
            process.suspend()
        try:
            yield
        finally:
            for process in stopped:  # they end when they go on, and do not read what waits in their sockets
                process.terminate()
                process.resume()

    @contextmanager
    def away(self, name: str) -> Iterator[None]:
        """Kill `haproxy` or `etcd0`; at the end it is started again."""
        self._processes[name].kill()
        self._processes[name].wait(DEADLINE_SECONDS)
        yield
        self._start(name)

    @contextmanager
    def frozen(self, name: str) -> Iterator[None]:
        self._processes[name].send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._processes[name].send_signal(signal.SIGCONT)

    @contextmanager
    def without_etcd(self, member: int) -> Iterator[None]:
        """Patroni of this server does not reach etcd; the servers reach each other."""
        self._ways_to_etcd[member].cut()
        yield
        self._ways_to_etcd[member].mend()

    def stop(self) -> None:
        for name, process in reversed(self._processes.items()):
            children = self._of_patroni(int(name[-1])) if name.startswith("patroni") else []
            for each in children:
                with suppress(psutil.NoSuchProcess):
                    each.kill()
            process.kill()
            process.wait(DEADLINE_SECONDS)
        for member in MEMBERS:
            for each in self._of_server(member):
                with suppress(psutil.NoSuchProcess):
                    each.kill()

    def _write_files(self, redis_address: str) -> None:
        self._folder.chmod(0o755)
        for member in MEMBERS:
            folder = self._folder / f"pg{member}"
            folder.mkdir(mode=0o700)
            if os.getuid() == 0:
                shutil.chown(folder, _USER, _USER)
            text = _PATRONI.format(
                member=member, rest=self._rest[member], etcd=self._ways_to_etcd[member].port, port=self.ports[member],
                folder=folder, programs=programs(), password=self._password,
            )  # fmt: skip  # a call in few lines
            (self._folder / f"patroni{member}.yml").write_text(text)
        checked = "\n".join(
            f"  server pg{member} 127.0.0.1:{self.ports[member]} check port {self._rest[member]}" for member in MEMBERS
        )
        text = _HAPROXY.format(checked=checked, redis_server=redis_address, **self._proxies)
        (self._folder / "haproxy.cfg").write_text(text)

    def _execute(self, *statements: str) -> None:
        """At the primary, once it answers."""

        def is_done() -> bool:
            with suppress(psycopg.OperationalError), self.connect(self.primary, "postgres") as connection:
                for statement in statements:
                    connection.execute(statement.encode())
                return True
            return False

        until(is_done, what="the primary answers")

    def _start(self, name: str, command: Sequence[str] = ()) -> None:
        command = self._commands.setdefault(name, list(command))
        run_as: dict[str, Any] = {}
        if name.startswith("patroni") and os.getuid() == 0:
            run_as = {"user": _USER, "group": _USER, "extra_groups": []}
        kept = {key: value for key, value in os.environ.items() if "proxy" not in key.lower()}
        with (self._folder / f"{name}.log").open("a") as log:
            self._processes[name] = subprocess.Popen(
                command, cwd="/", env=kept, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                **run_as,
            )  # fmt: skip  # a call in few lines

    def _members(self) -> list[dict[str, Any]]:
        for port in self._rest:
            with suppress(requests.RequestException):
                answer = requests.get(f"http://127.0.0.1:{port}/cluster", timeout=2)
                return list(answer.json()["members"])
        return []

    def _roles(self) -> list[str]:
        good = [each for each in self._members() if each["state"] in {"running", "streaming"}]
        return sorted(each["role"] for each in good)

    def _of_patroni(self, member: int) -> list[psutil.Process]:
        with suppress(psutil.NoSuchProcess):
            process = psutil.Process(self._processes[f"patroni{member}"].pid)
            return [process, *process.children(recursive=True)]
        return []

    def _of_server(self, member: int) -> list[psutil.Process]:
        """The server's own process and its children, which are in a session of their own."""
        with suppress(psutil.NoSuchProcess, OSError):
            pid = int((self._folder / f"pg{member}/data/postmaster.pid").read_text().split()[0])
            process = psutil.Process(abs(pid))  # negative: one of a single user
            return [process, *process.children(recursive=True)] if process.name().startswith("postgres") else []
        return []


class Writes:
    """Writes to each server of the cluster by itself, so that it is known since when one can be written to."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster, self._stopping = cluster, threading.Event()
        self._times: list[float] = []
        # One for each, because a server that stands still answers nothing. They end with the process, if not before.
        self._threads = [threading.Thread(target=self._write, args=(member,), daemon=True) for member in MEMBERS]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        until(lambda: self._times, what="a server can be written to")
        return self

    def __exit__(self, *_error: object) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join(2)

    def possible_again(self, since: float) -> float:
        """When the longest time since then ended in which no server could be written to; `since` if none was long."""
        times = sorted(at for at in list(self._times) if at >= since)
        begin, end = max(pairwise([since, *times]), key=lambda pair: pair[1] - pair[0])
        return end if end - begin > _SHORT_SECONDS else since

    def _write(self, member: int) -> None:
        while not self._stopping.wait(0.2):
            with suppress(psycopg.Error), self._cluster.connect(member, "postgres") as connection:
                while not self._stopping.wait(0.05):
                    connection.execute("INSERT INTO probe DEFAULT VALUES")
                    self._times.append(time.monotonic())


def _answers(port: int, path: str) -> bool:
    with suppress(requests.RequestException):
        return requests.get(f"http://127.0.0.1:{port}{path}", timeout=2).ok
    return False


def _is_reached(url: str) -> bool:
    with suppress(psycopg.Error):
        psycopg.connect(url, connect_timeout=2).close()
        return True
    return False


@contextmanager
def cluster(program: Callable[[str], str]) -> Iterator[Cluster]:
    """Start one, whatever runs on the machine already. The test is skipped without its programs."""
    for name in PROGRAMS:
        program(name)
    with ExitStack() as stack:
        # Not one of pytest's, which the next run of it closes to others: PostgreSQL runs as another user.
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="rota-cluster-")))
        redis_url = stack.enter_context(redis_server(program("redis-server")))
        found = Cluster(folder, redis_url, stack)
        stack.callback(found.stop)
        found.start()
        yield found
