"""Every change of either area that a worker has something to do after wakes one, once it has committed."""

from collections.abc import Callable
from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.utils import timezone

from common.webhooks import endpoints, replays
from common.webhooks.endpoints import CheckedUrl
from common.workers import wake_up
from delivery import task_names as of_deliveries
from delivery.accounts import tokens
from delivery.actions import deliveries, schedule
from delivery.models import Environment, WebhookEndpoint, WebhookQueueItem
from integration import task_names as of_orders
from integration.actions import orders
from integration.carriers import movements
from integration.carriers.movements import Movement
from integration.lifecycle import Status
from integration.manifests import actions as manifests
from integration.models import Order
from integration.models import WebhookEndpoint as EndpointOfSeller
from tests.delivery.scheduled import scheduled
from tests.delivery.simulated import request as request_simulated
from tests.factories import BY, DeliveryFactory, DriverFactory, TokenFactory
from tests.integration.factories import SellerFactory, create_order

pytestmark = pytest.mark.django_db
URL = "http://127.0.0.1:9/"
DELIVERY, ORDER = {of_deliveries.SEND_DUE}, {of_orders.SEND_DUE}
MISSED_DELIVERY, MISSED_ORDER = {of_deliveries.SEND_MISSED}, {of_orders.SEND_MISSED}
ARRIVALS, PUSH = {of_deliveries.RENEW_ARRIVALS}, {of_deliveries.PUSH_OFFER}
SIMULATED_DRIVER, SIMULATED_CARRIER = {of_deliveries.ADVANCE_SIMULATIONS}, {of_orders.ADVANCE_SIMULATIONS}
NOBODY: set[str] = set()


@pytest.fixture
def sent(monkeypatch):
    """The tasks that were sent to the broker."""
    found: list[str] = []
    app = SimpleNamespace(send_task=lambda task, **_arguments: found.append(task))
    monkeypatch.setattr(wake_up, "current_app", app)
    own = uuid4()  # wake-ups of other tests may be waiting still
    monkeypatch.setattr(wake_up, "_pending_key", lambda task: f"rota:test:{own}:{task}")
    return found


class Area:
    """An endpoint with a URL, and in `changes` what changes something that it is told of, by the names in CAUSES."""

    endpoint: Any

    def set_url(self, url: str = URL) -> None:
        endpoints.store_url(endpoint=self.endpoint, url=CheckedUrl(url), by=BY, at=timezone.now())
        self.endpoint.refresh_from_db()

    def without_url(self) -> None:
        self.set_url("")

    def only_a_further_one_wants_it(self) -> None:
        model = type(self.endpoint)
        last = list(model.all_statuses())[-1]
        every = list(model.all_statuses())[:-1]
        endpoints.add(beside=self.endpoint, url=CheckedUrl(f"{URL}b"), statuses=every, by=BY, at=timezone.now())
        endpoints.set_filter(endpoint=self.endpoint, statuses=[last], by=BY, at=timezone.now())

    def nobody_wants_it(self) -> None:
        last = list(type(self.endpoint).all_statuses())[-1]
        endpoints.set_filter(endpoint=self.endpoint, statuses=[last], by=BY, at=timezone.now())

    def send_test(self) -> None:
        endpoints.send_test(endpoint=self.endpoint, by=BY, at=timezone.now())

    def replay(self) -> None:
        replays.replay(events=self.endpoint.events.all(), by=BY, at=timezone.now())

    def switch_off(self) -> None:
        endpoints.set_enabled(endpoint=self.endpoint, enabled=False, by=BY, at=timezone.now())

    def switch_on(self) -> None:
        endpoints.set_enabled(endpoint=self.endpoint, enabled=True, by=BY, at=timezone.now())


class Deliveries(Area):
    def __init__(self) -> None:
        self.token = TokenFactory.create()
        self.endpoint = WebhookEndpoint.objects.get(integrator=self.token.integrator, environment="live")
        self.set_url()
        self.delivery = DeliveryFactory.create(token=self.token)

    def create(self) -> None:
        DeliveryFactory.create(token=self.token)

    def accept(self) -> None:
        deliveries.accept(delivery=self.delivery, driver=DriverFactory.create(), by=BY, at=timezone.now())

    def cancel(self) -> None:
        deliveries.cancel(delivery=self.delivery, reason="", by=BY, at=timezone.now())

    def expire(self) -> None:
        deliveries.expire(delivery=self.delivery, by=BY, at=timezone.now() + timedelta(days=1))

    def release(self) -> None:
        deliveries.release(delivery=self.delivery, by=BY, at=timezone.now())

    def schedule(self) -> None:
        scheduled(timedelta(hours=2), at=timezone.now() - timedelta(hours=3))

    def without_keys_of_push_services(self) -> None:
        settings.VAPID_PRIVATE_KEY = ""

    def offer(self) -> None:
        assert schedule.plan(at=timezone.now()) == 1

    def request_in_sandbox(self) -> None:
        self.delivery = request_simulated("sim-cancel-late-1", at=timezone.now())

    def cancel_as_integrator(self) -> None:
        deliveries.cancel(delivery=self.delivery, reason="", by_integrator=True, by=BY, at=timezone.now())

    def let_a_token_wait(self) -> None:
        WebhookQueueItem.objects.update(due_at=timezone.now() + timedelta(hours=1))

    def let_none_wait(self) -> None:
        WebhookQueueItem.objects.all().delete()

    def issue_token(self) -> None:
        tokens.issue(integrator=self.token.integrator, environment=Environment.LIVE, by=BY, at=timezone.now())


