"""Every URL of the two APIs against its callers: with no credential, a wrong one, another account's, one's own."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile as File
from django.utils import timezone
from rest_framework.test import APIClient

from delivery.actions import integrators, tokens
from integration.actions import keys, sellers
from integration.models import Order
from tests.access.rights_by_url import API, ROUTES
from tests.factories import BY, TokenFactory, payload
from tests.integration.factories import OTHER_COMPANY, SellerFactory, key_of, nfe_xml, order_body
from tests.panel.conftest import address

# route: (method, what is sent, the owner's answer, another account's answer)
CALLS = {
    "api/quotation-delivery": ("post", payload(), 200, 200),
    "api/request-delivery": ("post", payload(), 201, 201),
    "api/cancel-delivery/<str:delivery_id>": ("post", {}, 200, 404),
    "api/info-delivery/<str:delivery_id>": ("get", {}, 200, 404),
    "api/location-delivery/<str:delivery_id>": ("get", {}, 200, 404),
    "api/events": ("get", {}, 200, 200),
    "api/deliveries": ("get", {}, 200, 200),
    "api/deliveries/<str:delivery_id>": ("get", {}, 200, 404),
    # With live tokens; those of the sandbox are tested in tests/delivery/api/sandbox/.
    **{
        f"api/sandbox/deliveries/<str:delivery_id>/{move}": ("post", {}, 404, 404)
        for move in ("accept", "collect", "deliver/<str:point>", "fail/<str:point>", "return", "position", "expire")
    },
    "api/integration/shipping/quote": ("post", {"origin": "01310100", "destination": "40020000"}, 200, 200),
    "api/integration/shipping/services": ("post", {"origin": "01310100", "destination": "40020000"}, 200, 200),
    "api/integration/orders/<path:order_id>": ("get", {}, 200, 404),
    "api/integration/orders": ("post", order_body(orderId="B-1"), 201, 401),
    "api/integration/orders/cancel": ("post", {"orderId": "A-1"}, 200, 404),
    "api/integration/orders/tracking": ("get", {"type": "order_number", "value": "A-1"}, 200, 200),
    "api/integration/invoices/marketplace": ("post", None, 200, 200),
}
# Routes of CALLS that can be read too.
READ_TOO = {"api/integration/orders"}
NOBODY = ["none", "unknown", "revoked", "suspended", "of the other area"]


@pytest.fixture
def headers(world, with_url):
    """The Authorization header of every caller, for area A and area B."""
    own, revoked, other = (
        TokenFactory.create(integrator=with_url.integrator),
        TokenFactory.create(),
        TokenFactory.create(),
    )
    tokens.revoke(token=revoked, by=BY, at=timezone.now())
    key, dead_key = key_of(with_url.seller), keys.issue(seller=with_url.seller, by=BY, at=timezone.now())
    keys.revoke(key=dead_key.key, by=BY, at=timezone.now())
    suspended, suspended_seller = TokenFactory.create(), SellerFactory.create(documents=())
    suspended_key = key_of(suspended_seller)
    integrators.suspend(integrator=suspended.integrator, reason="unpaid", by=BY, at=timezone.now())
    sellers.suspend(seller=suspended_seller, reason="unpaid", by=BY, at=timezone.now())
    other_key = key_of(SellerFactory.create(documents=(OTHER_COMPANY,)))
    return {
        False: {
            "none": "",
            "unknown": "Bearer rota_live_unknown",
            "revoked": f"Bearer {revoked.clear_text}",
            "suspended": f"Bearer {suspended.clear_text}",
            "of the other area": f"Bearer {key}",
            "own": f"Bearer {own.clear_text}",
            "another account's": f"Bearer {other.clear_text}",
        },
        True: {
            "none": "",
            "unknown": "Basic rota_key_unknown",
            "revoked": f"Basic {dead_key.clear_text}",
            "suspended": f"Basic {suspended_key}",
            "of the other area": f"Basic {own.clear_text}",
            "own": f"Basic {key}",
            "another account's": f"Basic {other_key}",
        },
    }


def call(route, world, header):
    method, sent, _own, _other = CALLS[route]
    body = {"nfe": File("n.xml", nfe_xml().encode())} if sent is None else sent
    form = {"format": "multipart"} if sent is None else {"format": "json"} if method == "post" else {}
    client = APIClient(HTTP_AUTHORIZATION=header)
    return getattr(client, method)(address(route, world), body, **form).status_code


def test_every_url_of_the_apis_is_in_the_table():
    assert set(CALLS) == {route for route, row in ROUTES.items() if row == API and route.startswith("api/")}


@pytest.mark.parametrize("route", CALLS)
def test_callers(route, world, headers):
    of_area = headers["integration" in route]

    found = {caller: call(route, world, header) for caller, header in of_area.items() if caller != "own"}
    assert Order.objects.get().status == "pending"
    found["own"] = call(route, world, of_area["own"])

    _method, _sent, own, other = CALLS[route]
    assert found == {**dict.fromkeys(NOBODY, 401), "own": own, "another account's": other}


def test_tracking_does_not_reveal_orders_to_another_seller(world, headers):
    path = "/api/integration/orders/tracking?type=order_number&value=A-1"

    answers = {
        caller: APIClient(HTTP_AUTHORIZATION=headers[True][caller]).get(path).json()["success"]
        for caller in ("own", "another account's")
    }

    assert answers == {"own": True, "another account's": False}
