"""Clocks of machines that jump: nothing is lost, and no offer expires because one clock is wrong."""

from datetime import UTC, datetime, timedelta

import pytest
from django.conf import settings
from django.db import connection
from django.db.models import Max
from django.utils import timezone

from common.connections import redis
from common.workers import moments
from config.env import data_dir
from config.moments import tables
from config.monitoring import heartbeats
from delivery.lifecycle import RouteStatus
from delivery.models import Delivery
from tests.faults.calls import Traffic, created, made, new_session, statuses
from tests.faults.endpoint import Answer
from tests.faults.report import await_all, figures_of, print_figures
from tests.faults.waiting import DEADLINE_SECONDS, until

_HOUR = 3600
_AHEAD = 1200  # for less time than a session of the panel may be idle


class Machine:
    """What has a clock of its own: all processes that are started on it."""

    def __init__(self, processes, name):
        self._processes, self._file = processes, data_dir() / f"clock of {name}"
        self.jump(0)

    def start(self, name):
        own_clock = {"module": "tests.faults.with_jumping_clock", "CLOCK_OFFSET": str(self._file)}
        if name == "web":
            return self._processes.start_web(**own_clock, PROGRAM="config.server.web")
        return self._processes.start(name, **own_clock, PROGRAM="celery")

    def jump(self, seconds):
        """To so many seconds before or after the right moment."""
        draft = self._file.with_suffix(".new")
        draft.write_text(str(seconds))
        draft.rename(self._file)


_CLOCK = """
CREATE FUNCTION clocks.{name}() RETURNS timestamptz STABLE LANGUAGE sql AS
'SELECT pg_catalog.{name}() + seconds * interval ''1 s'' FROM clocks.ahead'
"""


class PostgreSQLClock:
    """PostgreSQL's clock, as connections see it that are opened while its functions stand before PostgreSQL's own."""

    def __init__(self):
        self._execute(
            "CREATE SCHEMA clocks",
            "CREATE TABLE clocks.ahead AS SELECT 0 AS seconds",
            *(_CLOCK.format(name=name) for name in ("now", "clock_timestamp")),
            "ALTER DATABASE postgres SET search_path = clocks, pg_catalog, public",
        )

    def jump(self, seconds):
        self._execute(f"UPDATE clocks.ahead SET seconds = {seconds}")  # noqa: S608  # a number

    def end(self):
        self._execute("ALTER DATABASE postgres RESET search_path", "DROP SCHEMA clocks CASCADE")

    def _execute(self, *statements):
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)


@pytest.fixture
def postgresql_clock():
    clock = PostgreSQLClock()
    yield clock
    clock.end()


def furthest_ahead():
    """How far ahead of now the latest moment lies that has passed, of all tables."""
    latest = datetime.min.replace(tzinfo=UTC)
    for table in tables():
        for moment in table.model._default_manager.aggregate(*map(Max, table.passed)).values() if table.passed else ():
            latest = max(latest, moment or latest)
    return latest - timezone.now()


@pytest.fixture
def machine(processes):
    return lambda name: Machine(processes, name)


def failed_checks(web):
    with new_session() as session:
        checks = session.get(f"{web}/readyz", timeout=DEADLINE_SECONDS).json()["checks"]
    return {name for name, check in checks.items() if not check["ok"]}


def go_on(traffic, endpoint, *, answers=100, received=10):
    """Wait for so many further answers and webhooks."""
    answered, events = len(traffic.answers), len(endpoint.receipts)
    until(lambda: len(traffic.answers) > answered + answers, what=f"{answers} answers")
    until(lambda: len(endpoint.receipts) >= events + received, what=f"{received} events received")


def assert_nothing_was_lost(what, traffic, endpoint):
    committed = {(delivery, 1) for delivery in created(traffic.answers)}
    seconds = await_all(committed, endpoint)

    figures = figures_of(committed, endpoint.receipts)
    deliveries = Delivery.objects.filter(pk__in=created(traffic.answers))
    expired = deliveries.filter(route_status=RouteStatus.EXPIRED)
    print_figures(what, figures, calls=len(traffic.answers), seconds_to_the_last=seconds, expired=expired.count())
    assert statuses(traffic.answers).keys() == {200, 201}
    assert made(traffic.answers).keys() == {1}
    assert (figures.lost, figures.out_of_order) == (0, 0)
    assert not expired.exists()
    return deliveries


