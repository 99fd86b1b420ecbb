"""The lives of deliveries and orders, in any sequence of what people, programs and phones do to them.

After each step there is nothing of what `manage.py verify` looks for, and the API and the panel tell the same. A step
that the lifecycle refuses, and one that is made again, changes nothing.
"""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)
from rest_framework.test import APIClient

from common.accounts import Role
from common.errors import DomainError
from common.postgresql.invariants import find_broken
from common.webhooks import endpoints, replays
from common.webhooks.http_client import Result
from common.webhooks.outbox import outbox_of
from common.webhooks.settlement import settle
from delivery import invariants as of_deliveries
from delivery import lifecycle, words
from delivery.actions import deliveries, moves
from delivery.drivers import moves as of_phones
from delivery.drivers.moves import SentMove
from delivery.errors import MoveRefused
from delivery.lifecycle import Mode, OnFailure, RouteStatus, Trigger
from delivery.models import Delivery, DriverMove, Stop, Transition, WebhookEvent, WebhookQueueItem
from delivery.models.stop import LABELS
from integration import invariants as of_orders
from integration import lifecycle as lifecycle_of_orders
from integration import words as words_of_orders
from integration.actions import orders
from integration.actions.orders import NOTHING_MORE, Details
from integration.errors import OrderNotPending
from integration.invoices.models import Invoice, InvoiceLink
from integration.lifecycle import WITH_REASON, Status
from integration.models import Correction, Order, SearchCode, StatusLog
from integration.models import WebhookEvent as EventOfOrder
from integration.models import WebhookQueueItem as ItemOfOrder
from tests.common.webhooks import settling
from tests.factories import BY, DriverFactory, TariffFactory, TokenFactory, payload
from tests.integration.factories import SellerFactory, key_of, load_tariff, nfe_xml, order_body, upload
from tests.panel.conftest import table

MOST = 2  # deliveries or orders of a life
PROFILE = settings(max_examples=14, stateful_step_count=10, suppress_health_check=list(HealthCheck))


def _dump(tables: Iterable[Any]) -> list[Any]:
    return [list(each._default_manager.order_by("pk").values()) for each in tables]


def is_refusal(result: Any) -> bool:
    return (
        isinstance(result, DomainError)
        or getattr(result, "status_code", 200) >= 400
        or (isinstance(result, DriverMove) and result.refusal != "")
    )


