"""Correcting an order by PATCH while it waits for collection."""

from datetime import timedelta
from typing import Any
from urllib.parse import quote

import pytest
from django.db import DatabaseError, transaction
from django.utils import timezone
from rest_framework.test import APIClient

from common.accounts import Environment
from common.webhooks import endpoints
from common.webhooks.endpoints import CheckedUrl
from integration.actions import forgetting, orders
from integration.invoices.models import InvoiceChange
from integration.lifecycle import Status
from integration.manifests import actions as manifests
from integration.models import (
    Assignment,
    CarrierRule,
    Company,
    Correction,
    Order,
    SearchCode,
    StatusLog,
    WebhookEndpoint,
    WebhookEvent,
)
from tests.cases import in_turn
from tests.integration.factories import (
    ACCESS_KEY,
    BY,
    OTHER_COMPANY,
    SellerFactory,
    access_key,
    assign,
    create_order,
    key_of,
    make_carrier,
    nfe_xml,
    order_body,
    send_invoice,
)

URL = "/api/integration/orders"
RECEIVER = order_body()["receiver"]
INVOICE = {**order_body()["invoice"], "value": 150}
BAHIA = {**RECEIVER["address"], "state": "BA", "city": "Salvador", "zipCode": "40020-000"}
ITEM = {"description": "Copo", "dimensions": "10x10x10,0.5", "quantity": 12, "price": 10}
HEAVY = [{**ITEM, "dimensions": "10x10x10,31"}]


def patch(api, changes, code="A-1", **headers):
    return api.patch(f"{URL}/{quote(code, safe='/')}", changes, **headers)


def shown(api, code="A-1"):
    return api.get(f"{URL}/{code}").json()["data"]


def with_address(**changes):
    return {**RECEIVER, "address": {**RECEIVER["address"], **changes}}


@pytest.fixture
def order(seller, tariff):
    """An order with a freight, as it is sent."""
    Company.objects.update(postcode="01310100")
    return create_order(seller, trackingCode="TRACK-1", invoice=INVOICE, at=timezone.now())


