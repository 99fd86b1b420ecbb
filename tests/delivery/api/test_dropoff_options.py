"""The optional keys of drop-offs: what they accept, what they change in the answers, and what they do not change."""

import json
from copy import deepcopy
from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.actions import arrivals, deliveries
from delivery.models import ArrivalEstimate, Delivery, DropoffOptions, ReceiverLink, WebhookEvent
from delivery.receivers import actions as receivers
from tests.cases import in_turn
from tests.delivery.api.calls import (
    CANCEL,
    DETAIL,
    INFO,
    LOCATION,
    QUOTE,
    REQUEST,
    assert_problem,
    assert_values_refused,
)
from tests.factories import BY, DeliveryFactory, DriverFactory, payload

pytestmark = pytest.mark.django_db
OPTIONS = {"instructions": "Ring twice", "proof": {"photo": True, "pin": True}}
EMAIL = "maria@example.com"


def with_options(**changes):
    """A body whose first drop-off has every optional key."""
    body = payload(stops=2, **changes)
    body["dropoffs"][0] |= deepcopy(OPTIONS)
    body["dropoffs"][0]["contacts"]["email"] = EMAIL
    return body


class TestRequestWithOptions:
    @pytest.mark.parametrize("path", [QUOTE, REQUEST])
    def test_is_accepted_without_a_warning_and_in_strict_mode(self, api, path):
        response = api.post(path, with_options(), HTTP_PREFER="handling=strict")

        assert response.status_code in {200, 201}
        assert "Rota-Warnings" not in response

    @pytest.mark.parametrize(
        "changes",
        [
            {"instructions": None, "proof": None},
            {"instructions": "", "proof": {}},
            {"proof": {"photo": None, "pin": False}},
        ],
    )
    def test_with_empty_keys_is_as_one_without(self, api, changes):
        body = payload(stops=1)
        body["dropoffs"][0] |= changes

        assert api.post(REQUEST, body).status_code == 201
        assert not DropoffOptions.objects.exists()

    def test_keeps_the_price_of_a_quote_without_them(self, api):
        quote_id = api.post(QUOTE, payload(stops=2))["Quote-Id"]

        assert api.post(REQUEST, with_options(), HTTP_QUOTE_ID=quote_id).status_code == 201

    def test_is_replayed_with_the_same_pin_for_its_idempotency_key(self, api):
        first, again = (api.post(REQUEST, with_options(), HTTP_IDEMPOTENCY_KEY="a") for _time in range(2))

        assert first.json() == again.json()
        assert DropoffOptions.objects.count() == 1
        other = with_options()
        other["dropoffs"][0]["proof"]["photo"] = False
        assert_problem(api.post(REQUEST, other, HTTP_IDEMPOTENCY_KEY="a"), 422, "idempotency_key_reused")

    @in_turn(
        ("key", "values"),
        [
            ("instructions", ["x" * 501, ["x"], True, "a\0b"]),
            ("proof", ["photo", ["photo"], True]),
            ("proof/photo", ["true", 1]),
            ("proof/pin", ["1234", 1234]),
            ("contacts/email", ["maria", "a@b@c.com", f"{'x' * 300}@example.com", {}]),
        ],
    )
    def test_names_the_key_that_is_wrong(self, api, key, values):
        assert_values_refused(api, [f"#/dropoffs/0/{key}"], values)

    def test_names_the_nearest_key_of_an_unknown_one(self, api):
        body = payload(stops=1)
        body["dropoffs"][0] |= {"instruction": "x", "proof": {"fotos": True, "pins": True}}

        response = api.post(REQUEST, body)

        assert response["Rota-Warnings"].split(", ") == [
            '"#/dropoffs/0/instruction";code=unknown_key;nearest="instructions"',
            '"#/dropoffs/0/proof/fotos";code=unknown_key;nearest="photo"',
            '"#/dropoffs/0/proof/pins";code=unknown_key;nearest="pin"',
        ]
        problem = assert_problem(api.post(REQUEST, body, HTTP_PREFER="handling=strict"), 422, "unknown_key")
        assert len(problem["errors"]) == 3


def told(api, body):
    """Everything that the specification's calls and webhooks say of a delivery from its request to its end, as text."""
    texts = [api.post(QUOTE, body).content.decode()]
    created = api.post(REQUEST, body)
    delivery = Delivery.objects.get(pk=created.json()["deliveryId"])
    texts.append(created.content.decode())
    driver = DriverFactory.create(name="Ana")
    at = timezone.now()
    deliveries.accept(delivery=delivery, driver=driver, by=BY, at=at)
    texts += [api.get(INFO.format(delivery.pk)).content.decode(), _located(api, delivery)]
    deliveries.collect(delivery=delivery, by=BY, at=at)
    deliveries.deliver(delivery=delivery, point="B", by=BY, at=at)
    texts += [api.post(CANCEL.format(delivery.pk)).content.decode()]
    deliveries.return_(delivery=delivery, by=BY, at=at)
    texts += [api.get(INFO.format(delivery.pk)).content.decode()]
    texts += WebhookEvent.objects.filter(delivery=delivery).order_by("sequence").values_list("body", flat=True)
    own = {str(delivery.pk): "DELIVERY", str(delivery.route_id): "ROUTE"}
    for text, name in own.items():
        texts = [each.replace(text, name) for each in texts]
    return texts


