"""What the lists of both APIs find by their parameters: rows of the caller's account and environment."""

from functools import partial

import pytest
from rest_framework.test import APIClient

from common.accounts import Environment
from common.fields import new_id
from delivery.lifecycle import RouteStatus
from delivery.lifecycle import Status as DeliveryStatus
from integration.lifecycle import Status
from integration.models import Manifest, SearchCode
from tests.counted.moments import DAY, NOON, TICK
from tests.counted.rows import check, copy, counts
from tests.integration.factories import OTHER_COMPANY, SellerFactory, access_key, key_of

FROM = {
    "createdFrom": ("created_at", NOON, NOON - TICK),
    "createdTo": ("created_at", NOON - TICK, NOON),
    "updatedFrom": ("updated_at", NOON, NOON - TICK),
}


@pytest.fixture
def seller(db):
    return SellerFactory.create(documents=(*SellerFactory.documents, OTHER_COMPANY))


@pytest.fixture
def by_key(seller):
    """How many rows a list of the seller's has."""
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Basic {key_of(seller)}")
    return partial(_listed, client)


@pytest.fixture
def not_own(stranger, in_sandbox):
    return {"of another seller": {"seller": stranger}, "of the sandbox": in_sandbox}


def _listed(client, path, **query):
    answer = client.get(path, {"limit": 100, **query})
    assert answer.status_code == 200, answer.content
    return len(answer.json()["data"])


@counts("delivery/api/filters.py:DeliveryFilter", "delivery/api/filters.py:DeliveryFilter.of_external_id")
@counts("common/api/pagination.py:ListFilter.either", "common/api/pagination.py:ManyFilter.filter")
def test_list_of_deliveries(shop, client_of, of_delivery, other, in_sandbox):
    number = partial(_listed, client_of(shop), "/api/deliveries")
    not_own = {"of another account": {"integrator": other}, "of the sandbox": in_sandbox}
    of = partial(of_delivery, RouteStatus.FINISHED, created_at=NOON)
    named, failed = {"stops": [{"external_id": "PED-1"}]}, {"status": DeliveryStatus.FAILED, "has_failed_stop": True}

    check(
        lambda: number(externalId="PED-1"),
        of=of,
        fit={"of the order": named, "at a second stop": {"stops": [{}, {"external_id": "PED-1"}]}},
        not_={
            "of another order": {"stops": [{"external_id": "PED-12"}]},
            **{name: named | values for name, values in not_own.items()},
        },
    )
    check(
        lambda: {each: number(status=each) for each in ("DELIVERED", "FAILED", "DELIVERED,FAILED")},
        of=of,
        fit={
            "delivered": ({}, {"DELIVERED": 1, "DELIVERED,FAILED": 1}),
            "failed": (failed, {"FAILED": 1, "DELIVERED,FAILED": 1}),
        },
        not_={"under way": partial(of_delivery, RouteStatus.COLLECTED), **not_own},
    )
    check(
        lambda: number(status="DELIVERED,FAILED", updatedFrom=NOON.isoformat()),
        of=partial(of, updated_at=NOON),
        fit={"delivered": {}, "failed": failed},
        not_={
            "under way": partial(of_delivery, RouteStatus.COLLECTED, updated_at=NOON),
            "updated before": {"updated_at": NOON - TICK},
            **not_own,
        },
    )
    for name, (column, inside, outside) in FROM.items():
        check(
            lambda name=name: number(**{name: NOON.isoformat()}),  # type: ignore[misc]  # called at once
            of=of,
            fit={"inside": {column: inside}, "one more": {column: inside}},
            not_={
                "outside": {column: outside},
                **{whose: {column: inside} | values for whose, values in not_own.items()},
            },
        )
    one, two, _another, foreign = of(), of(), of(), of(integrator=other)
    assert number(deliveryId=f"{one.pk},{two.pk},{foreign.pk}") == 2


