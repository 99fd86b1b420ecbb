"""POST /api/integration/carrier/events: what a carrier reports of the orders that are assigned to it."""

import base64
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from integration.carriers import actions as carriers
from integration.models import CarrierKey, RefusedCarrierCall, StatusLog
from tests.cases import in_turn
from tests.integration.factories import BY, assign, create_order, key_of, make_carrier

PATH = "/api/integration/carrier/events"


def event(**changes):
    return {"eventId": "ev-1", "trackingCode": "AA1", "status": "collected", **changes}


def call(text, *events, form="Basic {}"):
    return APIClient(HTTP_AUTHORIZATION=form.format(text)).post(PATH, {"events": list(events)}, format="json")


def codes(response):
    assert response.status_code == 200, response.content
    return [each["code"] for each in response.json()["data"]]


def entries():
    return list(StatusLog.objects.exclude(status="pending").values_list("order__tracking_code", "status"))


@pytest.fixture
def carrier(db):
    return make_carrier()


@pytest.fixture
def order(seller, carrier):
    """Assigned to the carrier."""
    made = create_order(seller, trackingCode="AA1")
    assign(carrier[0], made)
    return made


class TestReport:
    def test_takes_ids_that_are_numbers_as_their_digits(self, carrier, seller):
        assign(carrier[0], create_order(seller, trackingCode="5"))

        response = call(carrier[1], event(eventId=8, trackingCode=5))

        assert codes(response) == ["moved"]
        assert response.json()["data"][0]["eventId"] == "8"

    def test_moves_the_order_and_answers_each_event(self, carrier, order):
        moment = timezone.now()

        response = call(
            carrier[1],
            event(occurredAt=moment.isoformat(), place=" Campinas "),
            event(eventId="ev-2", status="delivery_failed", code="OTHER", reason="Greve"),
            event(eventId="ev-3", trackingCode="NONE"),
            event(eventId="ev-4", status="delivery_failed", trackingCode="a a-1", reason="Greve"),
        )

        assert response.json() == {
            "success": True,
            "data": [
                {"eventId": "ev-1", "success": True, "code": "moved", "message": "Registrado: collected"},
                {"eventId": "ev-2", "success": True, "code": "moved", "message": "Registrado: delivery_failed"},
                {
                    "eventId": "ev-3",
                    "success": False,
                    "code": "unknown_tracking_code",
                    "message": "Nenhum pedido tem o código de rastreio 'NONE'",
                },
                {
                    "eventId": "ev-4",
                    "success": True,
                    "code": "already",
                    "message": "O pedido já estava em delivery_failed",
                },
            ],
        }
        collected, failed = order.status_log.all()[1:]
        assert (collected.happened_at, collected.place, collected.by) == (moment, "Campinas", "carrier Jadlog")
        assert (failed.reason_code, failed.reason) == ("OTHER", "Greve")

    def test_of_a_second_attempt_or_place_is_another_entry(self, carrier, order):
        call(carrier[1], event(place="Campinas/SP"))

        response = call(
            carrier[1],
            event(eventId="ev-2", status="in_transit", place="São Paulo/SP"),
            event(eventId="ev-3", status="in_transit", place="Campinas/SP"),  # where it was collected
            event(eventId="ev-4", status="in_transit"),
            event(eventId="ev-5", status="delivery_failed", code="ABSENT"),
            event(eventId="ev-6", status="delivery_failed", code="ADDRESS_NOT_FOUND", reason="Sem número"),
            event(eventId="ev-7", status="delivery_failed", code="ADDRESS_NOT_FOUND"),
        )

        assert codes(response) == ["moved", "moved", "already", "moved", "moved", "already"]
        said = [entry.place or entry.reason_code for entry in order.status_log.all()[2:]]
        assert said == ["São Paulo/SP", "Campinas/SP", "ABSENT", "ADDRESS_NOT_FOUND"]

    def test_of_a_failure_or_return_has_a_code_whatever_the_status_is(self, carrier, order):
        call(carrier[1], event(status="in_transit"))

        response = call(
            carrier[1],
            event(eventId="ev-2", status="delivery_failed"),
            event(eventId="ev-3", status="returned", place="Salvador/BA"),
            event(eventId="ev-4", status="in_transit", code="LAZY"),
            event(eventId="ev-5", status="delivery_failed", reason="Greve"),
        )

        assert codes(response) == ["invalid_status_report"] * 3 + ["moved"]
        last = order.status_log.latest("pk")
        assert (last.reason_code, last.reason) == ("OTHER", "Greve")

    def test_under_a_used_id_that_says_something_else_is_refused(self, carrier, order):
        moment = timezone.now()
        said = {"eventId": "ev-2", "status": "delivery_failed", "code": "ABSENT", "occurredAt": moment.isoformat()}
        call(carrier[1], event(occurredAt=moment.isoformat()), event(**said))

        response = call(
            carrier[1],
            event(**said | {"code": "CLOSED"}),
            event(**said, reason="Chuva"),
            event(**said, place="Salvador/BA"),
            event(**said | {"occurredAt": (moment + timedelta(microseconds=1)).isoformat()}),
            event(**said | {"occurredAt": None}),
            event(**said | {"occurredAt": timezone.localtime(moment).isoformat()}),
        )

        assert codes(response) == ["event_id_reused"] * 5 + ["moved"]

    def test_is_answered_alike_when_it_is_sent_again(self, carrier, order):
        first, second = call(carrier[1], event()), call(carrier[1], event())

        assert first.json() == second.json()
        assert entries() == [("AA1", "collected")]

    @in_turn(
        ("wrong", "event_id", "field"),
        [
            (event(status="cancelled"), "ev-1", "status"),
            (event(status="pending"), "ev-1", "status"),
            (event(eventId=""), None, "eventId"),
            (event(eventId="x" * 101), None, "eventId"),
            (event(eventId="a\0"), None, "eventId"),
            (event(eventId=7.5), None, "eventId"),
            (event(trackingCode="x" * 256), "ev-1", "trackingCode"),
            (event(occurredAt="yesterday"), "ev-1", "occurredAt"),
            (event(place="x" * 121), "ev-1", "place"),
            ({}, None, "eventId"),
            ({"eventId": "ev-1", "trackingCode": "AA1"}, "ev-1", "status: Campo obrigatório"),
            ("collected", None, "body"),
        ],
    )
    def test_of_an_invalid_event_is_refused_beside_the_others(self, carrier, order, wrong, event_id, field):
        response = call(carrier[1], wrong, event(eventId="ev-2"))

        refused, done = response.json()["data"]
        assert (refused["eventId"], refused["success"], refused["code"]) == (event_id, False, "invalid_payload")
        assert f" {field}" in refused["message"]
        assert (done["code"], entries()) == ("moved", [("AA1", "collected")])

    @pytest.mark.parametrize("days", [-31, 1])
    def test_of_a_moment_out_of_bounds_is_refused(self, carrier, order, days):
        moment = timezone.now() + timedelta(days=days)

        assert codes(call(carrier[1], event(occurredAt=moment.isoformat()))) == ["invalid_status_report"]
        assert entries() == []

    @pytest.mark.parametrize("body", [{}, {"events": []}, {"events": {}}, {"events": [event()] * 101}])
    def test_has_one_to_a_hundred_events(self, carrier, order, body):
        response = APIClient(HTTP_AUTHORIZATION=f"Basic {carrier[1]}").post(PATH, body, format="json")

        assert (response.status_code, [*response.json()["errors"]]) == (422, ["events"])
        assert entries() == []

    def test_of_a_hundred_events_takes_six_statements_each(self, seller, carrier):
        made = [create_order(seller, trackingCode=f"T{number}", orderId=f"A-{number}") for number in range(100)]
        assign(carrier[0], *made)
        moment = timezone.now().isoformat()
        events = [event(eventId=f"ev-{n}", trackingCode=f"T{n}", occurredAt=moment) for n in range(100)]

        with CaptureQueriesContext(connection) as captured:
            response = call(carrier[1], *events)

        assert set(codes(response)) == {"moved"}
        # The key, its use, the records, the candidates and the orders; for each the lock, the last entry, its entry,
        # the endpoints of webhooks, the order and the record.
        assert len([query for query in captured if "SAVEPOINT" not in query["sql"]]) == 5 + 6 * 100


