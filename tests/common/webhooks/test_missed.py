"""Changes that read their endpoint before it got a URL, and are written after that."""

from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from django.utils import timezone, translation

from common.actors import actor_name
from common.webhooks import endpoints, replays
from common.webhooks.endpoints import CheckedUrl
from common.webhooks.models import EventState
from common.webhooks.replays import Replayed
from delivery import tasks as tasks_of_deliveries
from delivery.actions import deliveries
from integration import tasks as tasks_of_orders
from integration.actions import orders
from integration.lifecycle import Status
from integration.models import WebhookEndpoint
from tests.factories import BY, DeliveryFactory, TokenFactory
from tests.integration.factories import SellerFactory, create_order

pytestmark = pytest.mark.django_db


def set_url(endpoint, since):
    return endpoints.store_url(endpoint=endpoint, url=CheckedUrl("http://127.0.0.1:9/hook"), by=BY, at=since)


@pytest.fixture
def started(monkeypatch):
    """The tasks that were sent to be run a minute later, with their arguments."""
    found = {}

    def send_task(task, *, kwargs=None, countdown=None):
        found.update({task: kwargs} if countdown == 60 else {})

    monkeypatch.setattr(current_app, "send_task", send_task)
    return found


@pytest.fixture
def since():
    """When the URL began to be set, which takes a minute: before every change of the test."""
    return timezone.now() - timedelta(minutes=1)


@pytest.fixture(params=["delivery", "order"])
def area(request, since, monkeypatch):
    """Of each area: an endpoint without a URL, what makes a subject with an event, what changes one, and its tasks.

    The URL is set while the subject that is called `late` is being written.
    """
    module: Any
    change: Any
    tasks: Any
    if request.param == "delivery":
        token, module, tasks = TokenFactory.create(), deliveries, tasks_of_deliveries
        endpoint = token.integrator.endpoints.get(environment="live")
        make = lambda _name: DeliveryFactory.create(token=token, at=timezone.now())  # noqa: E731
        change = lambda delivery: deliveries.cancel(delivery=delivery, reason="", by=BY, at=timezone.now())  # noqa: E731
    else:
        module, tasks = orders, tasks_of_orders
        seller = SellerFactory.create()
        endpoint = endpoints.first(WebhookEndpoint, owner=seller.pk, environment="live")
        make = lambda name: create_order(seller, orderId=name)  # noqa: E731
        change = lambda order: orders.move(order=order, to=Status.COLLECTED, by=BY, at=timezone.now())  # noqa: E731
    insert = module.insert_together
    late = iter([lambda: set_url(endpoint, since)])

    def insert_late(*rows):
        next(late, lambda: None)()
        insert(*rows)

    def make_late():
        with monkeypatch.context() as patch:
            patch.setattr(module, "insert_together", insert_late)
            return make("late")

    return endpoint, make, make_late, change, tasks


def test_are_sent_when_all_changes_of_then_are_written(area, started, django_capture_on_commit_callbacks):
    endpoint, make, make_late, _change, tasks = area
    with django_capture_on_commit_callbacks(execute=True):
        late = make_late()
    later = make("later")
    before = endpoint.events.filter(state=EventState.PENDING).count()

    tasks.send_missed_webhooks(**started[tasks.task_names.SEND_MISSED])

    assert before == 1
    assert set(endpoint.events.values_list("state", flat=True)) == {EventState.PENDING}
    assert {item.event.subject for item in endpoint.queue_items.all()} == {late, later}
    with translation.override("pt-br"):
        assert actor_name(endpoints.audit_entries(endpoint, "events_replayed").get().by) == "definição da URL"


def test_of_before_are_left_to_be_recovered(area):
    endpoint, _make, make_late, _change, _tasks = area
    make_late()
    endpoint.refresh_from_db()
    after = timezone.now()

    assert replays.send_missed(endpoint=endpoint, since=after, until=after, at=after) == Replayed()
    assert not endpoint.queue_items.exists()


def test_of_after_the_url_was_set_are_left_to_be_recovered(area, since):
    """They read it without one because it was removed again."""
    endpoint, _make, make_late, _change, _tasks = area
    until = timezone.now()
    make_late()
    endpoint.refresh_from_db()

    assert replays.send_missed(endpoint=endpoint, since=since, until=until, at=timezone.now()) == Replayed()


def test_of_a_subject_with_a_later_event_that_is_sent_are_left_to_be_recovered(area, since):
    endpoint, _make, make_late, change, _tasks = area
    change(make_late())
    endpoint.refresh_from_db()

    assert replays.send_missed(endpoint=endpoint, since=since, until=timezone.now(), at=timezone.now()) == Replayed()

    states = endpoint.events.order_by("sequence").values_list("state", flat=True)
    assert list(states) == [EventState.UNADDRESSED, EventState.PENDING]


@pytest.mark.parametrize(("state", "count"), [(EventState.UNADDRESSED, 2), (EventState.FILTERED, 1)])
def test_of_a_subject_whose_later_event_is_not_sent_are_sent(area, since, state, count):
    endpoint, _make, make_late, change, _tasks = area
    change(make_late())
    endpoint.refresh_from_db()
    endpoint.queue_items.all().delete()
    endpoint.events.filter(state=EventState.PENDING).update(state=state)

    assert replays.send_missed(endpoint=endpoint, since=since, until=timezone.now(), at=timezone.now()).again == count


def test_that_the_filter_leaves_out_are_not_sent(area, since):
    endpoint, _make, make_late, _change, _tasks = area
    make_late()
    endpoint.refresh_from_db()
    endpoint.statuses = [list(endpoint.all_statuses())[-1]]

    assert replays.send_missed(endpoint=endpoint, since=since, until=timezone.now(), at=timezone.now()) == Replayed()


def test_of_an_endpoint_that_is_off_wait_for_a_person(area, since):
    endpoint, _make, make_late, _change, _tasks = area
    make_late()
    endpoint = endpoints.set_enabled(endpoint=endpoint, enabled=False, by=BY, at=timezone.now())

    assert replays.send_missed(endpoint=endpoint, since=since, until=timezone.now(), at=timezone.now()) == Replayed()
