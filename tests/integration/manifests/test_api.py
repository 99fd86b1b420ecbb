"""Manifests of the API: what stands in them, what closing does, and what is refused."""

from decimal import Decimal

import pytest
from django.db import IntegrityError, InternalError, ProgrammingError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from common.accounts import Environment
from integration.actions import orders
from integration.lifecycle import Status
from integration.manifests import actions as manifests
from integration.models import Manifest, ManifestEntry, Order, StatusLog
from tests.integration.factories import BY, OTHER_COMPANY, assign, create_order, key_of, make_carrier
from tests.integration.papers.codes import texts_of

URL = "/api/integration/manifests"


@pytest.fixture
def sandbox_api(seller):
    return APIClient(HTTP_AUTHORIZATION=f"Basic {key_of(seller, Environment.SANDBOX)}")


@pytest.fixture
def made(seller, tariff):
    """Make orders with these ids that have a freight."""
    seller.companies.update(postcode="01310100")

    def make(*codes, **changes):
        return [create_order(seller, orderId=code, **changes) for code in codes]

    return make


def post(api, *codes):
    return api.post(URL, {"orderIds": [*codes]}, format="json")


def opened(api, *codes):
    response = post(api, *codes)
    assert response.status_code == 201, response.content
    return response.json()["data"]


def of(manifest, *rest):
    return "/".join((URL, str(manifest["manifestId"]), *rest))


def codes(manifest):
    return [order["orderId"] for order in manifest["orders"]]


def assert_refused(response, status, code):
    assert response.status_code == status, response.content
    assert (response.json()["success"], response.json()["code"]) == (False, code)


def statuses():
    return dict(Order.objects.values_list("code", "status"))


