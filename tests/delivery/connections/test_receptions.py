"""What platforms post: signatures, forms and sizes, and what becomes of an order."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection as database
from django.utils import timezone

from common.shops import receptions
from common.shops.platforms import Platform
from delivery.connections import actions, drafts
from delivery.connections.models import Connection, Draft, Reception
from tests.delivery.api.calls import assert_problem
from tests.delivery.connections.shops import order, post, shop
from tests.factories import BY, IntegratorFactory

NOW = timezone.now


def outcome(answer):
    assert answer.status_code == 200, answer.content
    return answer.json()["result"], answer.json()["reason"]


def refused_and_unwritten(answer, status, code):
    assert_problem(answer, status, code)
    assert not Draft.objects.exists()
    assert not Reception.objects.exists()


@pytest.mark.django_db
class TestAPost:
    def test_of_a_paid_order_makes_a_draft(self):
        connection = shop()

        answer = post(connection, order(1001))

        draft = Draft.objects.get()
        assert answer.json() == {"result": "draft", "reason": None, "id": str(draft.pk)}
        assert draft.external_id == "1001"
        assert draft.payload == {
            "vehicleType": "MOTORCYCLE",
            "pickup": {
                "contacts": {"name": "Loja", "phoneNumber": "+55 11 3333-0000"},
                "address": {"latitude": -23.561414, "longitude": -46.655881},
            },
            "dropoffs": [
                {
                    "externalId": "1001",
                    "contacts": {
                        "name": "Maria Souza", "phoneNumber": "(11) 97777-0001", "email": "maria@example.com"
                    },
                    "address": {
                        "street": "Rua Augusta", "number": "500", "complement": "Ap. 12", "district": "Consolação",
                        "city": "São Paulo", "state": "SP", "zipcode": "01304000", "country": "BR",
                    },
                    "instructions": "Deixar na portaria",
                }
            ],
            "orderPackages": [{"description": "Caneca", "quantity": 2}],
        }  # fmt: skip  # a body

    @pytest.mark.parametrize(
        "how",
        [{"signed": False}, {"secret": "another"}, {"X-WC-Webhook-Signature": "AAAA"}],  # pragma: allowlist secret
    )
    def test_without_the_right_signature_writes_nothing(self, how):
        refused_and_unwritten(post(shop(), order(), **how), 401, "invalid_signature")

    def test_to_an_unknown_or_removed_connection_is_not_found(self):
        connection = shop()
        actions.remove(connection=connection, by=BY, at=NOW())

        refused_and_unwritten(post(connection, order()), 404, "connection_not_found")
        refused_and_unwritten(post(Connection(pk="0" * 32, platform="SHOPIFY"), order()), 404, "connection_not_found")

    def test_of_more_than_a_mebibyte_is_too_large(self):
        connection, most = shop(), receptions.MOST_BYTES
        body = json.dumps(order()).encode()

        refused_and_unwritten(post(connection, body + b" " * (most + 1 - len(body))), 413, "body_too_large")
        assert outcome(post(connection, body + b" " * (most - len(body)))) == ("draft", None)

    @pytest.mark.parametrize(
        ("body", "missing"),
        [(b'{"id": 1}', "line_items"), (b"[]", "a JSON object"), (b"", "a JSON object"), (b"\xff", "a JSON object")],
    )
    def test_of_something_else_says_what_is_missing(self, body, missing):
        connection = shop()

        problem = assert_problem(post(connection, body), 422, "unknown_form")

        assert missing in problem["detail"]
        assert not Draft.objects.exists()
        assert Reception.objects.values_list("result", "reason").get() == ("refused", "unknown_form")

    def test_of_the_ping_of_woocommerce_needs_no_signature(self):
        answer = post(shop(), b"webhook_id=7", signed=False)

        assert (answer.status_code, answer.json()) == (200, {"result": "ping", "reason": None, "id": None})
        assert not Reception.objects.exists()
        assert post(shop(platform=Platform.SHOPIFY), b"webhook_id=7", signed=False).status_code == 401

    def test_is_limited_as_calls_with_a_token_are(self):
        connection = shop(integrator=IntegratorFactory.create(rate_limit_per_hour=1))
        post(connection, order(1))

        assert_problem(post(connection, order(2)), 429, "rate_limited")
        assert_problem(post(connection, order(2), signed=False), 401, "invalid_signature")
        assert Draft.objects.get().order_id == "1"

    def test_is_taken_while_the_account_is_suspended(self):
        connection = shop()
        connection.integrator.write_suspension(reason="unpaid", by=BY, at=NOW())

        assert outcome(post(connection, order())) == ("draft", None)


@pytest.mark.django_db
class TestAnOrder:
    @pytest.mark.parametrize(
        ("changes", "reason"),
        [
            ({"status": "pending"}, "unpaid"),
            ({"shipping_lines": [{"method_id": "correios", "method_title": "PAC"}]}, "other_shipping_method"),
            ({"status": "completed"}, "nothing_to_ship"),
        ],
    )
    def test_that_is_no_delivery_is_ignored(self, changes, reason):
        connection = shop(shipping_method="MESMO DIA")

        assert outcome(post(connection, order(**changes))) == ("ignored", reason)
        assert outcome(post(connection, order())) == ("draft", None)
        assert Draft.objects.count() == 1

    def test_that_comes_again_changes_its_draft(self):
        connection = shop()
        first = post(connection, order(7)).json()

        again = post(connection, order(7, customer_note="No jardim", date_modified_gmt="2026-11-20T13:00:00")).json()

        assert again == {"result": "updated", "reason": None, "id": first["id"]}
        assert Draft.objects.get().payload["dropoffs"][0]["instructions"] == "No jardim"

    def test_that_is_out_of_date_changes_nothing(self):
        connection = shop()
        post(connection, order(7, date_modified_gmt="2026-11-20T13:00:00"))

        assert outcome(post(connection, order(7, customer_note="old"))) == ("ignored", "out_of_date")
        assert Draft.objects.get().payload["dropoffs"][0]["instructions"] == "Deixar na portaria"

    def test_is_in_time_after_one_without_a_moment(self):
        connection = shop()
        post(connection, order(7, date_modified_gmt=None))

        assert outcome(post(connection, order(7, customer_note="No jardim"))) == ("updated", None)
        assert Draft.objects.get().payload["dropoffs"][0]["instructions"] == "No jardim"

    def test_keeps_what_people_have_changed_and_the_shop_has_not(self):
        connection = shop()
        post(connection, order(7))
        draft = Draft.objects.get()
        (dropoff,) = draft.payload["dropoffs"]
        number = {**dropoff, "address": {**dropoff["address"], "number": "512", "latitude": -23.5, "longitude": -46.6}}
        drafts.edit(draft=draft, dropoff=number, at=NOW())

        post(connection, order(7, customer_note="No jardim"))
        kept = Draft.objects.get().payload["dropoffs"][0]
        post(connection, order(7, shipping={"address_1": "Rua Bela Cintra"}))
        moved = Draft.objects.get().payload["dropoffs"][0]

        assert (kept["address"]["number"], kept["address"]["latitude"]) == ("512", -23.5)
        assert kept["instructions"] == "No jardim"
        assert (moved["address"]["street"], moved["address"]["number"]) == ("Rua Bela Cintra", "512")
        assert "latitude" not in moved["address"]

    def test_that_is_cancelled_drops_its_draft_which_stays_dropped(self):
        connection = shop()
        post(connection, order(7))
        cancelled = order(7, status="cancelled", date_modified_gmt="2026-11-20T14:00:00")

        assert [outcome(post(connection, cancelled)) for _time in range(2)] == [("cancelled", None)] * 2
        draft = Draft.objects.get()
        assert (draft.status, draft.due_at) == ("dropped", None)
        assert outcome(post(connection, order(7))) == ("ignored", "out_of_date")

    def test_that_was_cancelled_before_it_was_told_makes_no_open_draft(self):
        connection = shop()
        cancelled = order(7, status="cancelled", date_modified_gmt="2026-11-20T14:00:00")

        assert outcome(post(connection, cancelled)) == ("cancelled", None)
        assert outcome(post(connection, order(7))) == ("ignored", "out_of_date")
        assert (Draft.objects.get().status, Draft.objects.get().payload) == ("dropped", {})

    def test_whose_cancellation_the_shop_takes_back_is_open_again(self):
        connection = shop()
        post(connection, order(7, status="cancelled"))

        assert outcome(post(connection, order(7, date_modified_gmt="2026-11-21T14:00:00"))) == ("draft", None)
        assert Draft.objects.get().status == "open"

    def test_that_people_have_dropped_stays_dropped(self):
        connection = shop()
        post(connection, order(7))
        drafts.drop(draft=Draft.objects.get(), at=NOW())

        assert outcome(post(connection, order(7, date_modified_gmt="2026-11-21T14:00:00"))) == ("ignored", "dropped")
        assert Draft.objects.get().status == "dropped"

    def test_of_two_shops_with_the_same_number_are_two(self):
        one, other = shop(), shop()

        post(one, order(7))
        post(other, order(7))

        assert Draft.objects.count() == 2


@pytest.mark.django_db
class TestReceptions:
    def test_of_a_connection_are_the_last_hundred(self, monkeypatch):
        monkeypatch.setattr(receptions, "MOST_RECEPTIONS", 3)
        one, other = shop(), shop()
        post(other, order(1))

        for number in range(5):
            post(one, order(number + 1))

        assert list(one.receptions.values_list("number", flat=True)) == ["5", "4", "3"]
        assert other.receptions.count() == 1


@pytest.mark.django_db(transaction=True)
class TestAnOrderThatComesThirtyTimesAtOnce:
    def test_makes_one_draft(self):
        connection, body = shop(), order(7)

        def receive(_number):
            try:
                return post(connection, body).json()["result"]
            finally:
                database.close()

        with ThreadPoolExecutor(10) as pool:
            results = list(pool.map(receive, range(30)))

        assert sorted(results) == ["draft", *["updated"] * 29]
        assert Draft.objects.count() == 1
        assert Reception.objects.count() == 30
        assert Draft.objects.get().revision == 1