@pytest.mark.usefixtures("order")
class TestCorrection:
    def test_replaces_each_key_that_is_sent_as_a_whole(self, api):
        before = shown(api)
        receiver = {key: RECEIVER[key] for key in ("name", "address")} | {"address": BAHIA}
        changes: dict[str, Any] = {
            "receiver": receiver, "items": [ITEM], "volumes": 2, "orderCost": 120.5, "service": "next",
            "invoice": {"number": "9", "value": 120.5},
        }  # fmt: skip  # a body

        response = patch(api, changes)

        assert response.status_code == 200
        body = response.json()
        data = body["data"]
        assert body == {"success": True, "data": data}
        assert {**data, "invoice": {key: data["invoice"][key] for key in changes["invoice"]}} == {
            **before, **changes, "freight": data["freight"], "updated_at": data["updated_at"]
        }  # fmt: skip  # a body
        assert data["freight"]["amount"] != before["freight"]["amount"]
        assert data["updated_at"] > before["updated_at"]
        assert shown(api) == data

    def test_computes_the_freight_as_a_new_order_would_have_it(self, api, seller):
        changes = {"receiver": {**RECEIVER, "address": BAHIA}, "items": [ITEM], "volumes": 3, "service": "next"}
        fresh = create_order(seller, orderId="A-2", invoice=INVOICE, **changes)

        corrected = patch(api, changes).json()["data"]["freight"]

        assert corrected == shown(api, fresh.code)["freight"]
        assert patch(api, {"service": "turbo"}).json()["data"]["freight"] is None

    def test_makes_no_entry_and_no_event_and_the_next_event_is_as_ever(self, api, seller):
        endpoint = endpoints.first(WebhookEndpoint, owner=seller.pk, environment="live")
        endpoints.store_url(endpoint=endpoint, url=CheckedUrl("http://127.0.0.1:9/"), by=BY, at=timezone.now())

        before = WebhookEvent.objects.count()

        patch(api, {"receiver": with_address(streetNumber="1600")})

        assert (StatusLog.objects.count(), WebhookEvent.objects.count()) == (1, before)
        orders.move(order=Order.objects.get(), to=Status.COLLECTED, by=BY, at=timezone.now())
        assert [*WebhookEvent.objects.order_by("sequence").values_list("sequence", "name")] == [
            (1, "pending"), (2, "collected"),
        ]  # fmt: skip  # a list

    def test_is_recorded_once_however_often_it_is_sent(self, api, order):
        changes = {"receiver": with_address(streetNumber="1600"), "volumes": 2}

        answers = [patch(api, changes).json() for _number in range(2)]

        assert answers[0] == answers[1]
        correction = Correction.objects.get()
        assert correction.fields == ["receiver.address.streetNumber", "volumes"]
        assert (correction.order, correction.corrected_by[:4]) == (order, "key ")

    def test_of_nothing_keeps_the_freight_of_before(self, api):
        Company.objects.update(postcode="")

        response = patch(api, {"receiver": RECEIVER, "orderCost": 150})

        assert response.json()["data"]["freight"] is not None
        assert not Correction.objects.exists()

    def test_is_found_by_what_it_says_now(self, api):
        receiver = {**RECEIVER, "document": "111.444.777-35"}
        patch(api, {"receiver": receiver, "invoice": {"number": "77", "key": access_key(7)}})

        def found(kind, value):
            return api.get(f"{URL}/tracking", {"type": kind, "value": value}).json()["success"]

        now = [found("document", "11144477735"), found("order_number", "77"), found("order_number", access_key(7))]
        former = [found("document", "52998224725"), found("order_number", "123"), found("order_number", ACCESS_KEY)]
        assert (now, former) == ([True] * 3, [False] * 3)

    def test_null_removes_the_invoice_and_is_one_volume(self, api):
        patch(api, {"volumes": 5})

        data = patch(api, {"invoice": None, "volumes": None}).json()["data"]

        assert (data["invoice"], data["volumes"]) == (None, 1)
        assert not SearchCode.objects.filter(kind__startswith="invoice").exists()

    @pytest.mark.parametrize("invoice", [None, {}, {"value": None}, {"value": 0}])
    def test_of_an_order_with_an_invoice_without_a_value(self, api, invoice):
        patch(api, {"invoice": invoice})

        response = patch(api, {"volumes": 5})

        assert (response.status_code, response.json()["data"]["volumes"]) == (200, 5)

    def test_of_an_order_from_before_the_key_keeps_its_volumes(self, api, order):
        with transaction.atomic():
            Order.objects.update(stated_volumes=None)

        data = patch(api, {"orderCost": 149}).json()["data"]

        order.refresh_from_db()
        assert (data["volumes"], order.stated_volumes) == (2, None)
        assert patch(api, {"volumes": 1}).json()["data"]["volumes"] == 1

    def test_stands_in_the_open_manifest_and_on_labels(self, api, seller, order):
        manifest = manifests.create(seller=seller, environment="live", orders=[order], by=BY, at=timezone.now())

        patch(api, {"volumes": 4, "receiver": {**RECEIVER, "name": "Joana Prado"}})

        totals = api.get(f"/api/integration/manifests/{manifest.pk}").json()["data"]["totals"]
        assert totals["volumes"] == 4
        label = api.get(f"{URL}/A-1/label", {"format": "zpl"}).content.decode()
        assert "Joana Prado" in label
        assert label.count("^XA") == 4


