"""Every URL of the two APIs against its callers: with no credential, a wrong one, another account's, one's own."""

from dataclasses import dataclass
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile as File
from django.db import transaction
from django.utils import timezone
from rest_framework.test import APIClient

from delivery.accounts import integrators, tokens
from integration.accounts import keys, sellers
from integration.carriers import actions as carriers
from integration.models import Order
from tests.endpoints import ENDPOINTS, Endpoint
from tests.factories import BY, TokenFactory
from tests.integration.factories import OTHER_COMPANY, SellerFactory, key_of, make_carrier, nfe_xml, order_body
from tests.panel.conftest import address


@dataclass(frozen=True)
class Call:
    """What is sent, and the status of the answers to the owner of the objects and to another account.

    Unless it is given, the former is the example and the status of the description, the latter 404 for an id.
    """

    endpoint: Endpoint
    sent: Any = None
    own: int = 0
    other: int = 0

    @property
    def body(self) -> Any:
        return self.sent or self.endpoint.body or self.endpoint.query

    @property
    def statuses(self) -> tuple[int, int]:
        own = self.own or self.endpoint.status
        return own, self.other or (404 if "<" in self.endpoint.route else own)


FORM = "a form with an invoice"
# What differs, by the beginning of an endpoint.
SPECIAL: dict[str, dict[str, Any]] = {
    # With live tokens and keys; those of the sandbox are tested in test_sandbox.py of both areas.
    "post /api/integration/sandbox/": {"own": 404},
    "put /api/integration/sandbox/": {"own": 404, "other": 404},
    "post /api/sandbox/": {"own": 404},
    "put /api/sandbox/": {"own": 404, "other": 404},
    "post /api/deliveries/{}/dropoffs/B/instruct": {"own": 409},  # nothing has failed there
    "post /api/integration/orders": {"sent": order_body(orderId="B-1"), "other": 401},
    "post /api/integration/orders/cancel": {"sent": {"orderId": "A-1"}, "other": 404},
    "post /api/integration/labels": {"sent": {"orderIds": ["A-1"]}, "other": 404},
    # It stands in a manifest already.
    "post /api/integration/manifests": {"sent": {"orderIds": ["A-1"]}, "own": 409, "other": 404},
    "post /api/integration/manifests/{}/": {"sent": {"orderIds": ["A-1"]}},
    "post /api/integration/manifests/{}/orders": {"sent": {"orderIds": ["A-1"]}, "own": 409},  # as above
    "post /api/integration/invoices/marketplace": {"sent": FORM},
    "post /api/integration/invoices/{}/": {"sent": {"orderId": "A-1"}},
}


def call_of(endpoint: Endpoint) -> Call:
    special = max((start for start in SPECIAL if str(endpoint).startswith(start)), key=len, default="")
    return Call(endpoint, **SPECIAL.get(special, {}))


CALLS = [call_of(endpoint) for endpoint in ENDPOINTS]
NOBODY = ["none", "unknown", "revoked", "suspended", "of the other area"]


@pytest.fixture
def headers(world, with_url):
    """The Authorization header of every caller, for area A, for area B, and for carriers."""
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
    (carrier, own_carrier_key), (inactive, inactive_key) = make_carrier(), make_carrier("Inactive")
    dead_carrier_key, dead_text = carriers.issue_key(carrier=carrier, by=BY, at=timezone.now())
    carriers.revoke_key(key=dead_carrier_key, by=BY, at=timezone.now())
    inactive.active = False
    inactive.save()
    return {
        "carriers": {
            "none": "",
            "unknown": "Basic rota_carrierkey_unknown",
            "revoked": f"Basic {dead_text}",
            "suspended": f"Basic {inactive_key}",
            "of the other area": f"Basic {key}",
            "own": f"Basic {own_carrier_key}",
            "another account's": f"Basic {make_carrier('Other')[1]}",
        },
        "A": {
            "none": "",
            "unknown": "Bearer rota_live_unknown",
            "revoked": f"Bearer {revoked.clear_text}",
            "suspended": f"Bearer {suspended.clear_text}",
            "of the other area": f"Bearer {key}",
            "own": f"Bearer {own.clear_text}",
            "another account's": f"Bearer {other.clear_text}",
        },
        "B": {
            "none": "",
            "unknown": "Basic rota_key_unknown",
            "revoked": f"Basic {dead_key.clear_text}",
            "suspended": f"Basic {suspended_key}",
            "of the other area": f"Basic {own.clear_text}",
            "own": f"Basic {key}",
            "another account's": f"Basic {other_key}",
        },
    }


def status_of(call, world, header):
    method, body = call.endpoint.method, {"nfe": File("n.xml", nfe_xml().encode())} if call.body == FORM else call.body
    form = {"format": "multipart"} if call.body == FORM else {"format": "json"} if method == "post" else {}
    client = APIClient(HTTP_AUTHORIZATION=header)
    return getattr(client, method)(address(call.endpoint.route, world), body, **form).status_code


def test_callers(world, headers):
    expected: dict[str, dict[str, int]] = {}
    found: dict[str, dict[str, int]] = {}
    for call in CALLS:
        name, endpoint, (own, other) = str(call.endpoint), call.endpoint, call.statuses
        expected[name] = {**dict.fromkeys(NOBODY, 401), "own": own, "another account's": other}
        of_area = headers["carriers" if endpoint.is_of_carriers else "B" if endpoint.is_of_sellers else "A"]
        # No `atomic` block: within one a durable block of production code is refused.
        savepoint = transaction.savepoint()
        found[name] = {caller: status_of(call, world, header) for caller, header in of_area.items() if caller != "own"}
        assert Order.objects.get().status == "pending", name
        found[name]["own"] = status_of(call, world, of_area["own"])
        transaction.savepoint_rollback(savepoint)

    assert found == expected


def test_tracking_does_not_reveal_orders_to_another_seller(world, headers):
    path = "/api/integration/orders/tracking?type=order_number&value=A-1"

    answers = {
        caller: APIClient(HTTP_AUTHORIZATION=headers["B"][caller]).get(path).json()["success"]
        for caller in ("own", "another account's")
    }

    assert answers == {"own": True, "another account's": False}