class TestCreateManifest:
    def test_answers_its_orders_and_their_totals(self, api, made):
        (first,) = made("A-1", volumes=3)
        light = {"description": "Chá", "dimensions": "1x1x1,0.3333", "quantity": 3, "price": 1}
        (second,) = made("A-2", items=[light], orderCost="0.0050")
        (third,) = made("A-3", service="turbo")
        assign(make_carrier()[0], first, second)

        manifest = opened(api, "A-2", "A-1", "A-3")

        assert [*manifest] == ["manifestId", "status", "createdAt", "closedAt", "orders", "totals"]
        assert (manifest["status"], manifest["closedAt"]) == ("open", None)
        assert codes(manifest) == ["A-2", "A-1", "A-3"]
        assert (third.freight, manifest["orders"][2]["freight"], manifest["orders"][2]["carrier"]) == (None,) * 3
        assert manifest["orders"][1] == {
            "orderId": "A-1", "trackingCode": first.tracking_code, "status": "pending", "volumes": 3, "weight": 3.0,
            "orderCost": 150.0, "freight": first.freight_centavos, "carrier": "Jadlog",
        }  # fmt: skip
        assert manifest["totals"] == {
            "orders": 3, "volumes": 5, "weight": 6.9999, "orderCost": 300.005,
            "freight": first.freight_centavos + second.freight_centavos,
        }  # fmt: skip
        assert api.get(of(manifest)).json()["data"] == manifest
        (page,) = texts_of(api.get(of(manifest) + ".pdf").content)
        assert "Transportadora Jadlog Aberto em" in page
        assert "Fechado em ainda aberto" in page

    def test_counts_an_order_once_that_is_named_twice(self, api, made):
        made("A-1")

        assert codes(opened(api, "A-1", "A-1")) == ["A-1"]

    def test_refuses_an_order_of_an_open_one_and_names_both(self, api, made):
        made("A-1", "A-2")
        manifest = opened(api, "A-1")

        response = post(api, "A-2", "A-1")

        assert_refused(response, 409, "in_open_manifest")
        assert response.json()["message"] == f"O pedido 'A-1' já está no romaneio aberto {manifest['manifestId']}"
        assert Manifest.objects.count() == ManifestEntry.objects.count() == 1

    def test_refuses_orders_that_are_cancelled_collected_unknown_or_foreign(self, api, made, other_seller):
        _waiting, cancelled, collected, _handed_over = made("A-1", "A-2", "A-3", "A-4")
        api.post(of(opened(api, "A-4"), "close"))
        create_order(other_seller, company_document=OTHER_COMPANY, orderId="B-1")
        orders.cancel(order=cancelled, by=BY, at=timezone.now())
        orders.move(order=collected, to=Status.COLLECTED, by=BY, at=timezone.now())

        for code, status, expected in [
            ("A-2", 409, "order_cancelled"),
            ("A-3", 409, "order_not_pending"),
            ("A-4", 409, "order_not_pending"),
            ("A-9", 404, "order_not_found"),
            ("B-1", 404, "order_not_found"),
        ]:
            response = post(api, "A-1", code)

            assert_refused(response, status, expected)
            assert f"'{code}'" in response.json()["message"]
        assert "'A-9'" in post(api, "A-1", "A-9", "A-8").json()["message"]
        assert not Manifest.objects.filter(closed_at=None).exists()

    def test_names_every_fault_by_its_place_in_the_body(self, api, made, other_seller):
        _waiting, cancelled, _listed = made("A-1", "A-2", "A-3")
        number = opened(api, "A-3")["manifestId"]
        create_order(other_seller, company_document=OTHER_COMPANY, orderId="B-1")
        orders.cancel(order=cancelled, by=BY, at=timezone.now())

        several = post(api, "A-1", "A-2", "B-1", "A-3", "A-9", "A-1")
        of_one_kind = post(api, "A-9", "A-1", "A-9", "B-1")

        assert_refused(several, 422, "orders_refused")
        assert several.json()["message"].startswith("4 pedidos")
        assert several.json()["errors"] == {
            "orderIds.1": ["O pedido 'A-2' está cancelado"],
            "orderIds.2": ["Objeto não encontrado neste vendedor e neste ambiente: 'B-1'"],
            "orderIds.3": [f"O pedido 'A-3' já está no romaneio aberto {number}"],
            "orderIds.4": ["Objeto não encontrado neste vendedor e neste ambiente: 'A-9'"],
        }
        assert_refused(of_one_kind, 404, "order_not_found")
        assert [*of_one_kind.json()["errors"]] == ["orderIds.0", "orderIds.2", "orderIds.3"]
        assert Manifest.objects.count() == 1

    def test_looks_at_any_number_of_faults_with_as_many_statements(self, api, made):
        made("A-1", "A-2", "A-3")
        opened(api, "A-1", "A-2", "A-3")

        counted = []
        for sent in (("A-1", "X-1"), ("A-1", "A-2", "A-3", "X-1", "X-2", "X-3")):
            with CaptureQueriesContext(connection) as queries:
                assert_refused(post(api, *sent), 422, "orders_refused")
            counted.append(len(queries))

        assert counted[0] == counted[1]

    def test_refuses_more_orders_than_a_manifest_has(self, api):
        assert_refused(post(api, *(f"A-{number}" for number in range(100))), 404, "order_not_found")
        assert_refused(post(api, *(f"A-{number}" for number in range(101))), 422, "invalid_payload")


class TestCloseManifest:
    def test_collects_its_orders_once(self, api, made):
        made("A-1", "A-2", "A-3")
        manifest = opened(api, "A-1", "A-2")

        closed = api.post(of(manifest, "close")).json()["data"]
        again = api.post(of(manifest, "close")).json()["data"]

        assert (closed["status"], closed["closedAt"] is None) == ("closed", False)
        assert again == closed
        assert "ainda aberto" not in texts_of(api.get(of(manifest), {"format": "pdf"}).content)[0]
        assert statuses() == {"A-1": "collected", "A-2": "collected", "A-3": "pending"}
        entries = StatusLog.objects.filter(status="collected")
        assert [(entry.order.code, entry.via_api) for entry in entries] == [("A-1", True), ("A-2", True)]
        stored = Manifest.objects.get()
        assert {(entry.by, entry.created_at) for entry in entries} == {(stored.closed_by, stored.closed_at)}
        assert stored.closed_by.startswith("key rota_key_")

    def test_leaves_orders_alone_that_a_carrier_has_moved_meanwhile(self, api, made):
        moved, _waiting = made("A-1", "A-2")
        manifest = opened(api, "A-1", "A-2")
        orders.move(order=moved, to=Status.IN_TRANSIT, by=BY, at=timezone.now())

        closed = api.post(of(manifest, "close")).json()["data"]

        assert [order["status"] for order in closed["orders"]] == ["in_transit", "collected"]

    def test_that_is_empty_is_refused(self, api, made):
        (order,) = made("A-1")
        manifest = opened(api, "A-1")
        orders.cancel(order=order, by=BY, at=timezone.now())

        assert_refused(api.post(of(manifest, "close")), 409, "manifest_empty")


