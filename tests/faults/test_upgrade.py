"""From one version to the next under load: migrations beside the old version, then one process after the other."""

import os
import subprocess
import sys
import time

import psycopg
import pytest

from dev import embedded
from tests.faults import next_version
from tests.faults.calls import Traffic, created, made, statuses
from tests.faults.proxy import caddy
from tests.faults.report import await_all, figures_of, print_figures
from tests.faults.waiting import DEADLINE_SECONDS, until
from tests.ports import free_port

# Between the restarts of two web servers: longer than `fail_duration` in deploy/Caddyfile.
_READY_SECONDS = 3
_WRITTEN = "SELECT is_of_next, count(*) FROM delivery_delivery WHERE id = ANY(%s) GROUP BY 1"


@pytest.fixture
def next_folder():
    """The next version, whose migration is reverted at the end."""
    yield next_version.make()
    with psycopg.connect(embedded.postgres_url(), autocommit=True) as connection:
        connection.execute("ALTER TABLE delivery_delivery DROP COLUMN is_of_next")
        connection.execute("DELETE FROM django_migrations WHERE name = '9999_next'")


@pytest.fixture
def upgrade(processes, next_folder):
    """Replaces a process by that of the next version, as an orchestrator does. Returns the old one's seconds to end."""

    def do(name, old, port=0):
        if name != "web":
            processes.start(name, folder=next_folder)
            return old.end()
        seconds = old.end()
        processes.start_web(folder=next_folder, port=port)
        time.sleep(_READY_SECONDS)
        return seconds

    return do


@pytest.mark.parametrize("servers", [1, 2])
def test_no_call_fails_while_the_next_version_takes_over(processes, next_folder, upgrade, callers, endpoint, servers):
    """The only web server is replaced while calls wait for it, two of them in turn."""
    ports = [free_port() for _number in range(servers)]
    running = {name: processes.start(name) for name in ("worker", "beat")}
    web = {port: processes.start_web(port=port) for port in ports}
    with caddy(ports) as base, Traffic(callers, [base], per_second=40) as traffic:
        until(lambda: len(endpoint.receipts) > 20, what="20 events received")
        migrate = [sys.executable, "manage.py", "migrate", "--verbosity=0"]
        subprocess.run(migrate, cwd=next_folder, env=dict(os.environ), check=True, timeout=DEADLINE_SECONDS)
        migrated = len(traffic.answers)
        until(lambda: len(traffic.answers) > migrated + 100, what="100 answers of the old version")
        drained = [upgrade(name, process) for name, process in running.items()]
        drained += [upgrade("web", process, port=port) for port, process in web.items()]
        replaced = len(traffic.answers)
        until(lambda: len(traffic.answers) > replaced + 100, what="100 answers of the new version")
    committed = {(delivery, 1) for delivery in created(traffic.answers)}
    await_all(committed, endpoint)
    with psycopg.connect(embedded.postgres_url()) as connection:
        written: dict[bool, int] = dict(connection.execute(_WRITTEN, [created(traffic.answers)]).fetchall())

    figures = figures_of(committed, endpoint.receipts)
    print_figures(
        f"Upgrade under load, web servers: {servers}", figures, by_status=dict(statuses(traffic.answers)),
        slowest_answer_seconds=max(answer.seconds for answer in traffic.answers), longest_drain_seconds=max(drained),
        written_by_old=written.get(False), written_by_new=written.get(True),
    )  # fmt: skip  # one figure each
    assert [(answer.request.kind, answer.body) for answer in traffic.answers if not answer.is_good] == []
    assert made(traffic.answers).keys() == {1}
    assert written.keys() == {False, True}
    assert (figures.lost, figures.duplicated, figures.out_of_order) == (0, 0, 0)