def _located(api, delivery):
    body = api.get(LOCATION.format(delivery.pk)).json()
    return json.dumps(body | {"tracking": body["tracking"] | {"updatedAt": None, "ageSeconds": None}})


class TestTheSpecificationsBodies:
    def test_are_letter_for_letter_the_same_with_and_without_options(self, api):
        plain, with_every_key = told(api, payload(stops=2)), told(api, with_options())

        assert len(plain) == 12
        assert plain == with_every_key
        names = ('"instructions"', '"proof"', '"trackingUrl"', '"email"', '"pin"')
        assert not any(name in text for text in plain for name in names)


def order(api, delivery_id):
    return api.get(DETAIL.format(delivery_id)).json()["orders"][0]


class TestDetail:
    def test_shows_what_was_asked_for(self, api):
        created = api.post(REQUEST, with_options()).json()

        shown = order(api, created["deliveryId"])

        assert shown["instructions"] == "Ring twice"
        assert shown["proof"] == {
            "photoRequired": True,
            "pin": DropoffOptions.objects.get().pin,
            "receivedBy": None,
            "pinConfirmedAt": None,
            "photos": [],
            "left": False,
        }
        assert shown["contacts"] == {"name": "Maria", "phoneNumber": "+55 11 97777-0001"}

    def test_has_the_receivers_link_of_each_order(self, api, settings):
        settings.SITE_URL = "https://rota.example.com"
        created = api.post(REQUEST, payload(stops=2)).json()

        first, again = (api.get(DETAIL.format(created["deliveryId"])).json()["orders"] for _time in range(2))

        urls = [each["trackingUrl"] for each in first]
        assert urls == [each["trackingUrl"] for each in again]
        assert len(set(urls)) == 2
        assert all(url.startswith("https://rota.example.com/t/") for url in urls)

    @pytest.mark.parametrize(("move", "shown"), [(None, True), ("deliver", False)])
    def test_shows_the_arrival_while_the_stop_is_open(self, api, token, move, shown):
        delivery, at = DeliveryFactory.create(token=token, stops=1, collected=True), timezone.now()
        spread = {"earliest": at - timedelta(minutes=2), "latest": at + timedelta(minutes=4)}
        ArrivalEstimate.objects.create(
            stop=delivery.stops.get(), arrives_at=at, computed_at=at, signal_at=at, engine="osrm", **spread
        )
        if move:
            deliveries.deliver(delivery=delivery, point="B", by=BY, at=at)

        arrival = order(api, delivery.pk)["arrival"]

        moments = {"at": at, **spread, "lastSignalAt": at}
        texts = {name: timezone.localtime(moment).isoformat() for name, moment in moments.items()}
        assert arrival == (texts | {"late": False} if shown else None)

    def test_says_when_the_arrival_is_late(self, api, token, clock):
        delivery = DeliveryFactory.create(token=token, stops=1, collected=True, at=clock.now)
        arrivals.renew(at=clock.now)
        seen, before = timezone.localtime(clock.now).isoformat(), order(api, delivery.pk)["arrival"]

        clock.forward(2700)
        arrivals.renew(at=clock.now)

        assert (before["late"], before["lastSignalAt"]) == (False, seen)
        assert order(api, delivery.pk)["arrival"] == before | {"late": True}

    def test_shows_when_a_move_was_made_that_was_reported_later(self, api, token):
        delivery, at = DeliveryFactory.create(token=token, stops=1, accepted=True), timezone.now()
        deliveries.collect(delivery=delivery, by=BY, at=at, made_at=at - timedelta(minutes=5))

        transitions = api.get(DETAIL.format(delivery.pk)).json()["transitions"]

        made_at = timezone.localtime(at - timedelta(minutes=5)).isoformat()
        assert [transition["madeAt"] for transition in transitions] == [None, None, made_at]

    def test_has_no_link_two_days_after_the_end(self, api, token):
        delivery = DeliveryFactory.create(token=token, stops=1, collected=True)
        ended = timezone.now() - receivers.WORKS_FOR
        deliveries.deliver(delivery=delivery, point="B", by=BY, at=ended)

        assert order(api, delivery.pk)["trackingUrl"] is None
        assert not ReceiverLink.objects.exists()
