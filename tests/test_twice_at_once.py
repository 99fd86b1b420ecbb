"""What is for once, asked for twice at the same moment: one gets it, the other its refusal, and nothing is doubled.

The second begins before the first has committed. What locks rows has a table of its own, `tests.locks`.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any, NamedTuple
from unittest.mock import ANY

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from access import access_links, enrolment, invitations
from common.accounts import Role
from common.files import kept_uploads
from common.mail.models import Message
from common.models import KeptUpload
from common.webhooks import endpoints
from delivery.actions import deliveries, quotes
from delivery.alerts import actions as alerts
from delivery.alerts.models import AlertPost
from delivery.drivers import devices
from delivery.errors import LogInLinkUnusable, PriceUnavailable
from delivery.models import (
    AccountScope,
    Delivery,
    DriverDevice,
    Environment,
    Token,
    Transition,
    WebhookEndpoint,
    WebhookEvent,
)
from integration.actions import webhooks
from integration.errors import DuplicateOrder
from integration.models import ApiKey, Order, Seller
from integration.models import WebhookEndpoint as SellerEndpoint
from panel.integrators import uploads
from panel.sellers import order_forms, order_uploads
from panel.sellers.order_forms import OrderForm
from tests.access.conftest import ANA, PASSWORD, log_in
from tests.factories import (
    BY,
    DROPOFFS,
    DeliveryFactory,
    DriverFactory,
    IntegratorFactory,
    TariffFactory,
    TokenFactory,
    payload,
    validated_payload,
)
from tests.integration.factories import COMPANY, SellerFactory, key_of, order_body
from tests.one_time_codes import code_of, set_up
from tests.overlapping import begin, overlap

pytestmark = pytest.mark.django_db(transaction=True)
NOW = timezone.now
EIGHT = datetime(2026, 11, 22, 11, 0, tzinfo=UTC)  # in São Paulo, when digests are sent


class Twice(NamedTuple):
    """A call, what the one that comes second gets, and how many rows there are then."""

    call: Callable[[], Any]
    refusal: Any
    made: dict[Any, int]


def link_to(account: Any, model: Any) -> Twice:
    key = access_links.issue(account=account, by=BY, at=NOW()).partition("=")[2]
    return Twice(lambda: bool(access_links.open_(key, at=NOW())), access_links.NotOpen, {model: len(Environment)})


def invitation(account: Any) -> Twice:
    owner = User.objects.create_user("maria")
    account.memberships.create(user=owner, role=Role.OWNER)
    invited: dict[str, Any] = {"role": Role.MEMBER, "by": owner, "language": "en", "at": NOW()}
    made = invitations.invite(account=account, email=ANA, **invited).invitation
    accept = partial(invitations.sign_up, invitation=made, name="Ana", password=PASSWORD, at=NOW())
    return Twice(accept, invitations.NotOpen, {User: 2, type(account.memberships.get(user=owner)): 2})


def enrolment_code() -> Twice:
    dora = User.objects.create_user("dora")
    code = enrolment.issue(user=dora, by=BY, at=NOW())
    return Twice(partial(enrolment.use, user=dora, code=code, at=NOW()), False, {})


def phone() -> Twice:
    link = devices.issue_link(driver=DriverFactory.create(), by=BY, at=NOW())
    pair = partial(devices.log_in, token=link, phone="Phone", language="en", at=NOW())
    return Twice(pair, LogInLinkUnusable, {DriverDevice: 1})


def code_of_an_app() -> Twice:
    secret = set_up(User.objects.create_user("maria", password=PASSWORD))
    code = code_of(secret)

    def is_let_in() -> bool:
        browser = Client()
        log_in(PASSWORD, browser=browser)
        browser.post(reverse("mfa_authenticate"), {"code": code})
        return browser.get(reverse("account_change_password")).status_code == 200

    return Twice(is_let_in, False, {})


def upload() -> Twice:
    upload = kept_uploads.keep("rows", owner="integrator 1", kind="deliveries", at=NOW())
    return Twice(partial(kept_uploads.claim, upload, owner="integrator 1", at=NOW()), False, {KeptUpload: 1})


# A row of a file, or a form, by the names of its fields.
OF_A_DELIVERY: dict[str, Any] = {
    "a-point": "Paulista", "a-name": "Shop", "a-phone": "+55 11 3333-0000", "b-external_id": "P-1", "b-name": "Ana",
    "b-latitude": DROPOFFS[0].latitude, "b-longitude": DROPOFFS[0].longitude,
}  # fmt: skip  # a table
OF_AN_ORDER: dict[str, Any] = {
    "order-code": "P-1", "order-company": COMPANY, "order-service": "base", "to-name": "Ana", "to-zipcode": "40020000",
    "to-street": "Rua Chile", "to-number": "5", "to-district": "Centro", "to-city": "Salvador", "to-state": "BA",
    "item1-description": "Cafeteira", "item1-quantity": "1", "item1-price": "150", "item1-weight": "1",
    "item1-length": "30", "item1-width": "10", "item1-height": "20",
}  # fmt: skip  # a table


def rows(kind: str) -> Twice:
    """A file with one row, which is confirmed and not acted on."""
    made: dict[Any, int]
    if kind == "deliveries":
        scope = AccountScope(TokenFactory.create().integrator, Environment.LIVE)
        TariffFactory.create()
        points = list(scope.integrator.pickup_points.all())
        read: Any = partial(uploads.read, scope=scope, sender={})
        advance: Any = partial(uploads.advance, scope=scope, by=BY, points=points)
        values, made = OF_A_DELIVERY, {Delivery: 1, WebhookEvent: 1}
    else:
        owner: dict[str, Any] = {"seller": SellerFactory.create(), "environment": Environment.LIVE}
        read, advance = partial(order_uploads.read, **owner), partial(order_uploads.advance, **owner, by=BY)
        values, made = OF_AN_ORDER, {Order: 1}
    raw = "\n".join(";".join(map(str, each)) for each in zip(*values.items(), strict=True))
    found = advance(read(raw.encode(), "rows.csv").id)
    assert found.ready, found.rows
    found.is_confirmed = True
    found.save()
    return Twice(partial(advance, found.id), lambda first: first, made)


def sent_form() -> Twice:
    token = TokenFactory.create()
    TariffFactory.create()
    asked, at = validated_payload(), NOW()
    price, _is_linked = quotes.quote(token=token, payload=asked, at=at)
    quote = quotes.issue(price, token=token, payload=asked, at=at)
    scope = AccountScope(token.integrator, Environment.LIVE)
    send = partial(deliveries.request_once, token=scope, key="form-1", payload=asked, quote_id=quote, by=BY, at=at)
    return Twice(send, lambda first: (first[0], True), {Delivery: 1, WebhookEvent: 1})


def sent_form_of_an_order() -> Twice:
    seller = SellerFactory.create()
    form = OrderForm(OF_AN_ORDER, companies=seller.companies.all(), environment=Environment.LIVE, most_items=1)
    assert form.is_valid(), list(form.faults())
    send = partial(order_forms.create, form, seller=seller, agreed="-", by=BY, at=NOW())
    return Twice(send, lambda first: (first[0], True), {Order: 1})


def call_with_a_key(path: str, body: Any, authorization: str, made: dict[Any, int]) -> Twice:
    headers = {"authorization": authorization, "idempotency-key": "key-1"}

    def send() -> tuple[int, bytes, str | None]:
        answer = Client(headers=headers).post(path, body, content_type="application/json")
        return answer.status_code, answer.content, answer.headers.get("Idempotency-Replayed")

    return Twice(send, lambda first: (*first[:2], "true"), made)


def delivery_with_a_key() -> Twice:
    token = TokenFactory.create()
    TariffFactory.create()
    counts = {Delivery: 1, WebhookEvent: 1}
    return call_with_a_key("/api/request-delivery", payload(), f"Bearer {token.clear_text}", counts)


def order_with_a_key() -> Twice:
    body = order_body(trackingCode=None)
    return call_with_a_key("/api/integration/orders", body, f"Basic {key_of(SellerFactory.create())}", {Order: 1})


def watched(account: Any) -> Any:
    """The endpoint of an account with a member who is told of everything."""
    user = User.objects.create_user("ana", ANA)
    membership = account.memberships.create(user=user, role=Role.OWNER)
    if isinstance(account, Seller):
        return endpoints.first(SellerEndpoint, owner=account.pk, environment="live")
    wanted = dict.fromkeys(("failing", "off", "recovered", "digest"), True)
    alerts.choose(membership=membership, environment="live", wanted=wanted, language="en")
    return WebhookEndpoint.objects.first_ones().get(integrator=account, environment="live")


def digest() -> Twice:
    delivery = DeliveryFactory.create(at=EIGHT - timedelta(hours=20))
    watched(delivery.integrator)
    return Twice(partial(alerts.record_digests, at=EIGHT), 0, {Message: 1})


def trouble() -> Twice:
    endpoint = watched(DeliveryFactory.create().integrator)
    alerts.set_url(endpoint=endpoint, url="http://127.0.0.1:9/alerts", language="en", by=BY, at=NOW())
    return Twice(partial(alerts.tell_trouble, at=NOW() + timedelta(minutes=30)), 0, {AlertPost: 1})


def failing(account: Any, tell: Callable[..., int]) -> Twice:
    endpoint = watched(account)
    down = {"url": "http://127.0.0.1:9/hook", "failures": 50, "failing_since": NOW() - timedelta(days=1)}
    type(endpoint)._default_manager.filter(pk=endpoint.pk).update(**down)
    return Twice(partial(tell, at=NOW()), 0, {Message: 1})


def overdue() -> Twice:
    delivery = DeliveryFactory.create()
    at = delivery.offer_expires_at
    return Twice(partial(deliveries.expire_overdue, at=at), ANY, {WebhookEvent: 2, Transition: 2})


CASES: dict[str, Callable[[], Twice]] = {
    "link to an integrator's access data": lambda: link_to(IntegratorFactory.create(), Token),
    "link to a seller's access data": lambda: link_to(SellerFactory.create(), ApiKey),
    "invitation by an integrator": lambda: invitation(IntegratorFactory.create()),
    "invitation by a seller": lambda: invitation(SellerFactory.create()),
    "enrolment code": enrolment_code,
    "link of a phone": phone,
    "code of an app": code_of_an_app,
    "work on an upload": upload,
    "rows of deliveries": lambda: rows("deliveries"),
    "rows of orders": lambda: rows("orders"),
    "form of a delivery": sent_form,
    "form of an order": sent_form_of_an_order,
    "delivery with a key": delivery_with_a_key,
    "order with a key": order_with_a_key,
    "digest": digest,
    "troubled delivery": trouble,
    "failing endpoint of an integrator": lambda: failing(IntegratorFactory.create(), alerts.tell_changes),
    "failing endpoint of a seller": lambda: failing(SellerFactory.create(), webhooks.tell_changes),
    "overdue offer": overdue,
}


@pytest.mark.parametrize("name", CASES)
def test_is_got_once(name: str, settings: Any) -> None:
    settings.EMAIL_URL = "smtp://127.0.0.1:9"  # what can be sent is written
    case = CASES[name]()

    first, second = overlap(case.call, case.call)

    assert not isinstance(first, Exception), first
    assert first
    if isinstance(case.refusal, type):
        assert type(second) is case.refusal
    else:
        assert second == (case.refusal(first) if callable(case.refusal) else case.refusal)
    assert {model: model._default_manager.count() for model in case.made} == case.made


@pytest.mark.parametrize(
    ("name", "action", "refusal"),
    [
        ("delivery with a key", "delivery.actions.deliveries.request", PriceUnavailable("No tariff.")),
        ("order with a key", "integration.actions.orders.create", DuplicateOrder("orderId")),
    ],
)
def test_is_tried_itself_if_the_first_was_refused(name: str, action: str, refusal: Exception, monkeypatch: Any) -> None:
    case, second = CASES[name](), Future[Any]()

    with ThreadPoolExecutor(1) as pool, monkeypatch.context() as patch:

        def refuse_while_the_second_waits(**_arguments: Any) -> None:
            nonlocal second
            patch.undo()
            second = begin(case.call, pool)
            assert not second.done()
            raise refusal

        patch.setattr(action, refuse_while_the_second_waits)
        status, _body, _replayed = case.call()

    assert status == 400
    assert second.result()[::2] == (201, None)
    assert {model: model._default_manager.count() for model in case.made} == case.made