class TestScope:
    def test_is_the_live_orders_of_the_carrier(self, seller, carrier, order):
        other, _text = make_carrier("Total")
        assign(other, create_order(seller, trackingCode="OTHERS", orderId="A-2"))
        create_order(seller, trackingCode="NOBODYS", orderId="A-3")
        assign(carrier[0], create_order(seller, "sandbox", trackingCode="TEST", orderId="A-4"))

        events = [event(eventId=code, trackingCode=code) for code in ("OTHERS", "NOBODYS", "TEST")]

        assert codes(call(carrier[1], *events)) == ["unknown_tracking_code"] * 3
        assert entries() == []

    def test_ends_when_the_order_is_taken_from_it(self, carrier, order):
        assign(None, order)

        assert codes(call(carrier[1], event())) == ["unknown_tracking_code"]
        assert entries() == []

    def test_of_a_code_of_two_sellers_needs_the_seller(self, carrier, order, other_seller):
        other = create_order(other_seller, trackingCode="AA1", company_document="12ABC34501DE35")
        assign(carrier[0], other)

        response = call(carrier[1], event(), event(eventId="ev-2", seller=other_seller.reference))

        assert codes(response) == ["ambiguous_tracking_code", "moved"]
        assert StatusLog.objects.get(status="collected").order == other

    def test_of_event_ids_is_the_carrier(self, seller, carrier, order):
        other, text = make_carrier("Total")
        assign(other, create_order(seller, trackingCode="BB1", orderId="A-2"))
        call(carrier[1], event())

        assert codes(call(text, event(trackingCode="BB1"))) == ["moved"]