def test_the_clock_of_the_machine_of_the_only_worker_jumps_by_an_hour(processes, machine, web, callers, endpoint):
    """Webhooks are sent all the same. Offers are not expired until its clock is right."""
    machine = machine("worker")
    processes.start("beat")
    worker = machine.start("worker")
    logged = worker.log.stat().st_size

    with Traffic(callers, [web], per_second=25) as traffic:
        go_on(traffic, endpoint)
        for hours in (1, -1):
            machine.jump(hours * _HOUR)
            go_on(traffic, endpoint)
            until(lambda: "worker_clock" in failed_checks(web), what="/readyz says so")
        until(
            lambda: b"is left until the clocks agree" in worker.log.read_bytes()[logged:],
            what="a task that refuses the clock",
        )
        machine.jump(0)
        go_on(traffic, endpoint)
        until(lambda: "worker_clock" not in failed_checks(web), what="/readyz says that it is over")
    assert_nothing_was_lost("Clock of the worker's machine an hour ahead and back", traffic, endpoint)
    assert b"PostgreSQL agree again" in worker.log.read_bytes()[logged:]


def test_all_clocks_are_ahead_and_put_right(processes, machine, postgresql_clock, callers, endpoint):
    """No moment stays ahead, and what was refused meanwhile is sent again as soon as ever.

    Fails without the task `config.pull_moments_back`: events wait for 20 minutes.
    """
    machine = machine("all")
    for clock in (machine, postgresql_clock):
        clock.jump(_AHEAD)
    for name in ("beat", "worker"):
        machine.start(name)
    web = machine.start("web").base

    with Traffic(callers, [web], per_second=10) as traffic:
        go_on(traffic, endpoint)
        endpoint.answer = Answer(500)
        until(lambda: sum(not each.is_accepted for each in list(endpoint.receipts)) >= 6, what="six refusals")
        were_ahead = furthest_ahead()
        for clock in (machine, postgresql_clock):
            clock.jump(0)
        endpoint.answer = Answer()
        go_on(traffic, endpoint)
    pulled = until(lambda: furthest_ahead() < moments.TOLERANCE, what="no moment is ahead")

    assert were_ahead > timedelta(seconds=_AHEAD / 2)
    assert_nothing_was_lost("All clocks 20 minutes ahead and put right", traffic, endpoint)
    print_figures("Moments that were ahead", seconds=pulled)


def test_the_clock_of_the_machine_of_beat_jumps_by_an_hour(processes, machine):
    """Its tasks are started and run all the same."""
    machine = machine("beat")
    beat = machine.start("beat")
    processes.start("worker")
    silent = []
    for hours in (0, -1, 1, 0):
        machine.jump(hours * _HOUR)
        for _ in range(2):  # one sign of life may have been under way
            redis().delete(*(heartbeats._key(process) for process in heartbeats.PROCESSES))
            silent.append(until(lambda: None not in heartbeats.ages().values(), what="signs of life"))

    print_figures("Clock of beat's machine an hour back and ahead", longest_silence=max(silent[2:]))
    assert beat.is_running


def test_the_clock_of_the_machine_of_a_web_server_jumps_by_an_hour(processes, machine, callers, endpoint):
    """What it writes has the right time: offers last as long as elsewhere, and webhooks are due at once."""
    machine = machine("web")
    web = machine.start("web").base
    processes.start("worker")
    processes.start("beat")
    began = timezone.now()

    with Traffic(callers, [web], per_second=25) as traffic:
        go_on(traffic, endpoint)
        for hours in (1, -1):
            machine.jump(hours * _HOUR)
            go_on(traffic, endpoint)
            until(lambda: "clock" in failed_checks(web), what="/readyz says so")
            go_on(traffic, endpoint)  # the clocks are compared meanwhile
        machine.jump(0)
        go_on(traffic, endpoint)
        until(lambda: "clock" not in failed_checks(web), what="/readyz says that it is over")
    deliveries = assert_nothing_was_lost("Clock of a web server's machine an hour ahead and back", traffic, endpoint)
    for delivery in deliveries:
        assert began - timedelta(seconds=5) < delivery.created_at < timezone.now() + timedelta(seconds=5)
        assert delivery.offer_expires_at - delivery.created_at == settings.OFFER_TTL
