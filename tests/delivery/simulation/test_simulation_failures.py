"""Simulated deliveries whose steps fail, and several processes that advance them."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from delivery.models import Driver, DriverPosition, Simulation
from delivery.simulation import simulated_driver
from tests.delivery.simulated import advance, request, seconds, statuses

pytestmark = pytest.mark.django_db

P, A, C, D = "PENDING", "ACCEPT", "COLLECTED", "DELIVERED"


@pytest.fixture
def now():
    return timezone.now()


def break_(delivery):
    """Have the database refuse further events of the delivery, which each move writes last."""
    with connection.cursor() as cursor:
        cursor.execute(
            f"""
            CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                $$ BEGIN RAISE EXCEPTION 'refused by the test'; END $$;
            CREATE TRIGGER refuse BEFORE INSERT ON delivery_webhookevent
                FOR EACH ROW WHEN (NEW.delivery_id = '{delivery.pk}') EXECUTE FUNCTION refuse();
            """
        )


def due():
    due_at = Simulation.objects.next_due()
    assert due_at is not None
    return due_at


def mend():
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER refuse ON delivery_webhookevent")


class TestFailure:
    def test_is_rolled_back_and_repeated(self, now):
        delivery = request(at=now)
        break_(delivery)
        simulated_driver.advance_due(at=now + timedelta(seconds=10))

        assert statuses(delivery) == [P]
        assert not Driver.objects.exists()

        mend()
        advance()

        assert statuses(delivery) == [P, A, C, C, D]
        assert Driver.objects.count() == 1

    def test_does_not_stop_others_and_is_logged_with_its_id(self, now, caplog):
        failing, other = request(at=now), request(at=now + timedelta(seconds=1))
        break_(failing)

        advanced = simulated_driver.advance_due(at=now + timedelta(seconds=11))

        assert advanced == 2
        assert (statuses(failing), statuses(other)) == ([P], [P, A])
        assert f"The simulated driver of delivery {failing.pk} cannot go on" in caplog.text

    def test_is_repeated_after_growing_pauses(self, now):
        delivery = request(at=now)
        break_(delivery)
        pauses = []

        for _try in range(11):
            due_at = due()
            simulated_driver.advance_due(at=due_at)
            pauses.append(seconds(due() - due_at))

        assert pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 256, 256]

    def test_is_forgotten_after_a_success(self, now):
        delivery = request(at=now)
        break_(delivery)
        simulated_driver.advance_due(at=now + timedelta(seconds=10))
        mend()

        simulated_driver.advance_due(at=now + timedelta(seconds=11))

        assert Simulation.objects.get().failures == 0


@pytest.mark.django_db(transaction=True)
class TestSeveralProcesses:
    def test_make_each_step_once(self, now, at_once):
        simulated = [request(at=now, speed=10) for _number in range(6)]

        while (due_at := Simulation.objects.next_due()) is not None:
            counts = at_once(*[lambda at=due_at: simulated_driver.advance_due(at=at)] * 3)
            assert not [count for count in counts if isinstance(count, Exception)]

        assert [statuses(delivery) for delivery in simulated] == [[P, A, C, C, D]] * 6
        moments = DriverPosition.objects.values_list("driver", "recorded_at")
        assert len(set(moments)) == len(moments)
