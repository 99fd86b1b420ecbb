"""People of every role, and a shop with something of everything that a page can name."""

import csv
import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import uuid4

import pytest
from allauth.mfa.models import Authenticator
from django.apps import apps
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from access import invitations
from common.accounts import Role
from common.mail.models import Kind, Message
from common.webhooks import endpoints
from delivery.connections import actions as connections
from delivery.connections import drafts
from delivery.connections.models import Connection, Draft
from delivery.drivers import devices as driver_devices
from delivery.models import (
    Delivery,
    DispatchRules,
    DriverDevice,
    Environment,
    Integrator,
    RefusedDeliveryCall,
    Token,
    WebhookEndpoint,
    WebhookEvent,
)
from integration.accounts import keys, sellers
from integration.connections import actions as seller_connections
from integration.freight.models import FreightParameters
from integration.manifests import actions as manifests
from integration.models import ApiKey, CarrierRule, RefusedCarrierCall, RefusedSellerCall, Seller
from integration.models import WebhookEndpoint as EndpointOfSeller
from panel.sellers import order_uploads
from tests import service_hours
from tests.delivery.conftest import geocoder, routing_server  # noqa: F401  # fixtures
from tests.delivery.connections.shops import shop as connected
from tests.factories import (
    BY,
    PICKUP,
    DeliveryFactory,
    DriverFactory,
    IntegratorFactory,
    TariffFactory,
    TokenFactory,
)
from tests.integration.connections import shops as seller_shops
from tests.integration.factories import (
    OTHER_COMPANY,
    SellerFactory,
    create_order,
    load_tariff,
    make_carrier,
    nfe_xml,
    send_invoice,
)

GROUPS = {"account staff": "Account staff", "dispatcher": "Dispatchers", "depot staff": "Depot staff"}
ROLES = ["anonymous", "nobody", "stranger", "member", "account staff", "dispatcher", "superuser"]


@dataclass
class Shop:
    """An account of the live environment with a delivery, its first event, a token, and a seller with a key."""

    integrator: Integrator
    token: Token
    endpoint: WebhookEndpoint
    delivery: Delivery
    event: WebhookEvent
    seller: Seller
    key: ApiKey
    call: RefusedDeliveryCall
    seller_call: RefusedSellerCall


def make_shop(**seller: Any) -> Shop:
    token = TokenFactory.create()
    delivery = DeliveryFactory.create(token=token, stops=2)
    endpoint = WebhookEndpoint.objects.get(integrator=token.integrator, environment=Environment.LIVE)
    owner = SellerFactory.create(**seller)
    return Shop(
        token.integrator,
        token,
        endpoint,
        delivery,
        WebhookEvent.objects.get(delivery=delivery),
        owner,
        keys.issue(seller=owner, by=BY, at=timezone.now()).key,
        refused_call(RefusedDeliveryCall, integrator=token.integrator, environment=Environment.LIVE),
        refused_call(RefusedSellerCall, seller=owner),
    )


def refused_call(model: Any, **columns: Any) -> Any:
    """A refused call of an account."""
    row = {
        "created_at": timezone.now(),
        "method": "POST",
        "path": "/api/request-delivery",
        "status": 422,
        "code": "invalid_payload",
        "request_id": "my-call-0001",
        "credential": "rota_live_…abcd",
        "content_type": "application/json",
        "size": 35,
        "body": '{\n  "vehicleType": "TRUCK",\n  "name": "<text, 11>"\n}',
        "answer": '{\n  "code": "invalid_payload"\n}',
    }
    return model.objects.create(**{**row, **columns})


def lines_of(page: Any, name: str) -> list[Any]:
    """The rows that a report's page has of a table."""
    return next((list(each["table"].page_rows) for each in page.context.get("tables", []) if each["name"] == name), [])


def cells_of(page: Any, name: str) -> list[list[str]]:
    """What the page of a report shows in a table."""
    rows = next(each["rows"] for each in page.context["tables"] if each["name"] == name)
    return [[text for _name, text, _is_number in cells] for _address, _bar, cells in rows]


def table(response, delimiter=","):
    """The rows of the file below its header, each by the names of its columns."""
    text = b"".join(response).decode("utf-8-sig")
    return list(csv.DictReader(text.splitlines(), delimiter=delimiter))


