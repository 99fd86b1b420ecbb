"""Quote-Id, Quote-Expires and Pickup-Linked."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.signing import Signer
from django.utils import timezone

from delivery.actions import quotes
from delivery.errors import QuoteExpired
from delivery.models import Delivery, Integrator, PickupPoint, Tariff
from tests.delivery.api.calls import MISSING, QUOTE, REQUEST, assert_nothing_written, assert_problem, changed
from tests.factories import TokenFactory, payload, validated_payload


def quote(api, body=None):
    response = api.post(QUOTE, body or payload())
    assert response.status_code == 200
    return response


def request(api, quote_id, body=None):
    return api.post(REQUEST, body or payload(), headers={"Quote-Id": quote_id})


@pytest.fixture
def age(monkeypatch):
    """Make the quotes that are made next this old."""

    def set_clock(**by):
        issue = quotes.issue
        monkeypatch.setattr(
            quotes, "issue", lambda quote, *, at, **options: issue(quote, at=at - timedelta(**by), **options)
        )

    return set_clock


@pytest.mark.django_db
class TestAQuote:
    def test_has_an_id_that_fits_into_a_header(self, api):
        quote_id = quote(api)["Quote-Id"]

        assert quote_id.isascii()
        assert len(quote_id) < 300

    @pytest.mark.parametrize(
        ("linked", "allow_any", "header"), [(True, False, "true"), (False, False, "false"), (False, True, "true")]
    )
    def test_says_whether_the_pickup_is_linked(self, api, linked, allow_any, header):
        PickupPoint.objects.update(active=linked)
        Integrator.objects.update(allow_any_pickup=allow_any)

        assert quote(api)["Pickup-Linked"] == header
        assert api.post(REQUEST, payload()).status_code == (201 if header == "true" else 404)


@pytest.mark.django_db
class TestARequestWithAQuoteId:
    @pytest.mark.parametrize(
        "change",
        [
            {
                "base_fare": 999,
                "maximum_km": 1,
                "cancel_percent_accepted": 1,
                "cancel_percent_collected": 2,
                "retry_percent": 3,
                "return_percent": 4,
            },
            {"active": False},
        ],
    )
    def test_has_the_quoted_price_whatever_the_tariff_is_now(self, api, change):
        Tariff.objects.update(retry_percent=Decimal("12.5"), return_percent=25)
        quoted = quote(api)
        Tariff.objects.update(**change)

        answer = request(api, quoted["Quote-Id"])

        delivery = Delivery.objects.get()
        assert answer.status_code == 201
        assert answer.json()["shippingValue"] == quoted.json()["shippingValue"] == float(delivery.shipping_value)
        assert (delivery.cancel_percent_accepted, delivery.cancel_percent_collected) == (Decimal(30), Decimal(100))
        assert (delivery.retry_percent, delivery.return_percent) == (Decimal("12.5"), Decimal(25))

    def test_has_the_distance_of_an_unquoted_request(self, api):
        plain = api.post(REQUEST, payload()).json()["route"]

        bound = request(api, quote(api)["Quote-Id"]).json()["route"]

        assert bound["totalDistanceKm"] == plain["totalDistanceKm"]

    @pytest.mark.parametrize(
        "pointer",
        [
            "#/pickup/contacts/name",
            "#/dropoffs/0/externalId",
            "#/dropoffs/1/address/street",
            "#/orderPackages/0/description",
        ],
    )
    def test_may_differ_in_what_has_no_price(self, api, pointer):
        assert request(api, quote(api)["Quote-Id"], changed(pointer, "another")).status_code == 201

    def test_of_another_trip_is_refused(self, api):
        quote_id = quote(api)["Quote-Id"]

        for pointer, value in [
            ("#/pickup/address/latitude", -23.5614),
            ("#/pickup/address/longitude", -46.6558),
            ("#/dropoffs/0/address/latitude", -23.5521),
            ("#/dropoffs/2/address/longitude", -46.6401),
            ("#/dropoffs", payload()["dropoffs"][::-1]),
            ("#/dropoffs", payload()["dropoffs"][:2]),
            ("#/deliveryMode", "RETURN"),
            ("#/vehicleType", "CAR"),
            *((f"#/orderPackages/0/{measure}", 3) for measure in ("height", "width", "length", "weight", "quantity")),
            ("#/orderPackages", MISSING),
        ]:
            problem = assert_problem(request(api, quote_id, changed(pointer, value)), 422, "quote_mismatch")
            assert "another" in problem["detail"] or "other points" in problem["detail"]
        assert_nothing_written()

    def test_of_ten_minutes_is_refused(self, api, age):
        age(minutes=10)

        problem = assert_problem(request(api, quote(api)["Quote-Id"]), 422, "quote_expired")

        assert "Quote again" in problem["detail"]
        assert_nothing_written()

    def test_is_honoured_until_the_moment_of_its_expiry(self, token):
        of, at = {"token": token, "payload": validated_payload()}, timezone.now()
        quoted, _is_linked = quotes.quote(**of, at=at)
        quote_id = quotes.issue(quoted, **of, at=at)
        expires = at + timedelta(minutes=10)

        assert quotes.redeem(quote_id, **of, at=expires - timedelta(microseconds=1)) == quoted
        with pytest.raises(QuoteExpired):
            quotes.redeem(quote_id, **of, at=expires)

    @pytest.mark.parametrize("minutes", [0, 20])
    def test_of_another_account_is_refused_alike_before_and_after_its_expiry(self, api, client_of, age, minutes):
        age(minutes=minutes)
        foreign = quote(client_of(TokenFactory.create()))["Quote-Id"]

        assert_problem(request(api, foreign), 422, "quote_mismatch")
        assert_nothing_written()

    def test_of_the_other_environment_is_refused(self, api, token, client_of):
        sandbox = client_of(TokenFactory.create(integrator=token.integrator, sandbox=True))

        assert_problem(request(api, quote(sandbox)["Quote-Id"]), 422, "quote_mismatch")
        assert_nothing_written()

    def test_is_honoured_with_another_token_of_the_account(self, api, token, client_of):
        other = client_of(TokenFactory.create(integrator=token.integrator))

        assert request(other, quote(api)["Quote-Id"]).status_code == 201

    def test_that_is_no_quote_id_or_was_changed_is_refused(self, api):
        quote_id = quote(api)["Quote-Id"]
        changed_id = ("A" if quote_id[5] != "A" else "B").join((quote_id[:5], quote_id[6:]))
        signed_for_something_else = Signer(salt="other").sign_object([1])

        for text in ("", "x", "a:b", "x" * 8000, "ação", signed_for_something_else, changed_id):
            assert_problem(request(api, text), 422, "quote_mismatch")
        assert_nothing_written()

    def test_still_needs_a_linked_pickup(self, api):
        quote_id = quote(api)["Quote-Id"]
        PickupPoint.objects.update(active=False)

        problem = assert_problem(request(api, quote_id), 404, "pickup_not_linked")

        assert "0 active pickup points" in problem["detail"]
        assert_nothing_written()

    def test_can_be_repeated_with_its_idempotency_key_after_the_quote_has_expired(self, api, age):
        age(minutes=9, seconds=59)
        headers = {"Quote-Id": quote(api)["Quote-Id"], "Idempotency-Key": "a"}
        first = api.post(REQUEST, payload(), headers=headers)
        age(minutes=11)
        headers["Quote-Id"] = quote(api)["Quote-Id"]

        second = api.post(REQUEST, payload(), headers=headers)

        assert second.content == first.content
        assert Delivery.objects.count() == 1


@pytest.mark.django_db
def test_an_unlinked_pickup_is_told_its_distance_from_the_nearest_point(api):
    body = changed("#/pickup/address/latitude", -23.5710)

    problem = assert_problem(api.post(REQUEST, body), 404, "pickup_not_linked")

    assert problem["detail"] == (
        "pickup.address lies 1062 m from the nearest active pickup point, 'Paulista', which accepts at most 150 m. The "
        "panel lists all of them on the account's page."
    )
