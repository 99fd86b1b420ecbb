"""Faults of a cluster under load: nothing that was answered is lost or doubled, no process ends, all go on at once.

`make test-faults ARGS="-m failover"`, about ten minutes.
"""

import os
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from itertools import pairwise

import psycopg
import pytest
import requests
from django.db import connection

from config.env import BASE_DIR
from delivery.models import WebhookEvent
from tests.faults.calls import Traffic, call, made, statuses
from tests.faults.failover.cluster import MEMBERS, Writes
from tests.faults.failover.forwarder import Forwarder
from tests.faults.report import await_all, figures_of, print_figures, sequences
from tests.faults.waiting import DEADLINE_SECONDS, until

pytestmark = pytest.mark.failover

_ANSWERS_AGAIN_SECONDS = 3  # after a server can be written to
_FROZEN_SECONDS, _HAPROXY_FROZEN_SECONDS, _HAPROXY_AWAY_SECONDS, _BEHIND_SECONDS = 20, 10, 5, 1


@contextmanager
def _postgresql_killed(cluster):
    cluster.kill_postgresql(cluster.primary)
    yield


@contextmanager
def _switched_over(cluster):
    cluster.switch_over()
    yield


@contextmanager
def _machine_killed(cluster):
    old = cluster.primary
    with cluster.machine_away(old):
        cluster.until_another(old)
        yield


@contextmanager
def _machine_killed_with_standbys_behind(cluster):
    old = cluster.primary
    with ExitStack() as stack:
        with cluster.standbys_behind(old):
            time.sleep(_BEHIND_SECONDS)
            stack.enter_context(cluster.machine_away(old))
        cluster.until_another(old)
        yield


@contextmanager
def _machine_frozen(cluster):
    with cluster.machine_frozen(cluster.primary):
        time.sleep(_FROZEN_SECONDS)
    yield


@contextmanager
def _primary_without_etcd(cluster):
    old = cluster.primary
    with cluster.without_etcd(old):
        cluster.until_another(old)
        yield


@contextmanager
def _member_of_etcd_away(cluster):
    with cluster.away("etcd0"):
        time.sleep(_HAPROXY_AWAY_SECONDS)
        yield


@contextmanager
def _haproxy_frozen(cluster):
    with cluster.frozen("haproxy"):
        time.sleep(_HAPROXY_FROZEN_SECONDS)
    yield


@contextmanager
def _haproxy_away(cluster):
    with cluster.away("haproxy"):
        time.sleep(_HAPROXY_AWAY_SECONDS)
    yield


_OF_HAPROXY = {_haproxy_frozen: _HAPROXY_FROZEN_SECONDS, _haproxy_away: _HAPROXY_AWAY_SECONDS}


@pytest.mark.parametrize(
    "fault",
    [
        _postgresql_killed, _switched_over, _machine_killed, _machine_killed_with_standbys_behind, _machine_frozen,
        _primary_without_etcd, _member_of_etcd_away, _haproxy_frozen, _haproxy_away,
    ],
)  # fmt: skip  # names in few lines
def test_goes_on(postgresql, webs, others, callers, shop, endpoint, fault):
    postgresql.until_whole()
    bases = [web.base for web in webs]
    with Traffic(callers, bases, per_second=12) as traffic, Writes(postgresql) as writes:
        until(lambda: len(endpoint.receipts) > 20, what="20 events received")
        began = time.monotonic()
        with fault(postgresql):
            traffic.until_good(24)
        postgresql.until_whole()
        traffic.until_good(24)
    refused = [answer for answer in traffic.refused if answer.begun > began]
    possible = writes.possible_again(began) if fault not in _OF_HAPROXY else began + _OF_HAPROXY[fault]
    after = max([0.0, *(answer.ended - possible for answer in refused)])
    repeated = traffic.repeat(bases[0], traffic.refused)
    connection.close()
    events = WebhookEvent.objects.filter(endpoint__integrator=shop.integrator)
    committed = sequences(events)
    await_all(committed, endpoint)
    figures = figures_of(committed, endpoint.receipts)

    print_figures(
        fault.__name__.strip("_").replace("_", " "), figures,
        calls=len(traffic.answers), refused=dict(statuses(refused)),
        seconds_without_a_primary=possible - began, seconds_refused_after_it=after,
        longest_call=max(answer.seconds for answer in traffic.answers),
        longest_pause_of_webhooks=_pause(endpoint, began),
    )  # fmt: skip  # one figure each
    assert [process.name for process in (*webs, *others) if not process.is_running] == []
    assert statuses(traffic.answers).keys() <= {200, 201, 503}
    assert statuses(repeated).keys() <= {201}
    assert made(traffic.answers, url=postgresql.url).keys() == {1}
    assert (figures.lost, figures.out_of_order) == (0, 0)
    assert after < _ANSWERS_AGAIN_SECONDS


@pytest.mark.parametrize("is_pooled", [False, True])
def test_a_web_server_that_was_led_to_a_standby(postgresql, processes, environment, pooled, callers, is_pooled):
    """As by a name or an address that has moved: what it was led to at first, it does not stay with."""
    postgresql.until_whole()
    primary = postgresql.primary
    standby = next(member for member in MEMBERS if member != primary)
    with Forwarder([postgresql.ports[standby]]) as way, requests.Session() as session:
        address = f"127.0.0.1:{way.port}"
        url = postgresql.url.replace(postgresql.url.rpartition("@")[2].partition("/")[0], address)
        variables = pooled(url) if is_pooled else {"DATABASE_URL": url}
        web = processes.start_web(**environment | variables)
        at_standby = [call(session, web.base, callers.delivery()) for _number in range(3)]
        ready = requests.get(f"{web.base}/readyz", timeout=DEADLINE_SECONDS).status_code
        way.to = [postgresql.ports[primary]]
        if is_pooled:
            way.cut()  # as a proxy with `on-marked-down shutdown-sessions` does: PgBouncer keeps its connections
            way.mend()
        until(lambda: call(session, web.base, callers.delivery()).status == 201, what="a delivery is made")
        afterwards = [call(session, web.base, callers.delivery()) for _number in range(12)]

    assert statuses(at_standby).keys() == {503}
    assert ready == 503
    assert statuses(afterwards).keys() == {201}


def test_the_tables_are_made_in_spite_of_a_failover(postgresql, environment):
    """A migration that was cut is run again, as by a unit or an orchestrator."""
    postgresql.until_whole()
    url = postgresql.create_database("migrated")
    migrate = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
    variables = {**os.environ, **environment, "DATABASE_URL": url}
    started = subprocess.Popen(migrate, cwd=BASE_DIR, env=variables, stderr=subprocess.DEVNULL)
    until(lambda: started.poll() is not None or _tables(url) > 20, what="20 tables are made")
    assert started.poll() is None
    postgresql.switch_over()
    first = started.wait(DEADLINE_SECONDS)
    postgresql.until_whole()

    for command in (migrate, [*migrate, "--check"]):
        subprocess.run(command, cwd=BASE_DIR, env=variables, check=True, timeout=DEADLINE_SECONDS)
    print_figures("Failover during a migration", None, exit_status_of_the_first=first)


def _tables(url):

    with psycopg.connect(url, connect_timeout=5) as database:
        return len(database.execute("SELECT FROM pg_tables WHERE schemaname = 'public'").fetchall())


def _pause(endpoint, since):
    times = [since, *sorted(receipt.at for receipt in endpoint.receipts if receipt.at > since)]
    return max((after - before for before, after in pairwise(times)), default=0.0)