class Life(RuleBasedStateMachine):
    """Of an account with a webhook URL. Subclasses say what is done in their area, and what its lifecycle says."""

    subjects = Bundle("subjects")
    path: str  # of the call that makes one
    export: str  # the panel's list as a file
    always: Any  # what `manage.py verify` looks at
    events: Any
    tables: tuple[Any, ...]
    also: tuple[Any, ...] = ()  # which only a repetition does not write to
    bodies: Any
    names: list[str]  # of moves

    def __init__(self) -> None:
        super().__init__()
        self._block = transaction.atomic()
        self._block._from_testcase = True  # type: ignore[attr-defined]  # not public; durable ones are allowed in it
        self._block.__enter__()
        self.api, self.browser = APIClient(), Client(headers={"accept-language": "en"})
        self.account = self.open()
        user = User.objects.create_user("ana")
        self.account.memberships.create(user=user, role=Role.OWNER)
        self.browser.force_login(user)
        self.outbox = outbox_of(self.events)
        endpoint = endpoints.first(self.outbox.endpoints, owner=self.account.pk, environment="live")
        endpoints.set_url(endpoint=endpoint, url="http://127.0.0.1:9/hook", by=BY, at=timezone.now())
        self.sent: dict[str, tuple[str, Any, Any]] = {}
        self.prices: dict[str, Any] = {}

    def teardown(self) -> None:
        transaction.set_rollback(True)
        self._block.__exit__(None, None, None)

    def open(self) -> Any:
        """The account, with the credentials of `api`."""
        raise NotImplementedError

    def quoted(self, body: Any) -> dict[str, str]:
        """Headers of a call that makes one."""
        return {}

    def found(self, subject: str) -> Any:
        """Its row."""
        raise NotImplementedError

    def price(self, row: Any) -> Any:
        raise NotImplementedError

    def state(self, row: Any) -> Any:
        raise NotImplementedError

    def allowed(self, row: Any, *, leads_on: bool = False) -> list[str]:
        """The moves that its page has now, or those that bring it nearer to its end."""
        raise NotImplementedError

    def moves_of(self, names: list[str]) -> Any:
        """A strategy of moves with one of these names."""
        return st.tuples(st.sampled_from(names))

    def after(self, row: Any, move: Any) -> Any:
        """The state to which the lifecycle leads. None: nothing changes. Raises DomainError where it refuses."""
        raise NotImplementedError

    def attempt(self, row: Any, move: Any) -> Callable[[], Any]:
        """What makes the move, and the same one when it is called again. It may raise DomainError."""
        raise NotImplementedError

    def told(self) -> tuple[Any, Any]:
        """What the API and the panel say of all, in the same words."""
        raise NotImplementedError

    def shown(self) -> list[dict[str, str]]:
        return table(self.browser.get(reverse(f"panel:{self.export}", args=[self.account.pk, "live"])))

    def unchanged(self, call: Callable[[], Any], *also: Any) -> Any:
        """What it returns or raises as a DomainError. It writes nothing to the tables, nor to these."""
        tables = (*self.tables, *also)
        before = _dump(tables)
        try:
            result = call()
        except DomainError as error:
            result = error
        assert _dump(tables) == before
        return result

    @initialize(target=subjects, data=st.data(), times=st.integers(0, 8))
    def begin(self, data: Any, times: int) -> Any:
        subject = self.request("", data)
        self.go_on(subject, data, times)
        return subject

    @rule(target=subjects, key=st.sampled_from(["", "key-1", "key-2"]), data=st.data())
    def request(self, key: str, data: Any) -> Any:
        headers = {"idempotency-key": key} if key else {}
        if key in self.sent:
            subject, body, content = self.sent[key]
            again = self.unchanged(partial(self.api.post, self.path, body, headers=headers))
            assert (again.status_code, again.content, again["Idempotency-Replayed"]) == (201, content, "true")
            return subject
        if len(self.prices) == MOST:
            return multiple()
        body = data.draw(self.bodies)
        answer = self.api.post(self.path, body, headers=headers | self.quoted(body))
        assert answer.status_code == 201, answer.content
        subject = answer.json().get("deliveryId") or body["orderId"]
        self.prices[subject] = self.price(self.found(subject))
        if key:
            self.sent[key] = subject, body, answer.content
        return subject

    @rule(subject=subjects, data=st.data(), times=st.integers(1, 4))
    def go_on(self, subject: str, data: Any, times: int) -> None:
        for _time in range(times):
            row = self.found(subject)
            if names := [*self.allowed(row, leads_on=True) * 3, *self.allowed(row)]:
                self.make(subject, data.draw(self.moves_of(names)))

    @rule(subject=subjects, data=st.data())
    def move(self, subject: str, data: Any) -> None:
        self.make(subject, data.draw(self.moves_of(self.names)))

    def make(self, subject: str, move: tuple[Any, ...]) -> None:
        """Make it, and once more."""
        row = self.found(subject)
        call = self.attempt(row, move)
        try:
            expected = self.after(row, move)
        except DomainError:
            assert is_refusal(self.unchanged(call))
        else:
            made = self.unchanged(call) if expected is None else call()
            assert not is_refusal(made)
            assert self.state(self.found(subject)) == (self.state(row) if expected is None else expected)
        self.unchanged(call, *self.also)

    @rule(subject=subjects, outcome=st.sampled_from([settling.OK, settling.REFUSED]))
    def send_and_replay(self, subject: str, outcome: settling.Outcome) -> None:
        at, events = timezone.now(), self.found(subject).events.order_by("pk")
        self.outbox.items._default_manager.update(due_at=at, lease=None)
        self.outbox.endpoints._default_manager.update(paused_until=None)
        claimed = settling.claim(at=at, outbox=self.outbox).values()
        settle(self.outbox, [(each, Result(**outcome, at=at)) for each in claimed], at=at)
        before = list(events.values_list("pk", "sequence", "name", "body"))
        replays.replay(events=events.all(), by=BY, at=at)
        assert list(events.values_list("pk", "sequence", "name", "body")) == before

    @invariant()
    def holds(self) -> None:
        assert [(finding.what, finding.ids) for finding in find_broken(self.always)] == []
        assert {subject: self.price(self.found(subject)) for subject in self.prices} == self.prices
        answered, shown = self.told()
        assert answered == shown
        assert len(answered) == len(self.prices)