class TestRefusedCorrection:
    @in_turn("status", [status for status in Status if status not in ("pending", "returned", "delivery_failed")])
    def test_of_an_order_that_does_not_wait(self, api, seller, status):
        order = create_order(seller)
        orders.move(order=order, to=status, by=BY, at=timezone.now())
        before = shown(api)

        response = patch(api, {"volumes": 3})

        assert (response.status_code, response.json()["code"]) == (409, "order_not_pending")
        assert response.json()["message"].endswith(f"está em {status}")
        assert shown(api) == before
        assert not Correction.objects.exists()

    def test_of_an_anonymised_order(self, api, seller, settings):
        order = create_order(seller)
        settings.FORGET_ORDER_DAYS = 1
        forgetting.forget_old_orders(at=timezone.now() + timedelta(days=2))

        response = patch(api, {"receiver": RECEIVER})

        assert (response.status_code, response.json()["code"]) == (409, "order_forgotten")
        order.refresh_from_db()
        assert order.receiver_name == ""

    def test_of_another_seller_or_environment(self, api, seller, seller_client):
        create_order(seller)
        other = seller_client(SellerFactory.create(documents=(OTHER_COMPANY,)))
        test = APIClient(HTTP_AUTHORIZATION=f"Basic {key_of(seller, Environment.SANDBOX)}")

        answers = [patch(client, {"volumes": 3}).status_code for client in (other, test)]

        assert answers == [404, 404]
        assert Order.objects.get().volumes == 1

    @in_turn(
        ("changes", "named"),
        [
            ({}, "body"),
            ({"orderId": "A-2", "trackingCode": "T-2"}, "body"),
            ({"receiver": {"address": {"streetNumber": "9"}}}, "receiver.name"),
            ({"receiver": with_address(zipCode=None)}, "receiver.address.zipCode"),
            ({"receiver": None}, "receiver"),
            ({"items": []}, "items"),
            ({"items": [ITEM, {**ITEM, "dimensions": "10"}]}, "items.1.dimensions"),
            ({"items": [ITEM] * 1001}, "items"),
            ({"orderCost": None}, "orderCost"),
            ({"orderCost": -1}, "orderCost"),
            ({"service": "slow"}, "service"),
            ({"volumes": 0}, "volumes"),
            ({"volumes": 100}, "volumes"),
            ({"invoice": {"issueDate": "yesterday"}}, "invoice.issueDate"),
        ],
    )
    def test_of_values_that_a_new_order_could_not_have(self, api, seller, changes, named):
        create_order(seller)
        before = shown(api)

        response = patch(api, changes)

        assert (response.status_code, response.json()["code"]) == (422, "invalid_payload")
        assert named in response.json()["errors"]
        assert shown(api) == before

    def test_of_what_is_doubtful_under_strict_handling(self, api, order):
        bad = {"receiver": with_address(zipCode="00000000")}

        refused = [patch(api, {**each, "volumes": 2}, HTTP_PREFER="handling=strict") for each in (
            bad, {"orderId": "A-9"}, {"items": HEAVY}, {"service": "turbo"}, {"invoice": {"key": "12"}},
        )]  # fmt: skip  # bodies
        taken = patch(api, bad)

        assert [(each.status_code, each.json()["code"]) for each in refused] == [
            (422, "invalid_payload"), (422, "unknown_key"), *[(422, "invalid_payload")] * 3,
        ]  # fmt: skip  # a list
        assert [each["code"] for each in taken.json()["warnings"]] == ["unassigned_postcode", "no_freight"]
        assert Order.objects.get().volumes == 1
        # What was doubtful before is not that of a correction of something else.
        assert "warnings" not in patch(api, {"receiver": RECEIVER}, HTTP_PREFER="handling=strict").json()


@pytest.mark.usefixtures("order")
class TestInvoices:
    def linked(self):
        return {*Order.objects.get(code="A-1").invoices.values_list("access_key", flat=True)}

    def test_follow_the_key_that_the_order_names(self, api, seller):
        for key in (ACCESS_KEY, access_key(2)):
            create_order(seller, orderId=f"B-{key}")
            send_invoice(seller, nfe_xml(key=key, items=(f"B-{key}",)).encode())
        assert self.linked() == {ACCESS_KEY}

        patch(api, {"invoice": {"key": access_key(2)}})
        second = self.linked()
        patch(api, {"invoice": {"key": ACCESS_KEY}})

        assert (second, self.linked()) == ({access_key(2)}, {ACCESS_KEY})
        unlinked = InvoiceChange.objects.filter(kind="unlinked").values_list("reason", flat=True)
        assert [*unlinked] == ["corrected"] * 2
        assert not SearchCode.objects.filter(order__code="A-1", value=access_key(2)).exists()

    def test_that_name_the_order_stay_and_are_doubtful(self, api, seller):
        send_invoice(seller, nfe_xml(items=("A-1",)).encode())

        response = patch(api, {"invoice": {"key": access_key(2)}})

        assert self.linked() == {ACCESS_KEY}
        assert [each["code"] for each in response.json()["warnings"]] == ["different_invoice_key"]

    def test_that_were_unlinked_by_hand_stay_so(self, api, seller):
        send_invoice(seller, nfe_xml(items=("A-1",)).encode())
        api.post(f"/api/integration/invoices/{ACCESS_KEY}/unlink", {"orderId": "A-1"})

        patch(api, {"volumes": 2})

        assert self.linked() == set()

    def test_of_a_cut_reference_are_those_that_fit_now(self, api, seller):
        codes = [f"MARKETPLACE-123{number}" for number in range(2)]
        other, document = {**RECEIVER, "document": None}, {**RECEIVER, "document": "111.444.777-35"}
        for code in codes:
            create_order(seller, orderId=code, receiver=other, orderCost=1)
        send_invoice(seller, nfe_xml(key=access_key(3), items=(codes[0][:15],), recipient="11144477735").encode())

        def linked():
            return [*Order.objects.filter(invoices__access_key=access_key(3)).values_list("code", flat=True)]

        seen = [linked()]
        for code, receiver in ((codes[0], document), (codes[0], RECEIVER), (codes[1], document)):
            patch(api, {"receiver": receiver}, code)
            seen.append(linked())

        assert seen == [[], [codes[0]], [], [codes[1]]]

    def test_of_a_reference_without_the_number_sign_are_those_that_agree_now(self, api, seller):
        create_order(seller, orderId="#1001", receiver={**RECEIVER, "document": None})
        send_invoice(seller, nfe_xml(key=access_key(3), items=("1001",), recipient="11144477735").encode())
        agreeing = {"receiver": {**RECEIVER, "document": "111.444.777-35"}}

        def linked():
            return [*Order.objects.filter(invoices__access_key=access_key(3)).values_list("code", flat=True)]

        seen = [linked()]
        for changes in (agreeing, {"invoice": {"key": access_key(2)}}, {"invoice": None}, {"receiver": RECEIVER}):
            patch(api, changes, "#1001")
            seen.append(linked())

        assert seen == [[], ["#1001"], [], ["#1001"], []]

    def test_of_several_references_without_the_number_sign_are_those_that_agree_now(self, api, seller):
        order = create_order(seller, orderId="#1001", receiver={**RECEIVER, "document": None}, orderCost=1)
        recipients = {3: "11144477735", 4: "11144477735", 5: "52998224725"}
        for number, recipient in recipients.items():
            raw = nfe_xml(key=access_key(number), items=("1001",), recipient=recipient, value="2.00").encode()
            send_invoice(seller, raw)
        of_each: list[dict[str, Any]] = [
            {"document": "111.444.777-35"},
            {"document": "529.982.247-25"},
            {"document": None},
        ]

        seen = []
        for changes in of_each:
            patch(api, {"receiver": {**RECEIVER, **changes}}, "#1001")
            seen.append({*order.invoices.values_list("access_key", flat=True)})

        assert seen == [{access_key(3), access_key(4)}, {access_key(5)}, set()]