class TestKey:
    def test_is_taken_bare_and_as_http_clients_build_it(self, carrier, order):
        encoded = base64.b64encode(f"{carrier[1]}:".encode()).decode()

        assert [codes(call(text, event())) for text in (carrier[1], encoded)] == [["moved"]] * 2
        assert CarrierKey.objects.get().last_used_at is not None

    def test_is_kept_as_a_digest_only(self, carrier):
        assert carrier[1].startswith("rota_carrierkey_")
        assert carrier[1] not in str(CarrierKey.objects.values().get())

    def test_of_a_seller_is_refused(self, seller, order):
        response = call(key_of(seller), event())

        body = response.json()
        assert (response.status_code, body["code"]) == (401, "wrong_key")
        assert body["message"].startswith("Esta é uma chave de vendedor.")
        assert response["WWW-Authenticate"] == 'Basic realm="rota"'
        assert entries() == []

    @in_turn(
        ("method", "path"),
        [
            ("get", "/api/integration/orders"),
            ("get", "/api/integration/orders/A-1"),
            ("get", "/api/integration/orders/tracking?type=order_number&value=AA1"),
            ("get", "/api/integration/orders/A-1/label"),
            ("get", "/api/integration/invoices"),
            ("post", "/api/integration/orders"),
            ("post", "/api/integration/orders/cancel"),
            ("post", "/api/integration/manifests"),
            ("post", "/api/integration/shipping/quote"),
        ],
    )
    def test_of_a_carrier_is_refused_elsewhere(self, carrier, order, method, path):
        response = getattr(APIClient(HTTP_AUTHORIZATION=f"Basic {carrier[1]}"), method)(path)

        assert (response.status_code, response.json()["code"]) == (401, "wrong_key")
        assert response.json()["message"].startswith("Esta é uma chave de transportadora")

    def test_of_an_unknown_path_is_answered_as_any(self, carrier):
        response = APIClient(HTTP_AUTHORIZATION=f"Basic {carrier[1]}").get("/api/integration/nothing")

        assert (response.status_code, response.json()["code"]) == (404, "no_such_path")

    def test_is_refused_when_revoked_or_of_an_inactive_carrier(self, carrier, order):
        carrier[0].active = False
        carrier[0].save()
        inactive = call(carrier[1], event()).json()
        assert CarrierKey.objects.get().last_used_at is None
        carriers.revoke_key(key=CarrierKey.objects.get(), by=BY, at=timezone.now())
        revoked = call(carrier[1], event()).json()

        assert (inactive["code"], revoked["code"]) == ("carrier_inactive", "invalid_key")
        assert [each.code for each in RefusedCarrierCall.objects.all()] == ["carrier_inactive"]
        assert revoked["message"].startswith("Esta chave foi revogada")
        assert entries() == []

    def test_has_the_limit_of_its_carrier(self, carrier, order):
        carrier[0].rate_limit_per_hour = 1
        carrier[0].save()

        statuses = [call(carrier[1], event()).status_code for _call in range(2)]

        assert statuses == [200, 429]

    def test_has_its_refused_calls_recorded_without_names(self, carrier, order):
        call(carrier[1], *[event(reason="Maria")] * 101)

        stored = RefusedCarrierCall.objects.get()
        assert (stored.carrier, stored.status, stored.code) == (carrier[0], 422, "invalid_payload")
        assert "Maria" not in stored.body
        assert '"collected"' in stored.body