@counts(
    "integration/api/filters.py:OrderFilter",
    "integration/api/filters.py:OrderFilter._with_code",
    "integration/api/filters.py:OrderFilter.of_company",
    "integration/models/order.py:SearchCodeQuerySet.any_named",
)
def test_list_of_orders(by_key, of_order, like, seller, not_own):
    number, kinds = partial(by_key, "/api/integration/orders"), SearchCode.Kind

    def coded(kind, value="PED-1", **values):
        row = of_order(**values)
        SearchCode.objects.create(seller=row.seller, environment=row.environment, order=row, kind=kind, value=value)

    for parameter, kind, another in (
        ("orderId", kinds.ORDER, kinds.TRACKING_CODE),
        ("trackingCode", kinds.TRACKING_CODE, kinds.ORDER),
    ):
        of = partial(coded, kind)
        check(
            lambda name=parameter: number(**{name: "PED-1"}),  # type: ignore[misc]  # called at once
            of=of,
            fit={"with the code": {}, "one more": {}},
            not_={
                "with a longer one": {"value": "PED-12"},
                "with one that is alike": {"value": "ped1"},
                "with one of another kind": partial(coded, another),
                **not_own,
            },
        )
    check(
        lambda: number(orderId="PED-7"),
        of=partial(coded, kinds.ORDER),
        fit={"with one that is alike": {"value": "ped 7"}, "with one more": {"value": "ped7"}},
        not_={
            "with the code, of another kind": partial(coded, kinds.OTHER, "PED-7"),
            **{f"with the code, {name}": {"value": "PED-7"} | values for name, values in not_own.items()},
        },
    )
    check(
        lambda: number(orderId="PED-2,PED-3"),
        of=partial(coded, kinds.ORDER),
        fit={
            "with the first": {"value": "PED-2"},
            "with the second": {"value": "PED-3"},
            "with one that holds the comma": {"value": "PED-2,PED-3"},
        },
        not_={
            "with another": {"value": "PED-4"},
            "with one of another kind": partial(coded, kinds.OTHER, "PED-2"),
            **{name: {"value": "PED-2"} | values for name, values in not_own.items()},
        },
    )
    check(
        lambda: number(company=OTHER_COMPANY),
        of=partial(of_order, company=seller.companies.get(document=OTHER_COMPANY)),
        fit={"of the company": {}, "one more": {}},
        not_={"of another company": {"company": like.company}, **not_own},
    )
    check(
        lambda: {each: number(status=each) for each in ("collected", "delivered", "collected,delivered")},
        of=partial(of_order, status=Status.COLLECTED),
        fit={
            "collected": ({}, {"collected": 1, "collected,delivered": 1}),
            "delivered": ({"status": Status.DELIVERED}, {"delivered": 1, "collected,delivered": 1}),
        },
        not_={"cancelled": {"status": Status.CANCELLED}, **not_own},
    )
    for name, (column, inside, outside) in FROM.items():
        check(
            lambda name=name: number(**{name: NOON.isoformat()}),  # type: ignore[misc]  # called at once
            # Without a log, whose entries change when the order was updated.
            of=lambda **values: copy(like, code=new_id().hex, tracking_code=new_id().hex, **values),
            fit={"inside": {column: inside}, "one more": {column: inside}},
            not_={
                "outside": {column: outside},
                **{whose: {column: inside} | values for whose, values in not_own.items()},
            },
        )


@counts("integration/api/invoices.py:InvoiceFilter", "integration/api/invoices.py:InvoiceFilter.of_keys")
def test_list_of_invoices(by_key, of_invoice, not_own):
    number, key = partial(by_key, "/api/integration/invoices"), access_key(7)
    check(
        lambda: {each: number(linked=each) for each in ("true", "false")},
        of=of_invoice,
        fit={"linked": ({"is_linked": True}, {"true": 1}), "not linked": ({}, {"false": 1})},
        not_=not_own,
    )
    check(
        lambda: number(key=f"{key},{access_key(8)}"),
        of=of_invoice,
        fit={"with the first key": {"access_key": key}, "with the second": {"access_key": access_key(8)}},
        not_={
            "with another": {"access_key": access_key(9)},
            **{name: {"access_key": access_key(8)} | values for name, values in not_own.items()},
        },
    )


@counts("integration/manifests/api.py:ManifestFilter.of_status")
def test_list_of_manifests(by_key, seller, not_own):
    number = partial(by_key, "/api/integration/manifests")
    manifest = Manifest.objects.create(seller=seller, environment=Environment.LIVE, created_at=NOON, created_by="x")
    closed = {"closed_at": NOON + DAY, "closed_by": "x"}
    check(
        lambda: {each: number(status=each) for each in ("open", "closed")},
        of=partial(copy, manifest),
        fit={"open": ({}, {"open": 1}), "closed": (closed, {"closed": 1})},
        not_={**not_own, **{f"closed, {name}": closed | values for name, values in not_own.items()}},
    )