class TestCarrier:
    @pytest.fixture
    def order(self, seller):
        self.local, self.far = (make_carrier(name)[0] for name in ("Local", "Far"))
        CarrierRule.objects.create(carrier=self.local, state="SP")
        CarrierRule.objects.create(carrier=self.far, state="BA")
        return create_order(seller)

    def test_is_that_of_the_rules_unless_somebody_has_assigned_it(self, api, order):
        there, here = {"receiver": {**RECEIVER, "address": BAHIA}}, {"receiver": RECEIVER}
        names = [patch(api, changes).json()["data"]["carrier"] for changes in (there, here, {"volumes": 2})]
        by_rule = [*Assignment.objects.values_list("carrier__name", "assigned_by")]

        assign(self.far, order)

        assert names == ["Far", "Local", "Local"]
        assert by_rule == [(name, "rule of assignment") for name in ("Local", "Far", "Local")]
        assert [patch(api, changes).json()["data"]["carrier"] for changes in (there, here)] == ["Far", "Far"]

    def test_is_none_where_no_rule_holds(self, api, order):
        CarrierRule.objects.filter(carrier=self.far).delete()

        response = patch(api, {"receiver": {**RECEIVER, "address": BAHIA}})

        assert response.json()["data"]["carrier"] is None


@pytest.mark.django_db
class TestTriggers:
    @in_turn(
        "change",
        [
            {"service": "next"},
            {"stated_volumes": 2},
            {"receiver_name": "X"},
            {"receiver": {}},
            {"freight_days": 3, "freight_centavos": 1},
        ],
    )
    def test_refuse_a_correction_of_an_order_that_does_not_wait(self, seller, change):
        order = create_order(seller)
        with transaction.atomic():
            Order.objects.update(**change)
            transaction.set_rollback(True)
        orders.move(order=order, to=Status.COLLECTED, by=BY, at=timezone.now())

        for both in (change, {**change, "status": "pending"}):
            with pytest.raises(DatabaseError, match="Cannot update"), transaction.atomic():
                Order.objects.update(**both)

    def test_keep_corrections(self, seller):
        correction = Correction.objects.create(
            order=create_order(seller), fields=["volumes"], corrected_at=timezone.now(), corrected_by=BY
        )

        for change in (correction.delete, lambda: Correction.objects.update(corrected_by="x")):
            with pytest.raises(DatabaseError, match="Cannot"), transaction.atomic():
                change()