class TestCancelledOrder:
    def test_leaves_an_open_manifest_and_its_totals(self, api, made):
        made("A-1", "A-2")
        manifest = opened(api, "A-1", "A-2")

        api.post("/api/integration/orders/cancel", {"orderId": "A-1"}, format="json")

        left = api.get(of(manifest)).json()["data"]
        assert (codes(left), left["totals"]["orders"]) == (["A-2"], 1)

    def test_stays_in_a_closed_one(self, api, made):
        (order,) = made("A-1")
        manifest = opened(api, "A-1")
        api.post(of(manifest, "close"))

        orders.cancel(order=order, by=BY, at=timezone.now())

        assert codes(api.get(of(manifest)).json()["data"]) == ["A-1"]


class TestAddition:
    def test_puts_orders_at_the_end(self, api, made):
        made("A-1", "A-2", "A-3")
        manifest = opened(api, "A-2")

        response = api.post(of(manifest, "orders"), {"orderIds": ["A-3", "A-1"]}, format="json")

        assert (response.status_code, codes(response.json()["data"])) == (200, ["A-2", "A-3", "A-1"])
        assert response.json()["data"]["totals"]["orders"] == 3

    def test_is_refused_as_in_a_new_one_and_then_adds_nothing(self, api, made, other_seller):
        _waiting, cancelled, collected, *_others = made("A-1", "A-2", "A-3", "A-4", "A-5")
        create_order(other_seller, company_document=OTHER_COMPANY, orderId="B-1")
        orders.cancel(order=cancelled, by=BY, at=timezone.now())
        orders.move(order=collected, to=Status.COLLECTED, by=BY, at=timezone.now())
        manifest = opened(api, "A-1")
        opened(api, "A-4")

        for code, status, expected in [
            ("A-1", 409, "in_open_manifest"),
            ("A-2", 409, "order_cancelled"),
            ("A-3", 409, "order_not_pending"),
            ("A-4", 409, "in_open_manifest"),
            ("B-1", 404, "order_not_found"),
        ]:
            assert_refused(
                api.post(of(manifest, "orders"), {"orderIds": ["A-5", code]}, format="json"), status, expected
            )
        assert codes(api.get(of(manifest)).json()["data"]) == ["A-1"]

    def test_ends_at_the_most_orders_of_a_manifest(self, api, made, monkeypatch):
        monkeypatch.setattr(manifests, "MOST_ORDERS", 2)
        made("A-1", "A-2", "A-3")
        manifest = opened(api, "A-1")

        refused = api.post(of(manifest, "orders"), {"orderIds": ["A-2", "A-3"]}, format="json")
        added = api.post(of(manifest, "orders"), {"orderIds": ["A-2"]}, format="json")

        assert_refused(refused, 409, "manifest_full")
        assert refused.json()["errors"] == {"orderIds.1": ["Um romaneio tem no máximo 2 pedidos"]}
        assert codes(added.json()["data"]) == ["A-1", "A-2"]

    def test_is_refused_for_a_closed_one(self, api, made):
        made("A-1", "A-2")
        manifest = opened(api, "A-1")
        api.post(of(manifest, "close"))

        assert_refused(api.post(of(manifest, "orders"), {"orderIds": ["A-2"]}, format="json"), 409, "manifest_closed")