@pytest.fixture
def shop(db) -> Shop:
    return make_shop()


@pytest.fixture
def with_url(shop) -> Shop:
    """The shop with a webhook URL that nobody listens at."""
    shop.endpoint = endpoints.set_url(endpoint=shop.endpoint, url="http://127.0.0.1:9/hook", by=BY, at=timezone.now())
    return shop


def _failed_message(now: datetime) -> None:
    moments = dict.fromkeys(("created_at", "expires_at", "due_at", "ended_at"), now)
    Message.objects.create(kind=Kind.ALERT, recipient="ana@example.com", state="failed", **moments)


def _of_teams(shop: Shop, someone: User, now: datetime) -> dict[str, int]:
    """An invitation and a member of the account and of the seller."""
    root = User.objects.create_superuser("root")
    invited: dict[str, Any] = {"email": "ana@example.com", "role": Role.MEMBER, "by": root, "language": "en", "at": now}
    return {
        "invitation": invitations.invite(account=shop.integrator, **invited).invitation.pk,
        "seller_invitation": invitations.invite(account=shop.seller, **invited).invitation.pk,
        "membership": shop.integrator.memberships.create(user=someone).pk,
        "seller_membership": shop.seller.memberships.create(user=someone).pk,
    }


def _phone(now: datetime) -> DriverDevice:
    """The phone of a driver."""
    link = driver_devices.issue_link(driver=DriverFactory.create(at_point=PICKUP), by=BY, at=now)
    return driver_devices.log_in(token=link, phone="", language="en", at=now)[0]


def _order_of(connection: Connection) -> Draft:
    """An order of a shop with its price."""
    connections.try_out(connection=connection, at=timezone.now())
    draft = connection.drafts.get()
    drafts.check(draft)
    return draft


@pytest.fixture
def world(with_url):
    """Something of everything that a route can name, by the names of routes' arguments."""
    now = timezone.now()
    test = endpoints.send_test(endpoint=with_url.endpoint, by=BY, at=now)
    device = _phone(now)
    TariffFactory.create()
    load_tariff()
    FreightParameters.objects.update(handling_days=1)  # a row of the history of prices
    DispatchRules.objects.get_or_create()
    service_hours.row("00:00-24:00", integrator=with_url.integrator).save()
    of_seller = endpoints.first(EndpointOfSeller, owner=with_url.seller.pk, environment=Environment.LIVE)
    of_seller = endpoints.set_url(endpoint=of_seller, url="http://127.0.0.1:9/hook", by=BY, at=now)
    order = create_order(with_url.seller)
    carrier, _text = make_carrier("Of the world")
    CarrierRule.objects.create(carrier=carrier)
    refused_call(RefusedCarrierCall, carrier=carrier)
    manifest = manifests.create(seller=with_url.seller, environment=Environment.LIVE, orders=[order], by=BY, at=now)
    someone = User.objects.create(username="someone")
    Authenticator.objects.create(user=someone, type=Authenticator.Type.TOTP, data={})
    imported = order_uploads.read(
        b"Order number;Recipient\nP-1;Ana", "orders.csv", seller=with_url.seller, environment=Environment.LIVE
    )
    _failed_message(now)
    Group.objects.create(name="Night shift")  # of staff; those of the roles are edited by nobody
    pickup = with_url.integrator.pickup_points.get()
    connection = connected(integrator=with_url.integrator, pickup=pickup)
    of_sellers_shop = seller_shops.shop(seller=with_url.seller)
    seller_connections.try_out(connection=of_sellers_shop, at=now)
    of_sellers_shop.drafts.update(is_test=False, missing=[])
    return {
        **_of_teams(with_url, someone, now),
        "seller_connection": of_sellers_shop.pk,
        "seller_shop_order": of_sellers_shop.drafts.get().pk,
        "account": with_url.integrator.pk,
        "environment": Environment.LIVE,
        "delivery": with_url.delivery.pk,
        "delivery_id": with_url.delivery.pk,
        "goods": with_url.delivery.goods_in_hand.create(driver=device.driver, collected_at=now, reported_at=now).pk,
        "signed": "not-signed",
        "event": with_url.event.pk,
        "number": 1,
        "test": test.pk,
        "token": with_url.token.pk,
        "seller": with_url.seller.pk,
        "key": with_url.key.pk,
        "call": with_url.call.pk,
        "seller_call": with_url.seller_call.pk,
        "seller_event": order.events.get().pk,
        "seller_test": endpoints.send_test(endpoint=of_seller, by=BY, at=now).pk,
        "order": order.pk,
        "pk": (invoice := send_invoice(with_url.seller, nfe_xml().encode())).pk,
        "invoice": invoice.pk,
        "access_key": invoice.access_key,
        "manifest": manifest.pk,
        "manifest_id": manifest.pk,
        "order_id": "A-1",
        "id": someone.pk,
        "user_id": someone.pk,
        "uidb36": "1",
        "change": "revoke",
        "driver": device.driver_id,
        "device": device.pk,
        "move": "cancel",
        "point": "B",
        "draft": uuid4(),  # of an upload that is over
        "seller_draft": imported.id,
        "pickup": pickup.pk,
        "connection": connection.pk,
        "shop_order": _order_of(connection).pk,
        "name": "cancel",
        "url": "nothing",
        "page": "quickstart",
        "file": "quickstart",
        "extension": "py",
        "version": "none",  # of a map tile, like those below
        "z": 0,
        "x": 0,
        "y": 0,
        "code": "busy",
        "status": "collected",
    }