class DeliveryLife(Life):
    """By dispatchers, the driver's phone, the account's program and time. Who is at no desk cancels by the API."""

    path, export = "/api/request-delivery", "deliveries_export"
    always, events = of_deliveries.ALL, WebhookEvent
    tables, also = (Delivery, Stop, Transition, WebhookEvent, WebhookQueueItem), (DriverMove,)
    bodies = st.builds(
        lambda mode, policies: {
            **payload(stops=len(policies), deliveryMode=mode),
            "dropoffs": [
                {**dropoff, "onFailure": policy}
                for dropoff, policy in zip(payload(stops=len(policies))["dropoffs"], policies, strict=True)
            ],
        },
        st.sampled_from([Mode.DEFAULT, Mode.RETURN]),
        st.lists(st.sampled_from([OnFailure.RETURN, OnFailure.RETRY]), min_size=1, max_size=3),
    ) | st.builds(payload, stops=st.integers(1, 3), deliveryMode=st.just(Mode.REVERSE))
    names = sorted({*moves.MOVES, "expire"} - {"position"})

    def open(self) -> Any:
        TariffFactory.create()
        token = TokenFactory.create()
        self.api.credentials(HTTP_AUTHORIZATION=f"Bearer {token.clear_text}")
        return token.integrator

    def quoted(self, body: Any) -> dict[str, str]:
        return {"quote-id": self.api.post("/api/quotation-delivery", body)["Quote-Id"]}

    def found(self, subject: str) -> Any:
        return Delivery.objects.get(pk=subject)

    def price(self, row: Any) -> Any:
        return row.shipping_value

    def state(self, row: Any) -> Any:
        return row.state

    def allowed(self, row: Any, *, leads_on: bool = False) -> list[str]:
        found = [name for name in moves.allowed(row) if name != "position"]
        return [name for name in found if name == "fail" or moves.MOVES[name].is_step] if leads_on else found

    def moves_of(self, names: list[str]) -> Any:
        return st.tuples(st.sampled_from(names), st.sampled_from(LABELS), st.sampled_from(["desk", "phone"]))

    def after(self, row: Any, move: Any) -> Any:
        name, point, _by = move
        index, state = LABELS.index(point), row.state
        if (name == "cancel" and row.cancelled_at) or (name == "expire" and row.route_status != RouteStatus.AVAILABLE):
            return None
        if name == "charge":
            raise MoveRefused("No collection is sent after a cancellation here.")
        if name == "fail" and index < len(state.orders):
            policy = getattr(getattr(row.ordered_stops[index], "options", None), "on_failure", OnFailure.RETURN)
            name = lifecycle.of_failure(OnFailure(policy), is_second=index in state.tried)
        return lifecycle.move(state, Trigger(name), index=index)

    def attempt(self, row: Any, move: Any) -> Callable[[], Any]:
        name, point, by = move
        told: dict[str, Any] = {"delivery": row, "by": BY, "at": timezone.now()}
        if name == "expire":
            return partial(deliveries.expire, **told | {"at": row.offer_expires_at})
        if name == "cancel" and by == "phone":
            return partial(self.api.post, f"/api/cancel-delivery/{row.pk}", {"reason": "changed"})
        at_stop = name != "collect" or row.mode == Mode.REVERSE
        if name in {"collect", "deliver", "fail", "return"} and by == "phone" and row.is_held and not row.cancelled_at:
            sent = SentMove(
                uuid4(), row.pk, Trigger(name), timezone.now(), point=point if at_stop else "", code="ABSENT",
                was_tried=LABELS.index(point) in row.state.tried,
            )  # fmt: skip  # short arguments
            return partial(of_phones.perform, driver=row.driver, sent=sent, at=timezone.now())
        fields = {"point": point if at_stop else "", "code": "ABSENT", "untried": moves.untried(row)}
        if name in {"accept", "reassign"}:
            fields["driver"] = str(DriverFactory.create().pk)
        return partial(moves.perform, name, fields=fields, **told)

    def told(self) -> tuple[Any, Any]:
        listed = self.api.get("/api/deliveries").json()["data"]
        answered = {
            each["deliveryId"]: (
                f"{each['shippingValue']:.2f}",
                each["closedAt"] is not None,
                [order["externalId"] for order in each["orders"]],
                self._names([order["status"] for order in each["orders"]], each["deliveryId"]),
            )
            for each in listed
        }
        shown = {
            each["deliveryId"]: (
                each["Price"],
                bool(each["Closed"]),
                [each[f"{label}: externalId"] for label in LABELS if each[f"{label}: externalId"]],
                [each[f"{label}: Status"] for label in LABELS if each[f"{label}: Status"]],
            )
            for each in self.shown()
        }
        return answered, shown

    def _names(self, statuses: list[str], subject: str) -> list[str]:
        row = self.found(subject)
        if row.mode == Mode.REVERSE:  # the panel tells a cancelled pickup from a failed one
            return [stop.pickup_status for stop in row.ordered_stops]
        return [str(words.STATUSES[each]) for each in statuses]