class TestRemoval:
    def test_frees_an_order_for_another_manifest(self, api, made):
        made("A-1", "A-2", "A-3", "A-4")
        manifest, other = opened(api, "A-1", "A-2"), opened(api, "A-4")

        response = api.post(of(manifest, "remove"), {"orderIds": ["A-1", "A-3", "A-4"]}, format="json")

        assert (response.status_code, codes(response.json()["data"])) == (200, ["A-2"])
        assert codes(api.get(of(other)).json()["data"]) == ["A-4"]
        refused = api.post(of(manifest, "remove"), {"orderIds": ["A-8", "A-2", "A-9"]}, format="json")
        assert_refused(refused, 404, "order_not_found")
        assert [*refused.json()["errors"]] == ["orderIds.0", "orderIds.2"]
        assert codes(api.get(of(manifest)).json()["data"]) == ["A-2"]
        assert codes(opened(api, "A-1")) == ["A-1"]

    def test_is_refused_for_a_closed_one(self, api, made):
        made("A-1")
        manifest = opened(api, "A-1")
        api.post(of(manifest, "close"))

        assert_refused(api.post(of(manifest, "remove"), {"orderIds": ["A-1"]}, format="json"), 409, "manifest_closed")
        assert_refused(api.delete(of(manifest)), 409, "manifest_closed")
        assert codes(api.get(of(manifest)).json()["data"]) == ["A-1"]

    def test_of_the_manifest_frees_all(self, api, made):
        made("A-1")
        manifest = opened(api, "A-1")

        response = api.delete(of(manifest))

        assert response.json() == {"success": True, "message": "Romaneio excluído com sucesso"}
        assert_refused(api.get(of(manifest)), 404, "manifest_not_found")
        assert statuses() == {"A-1": "pending"}
        opened(api, "A-1")


class TestOfAnotherSeller:
    def test_is_not_found(self, api, made, other_seller, seller_client):
        made("A-1")
        manifest = opened(api, "A-1")
        stranger = seller_client(other_seller)

        for response in (
            stranger.get(of(manifest)),
            stranger.get(of(manifest), {"format": "pdf"}),
            stranger.get(of(manifest) + ".pdf"),
            stranger.post(of(manifest, "close")),
            stranger.post(of(manifest, "orders"), {"orderIds": ["A-1"]}, format="json"),
            stranger.post(of(manifest, "remove"), {"orderIds": ["A-1"]}, format="json"),
            stranger.delete(of(manifest)),
            stranger.get(f"{URL}/{2**63}"),
            stranger.get(f"{URL}/{'9' * 50}"),
        ):
            assert_refused(response, 404, "manifest_not_found")
        assert stranger.get(URL).json()["data"] == []
        assert (Manifest.objects.get().status, statuses()) == ("open", {"A-1": "pending"})


class TestOfTheSandbox:
    def test_is_a_world_of_its_own(self, api, made, seller, sandbox_api):
        made("A-1")
        create_order(seller, Environment.SANDBOX, orderId="A-1")
        create_order(seller, Environment.SANDBOX, orderId="T-1")
        live, test = opened(api, "A-1"), opened(sandbox_api, "A-1")

        assert_refused(api.get(of(test)), 404, "manifest_not_found")
        assert_refused(sandbox_api.post(of(live, "close")), 404, "manifest_not_found")
        assert_refused(post(api, "T-1"), 404, "order_not_found")
        assert_refused(api.get("/api/integration/orders/T-1/label"), 404, "order_not_found")
        assert [row["manifestId"] for row in sandbox_api.get(URL).json()["data"]] == [test["manifestId"]]
        assert "SANDBOX / TESTE" in texts_of(sandbox_api.get("/api/integration/orders/T-1/label").content)[0]
        assert "SANDBOX / TESTE" in texts_of(sandbox_api.get(of(test) + ".pdf").content)[0]
        assert_refused(api.get(of(test) + ".pdf"), 404, "manifest_not_found")