# Arguments of routes that are others for sellers.
OF_SELLERS = ("call", "connection", "draft", "event", "invitation", "membership", "shop_order", "test")


def address(route: str, world: dict[str, Any]) -> str:
    """The path of a route of the URL resolver, with something of `world` for each of its arguments."""
    named = dict(world)
    if "panel/sellers/" in route or "api/integration/" in route:
        named.update({name: world[f"seller_{name}"] for name in OF_SELLERS})
    if "webhook/test/" in route:
        named["event"] = named["test"]
    if "<int:membership>" in route:
        named["change"] = "make-owner"
    if "<uuid:pickup>" in route:
        named["change"] = "deactivate"
    if "<path:object_id>" in route:
        _admin, app, model, *_rest = route.split("/")
        rows = apps.get_model(app, model)._default_manager.order_by("-pk")
        named["object_id"] = world["id"] if model == "user" else rows.values_list("pk", flat=True)[0]
    return "/" + re.sub(r"<(?:\w+:)?(\w+)>|\(\?P<(\w+)>\.\*\)\$", lambda part: str(named[part[1] or part[2]]), route)


@pytest.fixture
def person(shop):
    """Make a person of a role, by its name in `ROLES` or `GROUPS`."""

    def make(role: str) -> User:
        user = User.objects.create(username=role.replace(" ", "-"))
        if role == "member":
            shop.integrator.members.add(user)
            shop.seller.members.add(user)
        elif role == "stranger":
            IntegratorFactory.create().members.add(user)
        elif role in GROUPS:
            user.groups.add(Group.objects.get(name=GROUPS[role]))
            User.objects.filter(pk=user.pk).update(is_staff=role != "depot staff")
        elif role == "superuser":
            User.objects.filter(pk=user.pk).update(is_staff=True, is_superuser=True)
        return User.objects.get(pk=user.pk)

    return make


@pytest.fixture
def as_role(person):
    """A browser in which a person of this role is logged in."""

    def browse(role: str) -> Client:
        browser = Client()
        if role != "anonymous":
            browser.force_login(person(role))
        return browser

    return browse


@pytest.fixture
def member(as_role) -> Client:
    return as_role("member")


@pytest.fixture
def staff(as_role) -> Client:
    """The browser of account staff."""
    return as_role("account staff")


@pytest.fixture
def dispatcher(as_role) -> Client:
    return as_role("dispatcher")


@pytest.fixture
def url(shop):
    """The address of one of the shop's pages, by its name."""

    def build(name: str, *arguments: Any) -> str:
        return reverse(f"panel:{name}", args=[shop.integrator.pk, Environment.LIVE, *arguments])

    return build


@pytest.fixture
def seller(shop):
    return shop.seller


@pytest.fixture
def invoice(seller):
    """It names A-1, which does not exist."""
    return send_invoice(seller, nfe_xml().encode())


@pytest.fixture
def foreign_seller(shop):
    return SellerFactory.create(documents=(OTHER_COMPANY,))


@pytest.fixture
def suspended_seller(seller):
    sellers.suspend(seller=seller, reason="unpaid", by=BY, at=timezone.now())