class OrderLife(Life):
    """By carriers, the seller's program and its invoices."""

    path, export = "/api/integration/orders", "seller_orders_export"
    always, events = of_orders.ALL, EventOfOrder
    tables = (Order, StatusLog, Correction, SearchCode, Invoice, InvoiceLink, EventOfOrder, ItemOfOrder)
    bodies = st.builds(
        lambda code, service: order_body(orderId=f"A-{code}", trackingCode=None, service=service, invoice=None),
        st.uuids(),
        st.sampled_from(["base", "next"]),
    )
    names = [*Status, *["correct", "invoice"] * 3]

    def open(self) -> Any:
        load_tariff()
        seller = SellerFactory.create()
        seller.companies.update(postcode="01310100")
        self.api.credentials(HTTP_AUTHORIZATION=f"Basic {key_of(seller)}")
        return seller

    def found(self, subject: str) -> Any:
        return Order.objects.get(code=subject)

    def price(self, row: Any) -> Any:
        return row.freight_centavos

    def state(self, row: Any) -> Any:
        return row.status

    def allowed(self, row: Any, *, leads_on: bool = False) -> list[str]:
        return [name for name in lifecycle_of_orders.TABLE[row.status] if name != Status.CANCELLED or not leads_on]

    def after(self, row: Any, move: Any) -> Any:
        (name,) = move
        if name == "correct":
            if row.status != Status.PENDING:
                raise OrderNotPending(order=row.code, status=row.status)
            return row.status
        return row.status if name == "invoice" else lifecycle_of_orders.move(Status(row.status), Status(name))

    def attempt(self, row: Any, move: Any) -> Callable[[], Any]:
        (name,) = move
        if name == "correct":
            body = {"receiver": {**row.receiver, "name": str(uuid4())}}
            return partial(self.api.patch, f"{self.path}/{row.code}", body)
        if name == "invoice":
            return partial(upload, self.api, nfe_xml(items=[next(iter(self.prices))]).encode())
        if name == Status.CANCELLED:
            return partial(self.api.post, f"{self.path}/cancel", {"orderId": row.code})
        details = Details(reason_code="ABSENT") if name in WITH_REASON else NOTHING_MORE
        return partial(orders.move, order=row, to=Status(name), by=BY, at=timezone.now(), details=details)

    def told(self) -> tuple[Any, Any]:
        listed = self.api.get(self.path).json()["data"]
        answered = {
            each["orderId"]: (
                str(words_of_orders.STATUSES[Status(each["status"])]),
                each["freight"] and f"{each['freight']['amount'] / 100:.2f}",
            )
            for each in listed
        }
        return answered, {each["orderId"]: (each["status"], each["freight"]) for each in self.shown()}


@pytest.mark.django_db
@pytest.mark.parametrize("life", [DeliveryLife, OrderLife])
def test_stays_whole(life: type[Life]) -> None:
    run_state_machine_as_test(life, settings=PROFILE)
