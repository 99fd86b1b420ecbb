"""Work on many rows, each by itself: an error of one row stops no other, and a lost connection ends the work."""

from datetime import timedelta

import pytest
from django.db import InterfaceError, OperationalError, ProgrammingError
from django.utils import timezone

from common.postgresql.batches import claim, each, together_or_each
from common.simulation.rows import Simulator
from common.webhooks import sender
from delivery.alerts.models import AlertPost
from delivery.models import Simulation
from tests.cases import in_turn
from tests.delivery.simulated import request as request_simulated

ROWS = [1, 2, 3]


class Work:
    """Of the rows 1 to 3 the second causes an error. Several at once cannot be done."""

    def __init__(self, error):
        self.error, self.tried = error, []

    def alone(self, row, **_facts):
        self.tried.append(row)
        if row == 2:
            raise self.error

    def some(self, rows):
        if len(rows) > 1:
            raise ProgrammingError
        self.alone(*rows)


def one_by_one(work, _monkeypatch):
    each(ROWS, work.alone, doing="count")


def first_together(work, _monkeypatch):
    together_or_each(ROWS, work.some, doing="count")


def only_together(work, _monkeypatch):
    together_or_each([2], work.some, doing="count")


def outcomes_of_webhooks(work, monkeypatch):
    monkeypatch.setattr(sender, "settle", lambda _outbox, outcomes, at: work.some(outcomes) or [])
    sender._settle_each_possible(None, ROWS)  # type: ignore[arg-type]  # handed on only


def simulations(work, _monkeypatch):
    now = timezone.now()
    for _number in ROWS:
        request_simulated(at=now)
    numbers = iter(ROWS)
    simulator = Simulator(Simulation, lambda _row, at: work.alone(next(numbers)), doing="count")
    simulator.advance_due(at=now + timedelta(minutes=1))


@pytest.mark.django_db
def test_a_claim_is_one_query_while_nothing_is_due(django_assert_num_queries):
    now = timezone.now()
    with django_assert_num_queries(1):
        assert claim(AlertPost.objects.all(), at=now, lease=timedelta(minutes=1), most=10) == []


@pytest.mark.django_db
@in_turn("error", [OperationalError, InterfaceError])
@in_turn("kind", [one_by_one, first_together, only_together, outcomes_of_webhooks, simulations])
def test_a_lost_connection_is_raised_and_no_further_row_is_tried(kind, error, monkeypatch):
    work = Work(error("the connection is lost"))

    with pytest.raises(error, match="lost"):
        kind(work, monkeypatch)

    assert work.tried[-1] == 2