class Orders(Area):
    def __init__(self) -> None:
        self.seller = SellerFactory.create()
        self.endpoint = endpoints.first(EndpointOfSeller, owner=self.seller.pk, environment="live")
        self.set_url()
        self.order = create_order(self.seller)

    def create(self) -> None:
        create_order(self.seller, orderId="B-1")

    def move(self) -> None:
        orders.move(order=self.order, to=Status.COLLECTED, by=BY, at=timezone.now())

    def cancel(self) -> None:
        orders.cancel(order=self.order, by=BY, at=timezone.now())

    def report(self) -> None:
        said = Movement("1", self.order.tracking_code, Status.COLLECTED)
        movements.record([said], orders=Order.objects.all(), source="carrier 1", by=BY, at=timezone.now())

    def hand_over(self) -> None:
        values: dict[str, Any] = {"by": BY, "at": timezone.now()}
        manifest = manifests.create(seller=self.seller, environment="live", orders=[self.order], **values)
        manifests.close(manifest=manifest, **values)

    def simulate(self) -> None:
        create_order(self.seller, "sandbox", orderId="C-1", simulation_speed=1.0)


CAUSES: list[tuple[Callable[[], Any], str, str, set[str]]] = [
    (Deliveries, "", "create", DELIVERY | PUSH),
    (Deliveries, "without_url", "create", PUSH),
    (Deliveries, "nobody_wants_it", "create", PUSH),
    (Deliveries, "only_a_further_one_wants_it", "create", DELIVERY | PUSH),
    (Deliveries, "", "accept", DELIVERY | ARRIVALS),
    (Deliveries, "without_url", "accept", ARRIVALS),
    (Deliveries, "", "cancel", DELIVERY | ARRIVALS),
    (Deliveries, "", "expire", DELIVERY),  # nobody was on the way
    (Deliveries, "accept", "release", DELIVERY | ARRIVALS | PUSH),
    (Deliveries, "", "schedule", NOBODY),
    (Deliveries, "schedule", "offer", PUSH | ARRIVALS),  # which is no event
    (Deliveries, "without_keys_of_push_services", "create", DELIVERY),
    (Deliveries, "", "request_in_sandbox", SIMULATED_DRIVER | PUSH),
    (Deliveries, "request_in_sandbox", "cancel_as_integrator", SIMULATED_DRIVER | ARRIVALS),
    (Deliveries, "request_in_sandbox", "cancel", ARRIVALS),  # by a person, to whom the simulation leaves it
    (Deliveries, "let_a_token_wait", "issue_token", DELIVERY),
    (Deliveries, "let_none_wait", "issue_token", NOBODY),
    (Orders, "", "create", ORDER),
    (Orders, "without_url", "create", NOBODY),
    (Orders, "nobody_wants_it", "create", NOBODY),
    (Orders, "only_a_further_one_wants_it", "create", ORDER),
    (Orders, "", "move", ORDER),
    (Orders, "without_url", "move", NOBODY),
    (Orders, "only_a_further_one_wants_it", "move", ORDER),
    (Orders, "", "cancel", ORDER),
    (Orders, "", "report", ORDER),
    (Orders, "", "hand_over", ORDER),
    (Orders, "", "simulate", SIMULATED_CARRIER),
    *(
        (area, before, cause, tasks)
        for area, due, missed in ((Deliveries, DELIVERY, MISSED_DELIVERY), (Orders, ORDER, MISSED_ORDER))
        for before, cause, tasks in (
            ("", "send_test", due),
            ("", "replay", due),
            ("", "set_url", due),
            ("without_url", "set_url", due | missed),
            ("", "without_url", NOBODY),
            ("", "switch_off", NOBODY),
            ("switch_off", "switch_on", due),
        )
    ),
]


@pytest.mark.parametrize(("area", "before", "cause", "tasks"), CAUSES)
def test_wakes_a_worker_after_its_commit(
    area, before, cause, tasks, sent, settings, django_capture_on_commit_callbacks
):
    settings.VAPID_PRIVATE_KEY = "x"  # is restored by the fixture
    world = area()
    if before:
        getattr(world, before)()

    with django_capture_on_commit_callbacks(execute=True):
        getattr(world, cause)()
        before_commit = list(sent)

    assert (before_commit, set(sent)) == ([], tasks)
