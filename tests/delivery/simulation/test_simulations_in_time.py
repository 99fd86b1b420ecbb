"""The thread of a worker process that advances simulated deliveries."""

import time

import pytest
from django.db import connection
from django.utils import timezone

from common.background import BackgroundWork
from delivery.models import Simulation
from delivery.simulation import simulated_driver
from tests.delivery.simulated import request, statuses


@pytest.fixture
def threads():
    """Two threads, as of two worker processes."""
    started = [BackgroundWork("simulations", simulated_driver.advance_until_none_is_due) for _process in range(2)]
    yield started
    for thread in started:
        thread.stop(seconds=10)


def wait_until(is_true):
    deadline = time.monotonic() + 30
    while not is_true():
        assert time.monotonic() < deadline, "it has not happened within 30 s"
        time.sleep(0.05)


def has_ended():
    return not Simulation.objects.exists()


def backends():
    """The other connections to the test's database."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        return [pid for (pid,) in cursor.fetchall()]


@pytest.mark.django_db(transaction=True)
class TestTheThread:
    def test_takes_a_delivery_to_its_end_after_one_wake_up(self, threads):
        delivery = request(at=timezone.now(), speed=120)

        threads[0].wake()
        wait_until(has_ended)

        assert statuses(delivery) == ["PENDING", "ACCEPT", "COLLECTED", "COLLECTED", "DELIVERED"]

    def test_goes_on_with_the_next_wake_up_after_a_lost_connection(self, threads):
        first = request(at=timezone.now(), speed=120)
        threads[0].wake()
        wait_until(has_ended)
        with connection.cursor() as cursor:
            for pid in backends():
                cursor.execute("SELECT pg_terminate_backend(%s)", [pid])
        second = request(at=timezone.now(), speed=120)

        def has_ended_with_wake_ups():
            threads[0].wake()
            return has_ended()

        wait_until(has_ended_with_wake_ups)
        assert len(statuses(first)) == len(statuses(second)) == 5


@pytest.mark.django_db
class TestAdvance:
    def test_makes_one_query_while_there_are_no_simulations(self, django_assert_num_queries):
        with django_assert_num_queries(1):
            simulated_driver.advance_until_none_is_due(lambda: False)

    def test_leaves_what_is_due_later_to_a_later_wake_up(self, django_assert_num_queries):
        request(at=timezone.now())

        with django_assert_num_queries(1):
            simulated_driver.advance_until_none_is_due(lambda: False)