class TestList:
    def test_has_each_once_the_newest_first(self, api, made):
        made("A-1", "A-2", "A-3", "A-4")
        made_ids = [opened(api, *each)["manifestId"] for each in (("A-2", "A-3", "A-1"), ("A-4",))]

        first = api.get(URL, {"limit": "1"}).json()
        second = api.get(URL, {"limit": "1", "cursor": first["nextCursor"]}).json()

        assert [row["manifestId"] for row in first["data"] + second["data"]] == made_ids[::-1]
        assert second["data"][0]["orderIds"] == ["A-2", "A-3", "A-1"]
        assert second["nextCursor"] is None

    def test_has_those_that_are_open_or_closed(self, api, made):
        made("A-1", "A-2")
        closed, still_open = (opened(api, code)["manifestId"] for code in ("A-1", "A-2"))
        assert api.post(f"{URL}/{closed}/close").status_code == 200

        found = {
            status: [row["manifestId"] for row in api.get(URL, {"status": status}).json()["data"]]
            for status in ("open", "closed")
        }

        assert found == {"open": [still_open], "closed": [closed]}

    def test_takes_two_queries(self, api, made, django_assert_num_queries):
        made("A-1", "A-2")
        opened(api, "A-1")
        opened(api, "A-2")

        with django_assert_num_queries(2):  # key with seller, manifests
            api.get(URL)


class TestPdf:
    def test_has_orders_totals_and_lines_for_signatures_on_as_many_pages_as_it_needs(self, api, made):
        made(*(f"A-{number}" for number in range(1, 61)))
        manifest = opened(api, *(f"A-{number}" for number in range(1, 61)))

        response, earlier = api.get(of(manifest) + ".pdf"), api.get(of(manifest), {"format": "pdf"})

        assert (response.status_code, response.content) == (200, earlier.content)
        assert response["Content-Type"] == "application/pdf"
        assert response["Content-Disposition"] == f'inline; filename="romaneio-{manifest["manifestId"]}.pdf"'
        pages = texts_of(response.content)
        assert len(pages) == 3
        assert all(f"Página {number}" in page for number, page in enumerate(pages, start=1))
        whole = " ".join(pages)
        assert all(f" A-{number} " in whole for number in range(1, 61))
        freight = manifest["totals"]["freight"] / 100
        assert f"R$ {freight:,.2f}".translate(str.maketrans(",.", ".,")) in pages[-1]
        lines = [
            f"{who}: {line}"
            for who in ("Entregue por (vendedor)", "Recebido por (transportadora)")
            for line in ("assinatura", "nome e documento", "data e hora")
        ]
        for text in ("R$ 9.000,00", "180 kg", *lines):
            assert text in pages[-1]


class TestDatabase:
    @pytest.fixture
    def manifest(self, seller, made):
        chosen = made("A-1", "A-2")
        return manifests.create(seller=seller, environment="live", orders=chosen[:1], by=BY, at=timezone.now())

    def test_keeps_an_order_in_one_manifest(self, seller, manifest):
        other = Manifest.objects.create(seller=seller, created_at=timezone.now(), created_by=BY)

        with pytest.raises(IntegrityError, match="one_manifest_per_order"), transaction.atomic():
            ManifestEntry.objects.create(manifest=other, order=manifest.entries.get().order)

    def test_keeps_a_closed_manifest_as_it_is(self, manifest):
        manifests.close(manifest=manifest, by=BY, at=timezone.now())
        entry, free = manifest.entries.get(), Order.objects.get(code="A-2")

        for change in (
            entry.delete,
            lambda: ManifestEntry.objects.create(manifest=manifest, order=free),
            lambda: ManifestEntry.objects.update(order=free),
            lambda: Manifest.objects.update(closed_at=None, closed_by=""),
            lambda: Manifest.objects.filter(pk=manifest.pk)._raw_delete("default"),
        ):
            with pytest.raises((InternalError, ProgrammingError)), transaction.atomic():
                change()

    def test_totals_are_the_sums_of_the_orders(self, manifest):
        totals, order = manifest.totals, manifest.entries.get().order

        assert (totals.orders, totals.volumes, totals.weight) == (1, order.volumes, Decimal(3))
        assert (totals.cost, totals.freight) == (order.cost, order.freight_centavos)
