"""What expires or is deleted by its age does not depend on one machine's clock."""

import logging
import pickle
import time
from contextvars import copy_context
from datetime import timedelta
from types import SimpleNamespace

import pytest
from celery import states
from django.db import OperationalError
from django.utils import timezone

from common import clock
from delivery import tasks
from delivery.lifecycle import RouteStatus
from delivery.models import Delivery
from tests.factories import DeliveryFactory

pytestmark = pytest.mark.django_db
LATER = timedelta(days=1)  # than any offer lasts


@pytest.fixture
def move_clock(monkeypatch):
    def move(by):
        monkeypatch.setattr(clock, "timezone", SimpleNamespace(now=lambda: timezone.now() + by))

    return move


@pytest.mark.parametrize("seconds", [-2, 0, 2])
def test_a_small_difference_is_accepted(move_clock, seconds):
    difference = timedelta(seconds=seconds)
    move_clock(difference)

    before, found, after = timezone.now(), clock.agreed_now(), timezone.now()

    assert before <= found - difference <= after


@pytest.mark.parametrize("seconds", [-5, 5, 3600])
def test_a_larger_one_is_not(move_clock, seconds):
    move_clock(timedelta(seconds=seconds))

    with pytest.raises(clock.ClocksDiffer, match=r"differ by \d+ s"):
        clock.agreed_now()


@pytest.mark.parametrize("ahead", [(0, 60), (-60, 0), (-30, 30)], ids=["answer", "question", "both"])
def test_the_time_that_the_comparison_itself_takes_is_none(monkeypatch, ahead):
    """PostgreSQL says its moment at once, late, or in between."""
    moments = [timezone.now() + timedelta(seconds=seconds) for seconds in ahead]
    left = iter(moments)
    monkeypatch.setattr(clock, "timezone", SimpleNamespace(now=lambda: next(left)))

    assert clock.agreed_now() == moments[1]


def test_a_worker_whose_clock_is_ahead_expires_no_offer(move_clock):
    delivery = DeliveryFactory.create()
    move_clock(LATER)

    with pytest.raises(clock.ClocksDiffer):
        tasks.expire_offers()

    # In a context of its own, because a task notes its name for the log. No failure is reported.
    ended = copy_context().run(tasks.expire_offers.apply)
    assert str(ended.state) == states.IGNORED
    assert Delivery.objects.get(pk=delivery.pk).route_status == RouteStatus.AVAILABLE


def test_the_error_passes_from_a_process_of_a_worker_to_its_main_process():
    error = pickle.loads(pickle.dumps(clock.ClocksDiffer(LATER, timezone.now())))  # noqa: S301  # our own

    assert str(error) == "The clocks of this machine and of PostgreSQL differ by 86400 s"


class TestNow:
    @pytest.fixture(autouse=True)
    def _not_compared(self, monkeypatch):
        monkeypatch.setattr(clock, "_known", None)

    def test_is_that_of_the_machine_in_a_process_that_does_not_compare(self, move_clock):
        move_clock(LATER)

        assert clock.now() > timezone.now() + LATER / 2

    @pytest.mark.parametrize("jump", [LATER, -LATER, timedelta(seconds=6)], ids=["ahead", "back", "a little"])
    def test_goes_on_when_the_clock_jumps(self, move_clock, jump):
        clock.compare()
        move_clock(jump)

        assert abs(clock.now() - timezone.now()) < timedelta(seconds=2)

    def test_goes_on_however_often_the_clocks_are_compared_meanwhile(self, move_clock):
        clock.compare()
        move_clock(LATER)
        for _ in range(2):
            with pytest.raises(clock.ClocksDiffer):
                clock.compare()

        assert abs(clock.now() - timezone.now()) < timedelta(seconds=8)

    def test_follows_the_clock_when_postgresql_agrees_with_it(self, move_clock):
        move_clock(LATER)
        with pytest.raises(clock.ClocksDiffer):
            clock.compare()
        move_clock(timedelta(seconds=2))
        clock.compare()

        assert timedelta(seconds=1) < clock.now() - timezone.now() <= timedelta(seconds=2)

    def test_is_postgresqls_where_the_clock_was_wrong_from_the_start(self, move_clock):
        move_clock(LATER)
        with pytest.raises(clock.ClocksDiffer):
            clock.compare()

        assert abs(clock.now() - timezone.now()) < timedelta(seconds=8)


class TestThread:
    @pytest.fixture
    def compared(self, monkeypatch):
        """Runs the thread's work for as many comparisons as there are outcomes, each an exception or None."""
        monkeypatch.setattr(clock, "COMPARE_SECONDS", 0)
        monkeypatch.setattr(clock, "_differ", False)
        monkeypatch.setattr(clock, "_compared_at", 0.0)
        monkeypatch.setattr(clock, "_while_different", None)
        monkeypatch.setattr(clock, "close_database", lambda: None)

        def run(*outcomes):
            left, noted = list(outcomes), []

            def compare():
                if outcome := left.pop(0):
                    raise outcome

            main = SimpleNamespace(is_alive=lambda: bool(left), join=lambda _seconds: None)
            monkeypatch.setattr(clock, "threading", SimpleNamespace(main_thread=lambda: main))
            monkeypatch.setattr(clock, "compare", compare)
            clock.compare_until_exit(lambda: noted.append(len(left)))
            return noted

        return run

    def test_logs_the_begin_and_the_end_of_a_difference_and_notes_each(self, compared, caplog):
        differ = clock.ClocksDiffer(LATER, timezone.now())

        noted = compared(None, differ, differ, None, None)

        assert noted == [3, 2]
        assert [line.split(";")[0] for line in caplog.messages] == [
            "The clocks of this machine and of PostgreSQL differ by 86400 s",
            "The clocks of this machine and of PostgreSQL agree again",
        ]

    def test_goes_on_after_errors_and_logs_those_that_nobody_else_reports(self, compared, caplog):
        caplog.set_level(logging.INFO)

        noted = compared(OperationalError("away"), ValueError("a defect"), clock.ClocksDiffer(LATER, timezone.now()))

        assert noted == [0]
        assert [record.message for record in caplog.records if record.exc_info] == ["The clocks could not be compared"]


def test_clocks_are_compared_every_ten_seconds(monkeypatch):
    compared = []
    monkeypatch.setattr(clock, "compare", lambda: compared.append(time.monotonic()))
    monkeypatch.setattr(clock, "_compared_at", time.monotonic() - clock.COMPARE_SECONDS)
    monkeypatch.setattr(clock, "_while_different", None)

    clock.compare_if_due()
    assert not compared  # in a command
    clock.compare_from_now_on(lambda: None)
    for _ in range(2):
        clock.compare_if_due()

    assert len(compared) == 1
