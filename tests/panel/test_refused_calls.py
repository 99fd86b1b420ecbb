"""The pages of refused calls."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone, translation

from delivery.models import RefusedDeliveryCall, RefusedDeliveryCallCount, Tariff
from integration.models import RefusedSellerCall, RefusedSellerCallCount
from panel.refusal_reasons import reason
from tests.cases import in_turn
from tests.delivery.api.calls import UNKNOWN
from tests.factories import PICKUP, IntegratorFactory, payload
from tests.integration.factories import key_of
from tests.panel.conftest import refused_call


@pytest.fixture
def seller_url(shop):
    return reverse("panel:seller_refused_calls", args=[shop.seller.pk, "live"])


def of_shop(shop, **columns):
    return refused_call(RefusedDeliveryCall, integrator=shop.integrator, environment="live", **columns)


class TestTheList:
    def test_shows_a_call_with_its_code_and_request_id(self, member, shop, url, client):
        RefusedDeliveryCall.objects.all().delete()
        header = {"Authorization": f"Bearer {shop.token.clear_text}", "X-Request-Id": "the-call-0007"}
        client.get(f"/api/info-delivery/{UNKNOWN}", headers=header)

        page = member.get(url("refused_calls")).content.decode()

        for text in ("/api/info-delivery/", "404", "delivery_not_found", "the-call-0007"):
            assert text in page

    def test_shows_a_sellers_call(self, member, shop, seller_url, client):
        RefusedSellerCall.objects.all().delete()
        header = {"Authorization": f"Basic {key_of(shop.seller)}", "X-Request-Id": "the-call-0008"}
        client.get("/api/integration/orders/tracking", headers=header)

        page = member.get(seller_url).content.decode()

        assert "/api/integration/orders/tracking" in page
        assert "the-call-0008" in page

    def test_shows_seven_days(self, member, shop, url):
        kept = of_shop(shop, created_at=timezone.now() - timedelta(days=7) + timedelta(minutes=1))
        of_shop(shop, created_at=timezone.now() - timedelta(days=7, minutes=1))
        refused_call(RefusedDeliveryCall, integrator=shop.integrator, environment="sandbox")
        refused_call(RefusedDeliveryCall, integrator=IntegratorFactory.create(), environment="live")

        assert member.get(url("refused_calls")).context["rows"] == [shop.call, kept]

    @in_turn(
        ("query", "fits"),
        [
            ({"status": "404"}, True),
            ({"status": "422"}, False),
            ({"code": "delivery_not_found"}, True),
            ({"code": "delivery"}, False),
            ({"path": "info"}, True),
            ({"path": "cancel"}, False),
            ({"status": "404", "path": "info", "code": "delivery_not_found"}, True),
        ],
    )
    def test_is_filtered(self, member, shop, url, query, fits):
        RefusedDeliveryCall.objects.all().delete()
        call = of_shop(shop, status=404, code="delivery_not_found", path="/api/info-delivery/1")

        assert member.get(url("refused_calls"), query).context["rows"] == ([call] if fits else [])

    def test_says_how_many_are_missing(self, member, shop, url, seller_url):
        now = timezone.now()
        for hours, refused, over_limit in ((0, 503, 7), (1, 500, 0), (2, 501, 1), (24 * 8, 900, 900)):
            counted = {"hour": now - timedelta(hours=hours), "refused": refused, "over_limit": over_limit}
            RefusedDeliveryCallCount.objects.create(integrator=shop.integrator, environment="live", **counted)
            RefusedSellerCallCount.objects.create(seller=shop.seller, **counted)

        for address in (url("refused_calls"), seller_url):
            page = member.get(address).content.decode()
            assert "4 refused calls are not listed: 500 of an hour are kept." in page
            assert "8 calls were over the limit (429)." in page

    def test_says_nothing_of_missing_calls_when_there_are_none(self, member, url):
        page = member.get(url("refused_calls")).content.decode()

        assert "are not listed" not in page
        assert "over the limit (429)" not in page


class TestOneCall:
    def test_shows_what_was_sent_and_answered(self, member, shop, url):
        page = member.get(url("refused_call", shop.call.pk)).content.decode()

        for text in ("my-call-0001", "rota_live_…abcd", "&quot;TRUCK&quot;", "&lt;text, 11&gt;", "application/json"):
            assert text in page

    def test_says_that_a_body_was_no_json_object(self, member, shop, url):
        call = of_shop(shop, body="", size=12)

        page = member.get(url("refused_call", call.pk)).content.decode()

        assert "The body was not a JSON object and is not kept." in page

    def test_of_a_seller_is_linked_from_its_list_and_that_from_the_menu(self, member, shop, seller_url):
        address = reverse("panel:seller_refused_call", args=[shop.seller.pk, "live", shop.seller_call.pk])

        assert address in member.get(seller_url).content.decode()
        assert seller_url in member.get(address).content.decode()
        assert seller_url in member.get(reverse("panel:seller", args=[shop.seller.pk, "live"])).content.decode()


class TestReasons:
    """What the answer says is wrong, before what was sent."""

    def test_are_on_the_list_and_first_on_the_page(self, member, shop, url):
        call = of_shop(shop, reasons=[because("Choose MOTORCYCLE or CAR.", field="vehicleType")])

        listed = member.get(url("refused_calls")).content.decode()
        page = member.get(url("refused_call", call.pk)).content.decode()

        assert "vehicleType: Choose MOTORCYCLE or CAR." in listed
        assert page.index("vehicleType: Choose MOTORCYCLE or CAR.") < page.index("What was sent")
        assert "/docs/errors/invalid_payload" in page


def because(message, **parts):
    return {"field": "", "code": "", "message": message, "values": {}} | parts


def stored():
    """The reasons of the only call."""
    reasons = RefusedDeliveryCall.objects.get().reasons
    assert reasons
    return reasons


class TestAReason:
    @pytest.mark.parametrize(
        ("found", "text"),
        [
            (because("No such delivery.", code="x"), "No such delivery."),
            (
                because("Choose one of: CAR.", code="invalid_choice", field="vehicleType"),
                "vehicleType: Choose one of: CAR.",
            ),
            (because("%(driver)s is not on duty.", values={"driver": "<text, 4>"}), "<text, 4> is not on duty."),
            (because("Cut off at 100 %", code="x"), "Cut off at 100 %"),
        ],
    )
    def test_is_in_the_words_of_the_answer(self, found, text):
        with translation.override("en"):
            assert reason(found) == text

    def test_without_a_code_stays_in_the_language_of_the_answer(self):
        with translation.override("pt-br"):
            assert reason(because("Never written", field="city")) == "city: Never written"

    def test_of_a_field_is_translated_by_its_code(self):
        with translation.override("pt-br"):
            text = reason(because("Choose one of: CAR.", code="invalid_choice", field="vehicleType"))

        assert text == "vehicleType: Não é nenhum dos valores que a referência lista."

    def test_of_the_domain_has_its_values(self, client, shop):
        Tariff.objects.update(maximum_km=Decimal("0.01"))
        RefusedDeliveryCall.objects.all().delete()
        headers = {"Authorization": f"Bearer {shop.token.clear_text}"}

        answer = client.post("/api/quotation-delivery", payload(), content_type="application/json", headers=headers)

        (found,) = stored()
        assert found["message"] % found["values"] == answer.json()["detail"]
        with translation.override("pt-br"):
            assert reason(found) == f"A rota tem {found['values']['km']} km; esta tarifa atende até 0.01 km."


BODY: dict[str, Any] = {
    "vehicleType": "MOTORCYCLE",
    "pickup": {"address": {"latitude": PICKUP.latitude, "longitude": PICKUP.longitude}},
    "dropoffs": [{"address": {"latitude": PICKUP.latitude, "longitude": PICKUP.longitude}}],
}

REVERSE: dict[str, Any] = BODY | {
    "deliveryMode": "REVERSE",
    "pickup": BODY["pickup"] | {"contacts": {"name": "Loja", "phoneNumber": "+55 11 3333-0000"}},
    "dropoffs": [{**BODY["dropoffs"][0], "onFailure": "RETRY", "proof": {"photo": True}}],
}


def is_in_english(found):
    return reason(found).endswith(found["message"] % found["values"] if found["values"] else found["message"])


def place(**address):
    return {"dropoffs": [{"address": address}]}


@in_turn(
    ("path", "body"),
    [
        ("quotation-delivery", {"vehicleType": "TRUCK", "pickup": {}, "dropoffs": []}),
        ("quotation-delivery", BODY | {"vehicletype": "CAR", "dropoffs": [{"adress": {}}] * 4}),
        ("quotation-delivery", BODY | place(latitude=91, longitude=-200)),
        ("quotation-delivery", BODY | place(latitude="x", longitude=True)),
        ("quotation-delivery", BODY | place(latitude=0, longitude=0)),
        ("quotation-delivery", BODY | place(latitude=PICKUP.longitude, longitude=PICKUP.latitude)),
        ("quotation-delivery", BODY | {"pickup": {"address": {"zipcode": "1"}, "contacts": {"name": 1.5}}}),
        ("quotation-delivery", BODY | {"vehicleType": "CAR", "orderPackages": [{"weight": 0, "quantity": 1.5}]}),
        ("quotation-delivery", BODY | {"orderPackages": [{"weight": 1e12, "quantity": True}]}),
        ("request-delivery", REVERSE),
        ("deliveries/{delivery}/dropoffs/B/instruct", {}),
        ("deliveries/{delivery}/dropoffs/B", {}),
        ("request-delivery", BODY),
        ("request-delivery", []),
        ("cancel-delivery/x", {}),
        (f"cancel-delivery/{UNKNOWN}", {"reason": "x" * 300}),
        ("sandbox/webhook", {"url": "http://10.0.0.1/"}),
    ],
)
def test_reasons_are_translated(client, shop, path, body):
    RefusedDeliveryCall.objects.all().delete()
    headers = {"Authorization": f"Bearer {shop.token.clear_text}", "Prefer": "handling=strict"}
    send = client.patch if path.endswith("/B") else client.post
    send("/api/" + path.format(delivery=shop.delivery.pk), body, content_type="application/json", headers=headers)

    with translation.override("pt-br"):
        assert [each for each in stored() if is_in_english(each)] == []


@in_turn("body", ["{", "\ufeff{}", '{"a": NaN}', '{"a": ' * 30, "x" * 300_000])
def test_reasons_of_malformed_bodies_are_translated(client, shop, body):
    RefusedDeliveryCall.objects.all().delete()
    headers = {"Authorization": f"Bearer {shop.token.clear_text}"}
    client.post("/api/request-delivery", body, content_type="application/json", headers=headers)

    with translation.override("pt-br"):
        (found,) = stored()
        assert not is_in_english(found)


@in_turn("query", ["limit=x", "createdFrom=x", "cursor=x", "status=&status=", "colour=red"])
def test_reasons_of_queries_are_translated(client, shop, query):
    RefusedDeliveryCall.objects.all().delete()
    headers = {"Authorization": f"Bearer {shop.token.clear_text}", "Prefer": "handling=strict"}
    client.get(f"/api/deliveries?{query}", headers=headers)

    with translation.override("pt-br"):
        assert [each for each in stored() if is_in_english(each)] == []
