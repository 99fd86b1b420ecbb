"""`/readyz`: what makes a process unready, what only degrades the service, and how long the answer may take."""

import json
import os
import socket
import subprocess
import threading
from contextlib import closing
from datetime import timedelta
from http.client import HTTPConnection
from unittest.mock import Mock

import pytest
from django.conf import settings as django_settings
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from redis import Redis

from common import clock
from common.cached import Cached
from common.connections import redis
from config.monitoring import heartbeats, readiness
from tests.config.server.stream_client import granian
from tests.factories import DeliveryFactory
from tests.faults.waiting import until
from tests.ports import free_port, listens
from tests.production import ENVIRONMENT

NAMES = ["database", "migrations", "clock", "webhooks", "redis", "beat", "worker", "worker_clock"]


@pytest.fixture(autouse=True)
def _nothing_cached(monkeypatch):
    monkeypatch.setattr(readiness, "_results", Cached(readiness._examine, seconds=readiness._CACHED_SECONDS))


@pytest.fixture
def _all_alive():
    heartbeats._written_at.clear()
    for process in heartbeats.PROCESSES:
        heartbeats.written_by(process)


@pytest.fixture
def full_redis(program):
    """A client of a Redis that answers and takes nothing."""
    port = free_port()
    settings = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--maxmemory", "1"]
    server = subprocess.Popen([program("redis-server"), *settings], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    until(lambda: listens(port), what="redis-server")
    with Redis(port=port, socket_timeout=5) as client:
        yield client
    server.terminate()
    server.wait(10)


@pytest.fixture
def ask(client):
    def do():
        response = client.get("/readyz")
        body = response.json()
        return response.status_code, body["status"], {k: v["why"] for k, v in body["checks"].items() if not v["ok"]}

    return do


@pytest.mark.django_db
@pytest.mark.usefixtures("_all_alive")
class TestReady:
    def test_is_200_with_every_check_and_its_time(self, client):
        response = client.get("/readyz")

        body = response.json()
        assert (response.status_code, body["status"]) == (200, "ready")
        assert list(body["checks"]) == NAMES
        assert all(set(check) == {"ok", "why", "milliseconds"} for check in body["checks"].values())
        assert response["Cache-Control"] == "no-store, private"

    def test_is_degraded_while_the_memory_of_redis_is_full(self, ask, full_redis, monkeypatch):
        monkeypatch.setattr(readiness, "redis", lambda: full_redis)

        status, text, failed = ask()

        assert (status, text) == (200, "degraded")
        assert failed["redis"] == "its memory is full, so nothing can be written to it"

    @pytest.mark.parametrize("process", heartbeats.PROCESSES)
    @pytest.mark.parametrize("left", [heartbeats._KEPT_MS - 31_000, 0])
    def test_is_degraded_without_a_sign_of_life(self, ask, process, left):
        redis().pexpire(heartbeats._key(process), left)  # 0 deletes it

        assert ask() == (200, "degraded", {process: "no sign of life for 30 s"})

    def test_is_degraded_with_another_clock_than_postgresql(self, ask, monkeypatch):
        monkeypatch.setattr(clock, "LARGEST_DIFFERENCE", timedelta(seconds=-1))

        assert ask() == (200, "degraded", {"clock": "the clocks of this machine and of PostgreSQL differ"})

    def test_is_degraded_while_a_worker_notes_another_clock_than_postgresqls(self, ask):
        heartbeats.clock_differs()
        left = redis().pttl(heartbeats._CLOCK_KEY)
        noted = ask()
        redis().delete(heartbeats._CLOCK_KEY)

        assert noted == (
            200, "degraded", {"worker_clock": "the clocks of a worker's machine and of PostgreSQL differ"},
        )  # fmt: skip  # one answer
        assert 2 * clock.COMPARE_SECONDS * 1000 < left <= 30_000

    def test_is_unready_at_a_standby(self, ask, monkeypatch):
        """Behind a pooler; otherwise none is connected to."""
        monkeypatch.setattr(readiness, "_IS_STANDBY", "SELECT set_config('transaction_read_only', 'on', true)")

        status, state, failed = ask()

        assert (status, state) == (503, "unready")
        assert failed["database"] == "it is a standby, so nothing can be written to it"

    def test_is_unready_with_pending_migrations(self, ask, monkeypatch):
        expected = readiness._expected_migrations() | {("delivery", "9999_new")}
        monkeypatch.setattr(readiness, "_expected_migrations", lambda: expected)

        assert ask() == (503, "unready", {"migrations": "migrations are pending: run manage.py migrate"})

    def test_asks_the_servers_once_a_second_however_many_ask(self, client, monkeypatch):
        examine = Mock(side_effect=readiness._examine)
        monkeypatch.setattr(readiness, "_results", Cached(examine, seconds=60))

        statuses = {client.get("/readyz").status_code for _ in range(20)}

        assert (statuses, examine.call_count, readiness._CACHED_SECONDS) == ({200}, 1, 1)

    def test_uses_no_connection_of_the_requests_thread(self, client):
        from django.db import connection

        with CaptureQueriesContext(connection) as queries:
            client.get("/readyz")

        assert len(queries) == 0


class TestServerThatStopsAnswering:
    """It has answered before: nothing of that is said again while it hangs, and its checks are made anew afterwards."""

    @pytest.mark.parametrize("server", ["database", "redis"])
    @pytest.mark.parametrize("answered", [0, 1])
    def test_fails_what_it_has_not_answered_this_time(self, server, answered, monkeypatch):
        may_answer, calls = threading.Event(), []
        names = next(group.names for group in readiness._GROUPS if group.names[0] == server)
        good = readiness.Result(True, "", 1.0)

        def check(results):
            calls.append(server)
            for number, name in enumerate(names):
                if len(calls) == 2 and number == answered:
                    assert may_answer.wait(30)
                results[name] = good

        group = readiness._Group(names, check)
        monkeypatch.setattr(readiness, "_GROUPS", [group])
        monkeypatch.setattr(readiness, "DEADLINE_SECONDS", 0.1)

        found = [readiness._examine() for _call in range(3)]
        may_answer.set()
        group.start().result(30)
        found.append(readiness._examine())

        late = set(names[answered:])
        wrong = [{name: each.why for name, each in results.items() if not each.ok} for results in found]
        assert wrong == [{}, *[dict.fromkeys(late, "no answer in time")] * 2, {}]


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("_all_alive")
@pytest.mark.parametrize(("late", "status", "failed"), [(61, "degraded", {"webhooks"}), (30, "ready", set())])
def test_a_late_event_degrades(ask, token, late, status, failed):
    endpoint = token.integrator.endpoints.get(environment=token.environment)
    endpoint.url = "http://127.0.0.1:9/x"
    endpoint.save()
    DeliveryFactory.create(token=token, at=timezone.now() - timedelta(seconds=late))

    answer = ask()

    assert (*answer[:2], set(answer[2])) == (200, status, failed)


class TestServersThatAreAway:
    """In a real web process whose servers are ports of this test."""

    def test_postgresql_that_never_answers(self, silent_port):
        servers = {"DATABASE_URL": f"postgres://rota@127.0.0.1:{silent_port}/rota"}

        status, body = probe({**servers, "REDIS_URL": django_settings.REDIS_URL})

        assert (status, body["status"]) == (503, "unready")
        assert [body["checks"][name]["why"] for name in NAMES[:4]] == ["no answer in time"] * 4
        assert body["checks"]["redis"]["ok"]

    def test_redis_and_postgresql_that_refuse(self):
        status, body = probe({})

        assert (status, body["status"]) == (503, "unready")
        assert not any(check["ok"] for check in body["checks"].values())
        assert body["checks"]["webhooks"] == {"ok": False, "why": "the database does not answer", "milliseconds": 0.0}
        assert "127.0.0.1" not in json.dumps(body)
        assert "rota" not in json.dumps(body)


@pytest.fixture
def silent_port():
    """Accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        accepted = []

        def accept():
            while True:
                try:
                    accepted.append(server.accept()[0])
                except OSError:
                    return

        threading.Thread(target=accept, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
        for each in accepted:
            each.close()


def probe(environment):
    """Status and body of the first answer of `/readyz` after one of `/healthz`."""
    kept = {name: os.environ[name] for name in ("PATH", "DATA_DIR")}
    with (
        granian("config.server.rsgi:application", {**kept, **ENVIRONMENT, **environment}) as (port, _process),
        closing(HTTPConnection("127.0.0.1", port, timeout=30)) as connection,
    ):
        headers = {"Host": "rota.example.com"}
        connection.request("GET", "/healthz", headers=headers)
        assert connection.getresponse().read() == b'{"status": "ok"}'
        connection.request("GET", "/readyz", headers=headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
