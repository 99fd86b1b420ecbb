import json
import re
from datetime import timedelta
from uuid import UUID

import pytest
from django.utils import timezone

from common.webhooks import endpoints
from delivery.actions import deliveries
from delivery.models import EventState, WebhookEndpoint, WebhookEvent
from tests.cases import in_turn
from tests.delivery.api.calls import EVENTS, REQUEST, assert_problem, send
from tests.factories import BY, DeliveryFactory, TokenFactory, payload


def read(api, **query):
    response = api.get(EVENTS, query)
    assert response.status_code == 200, response.content
    return response.json()


def sequences(answer):
    return [event["sequence"] for event in answer["data"]]


@pytest.mark.django_db
class TestEventsFeed:
    def test_answers_what_the_webhook_carries(self, api, clock):
        delivery = send(api, REQUEST, payload(stops=1)).json()
        event = WebhookEvent.objects.get()

        response = api.get(EVENTS)

        assert (response.status_code, response["Content-Type"]) == (200, "application/json")
        delivery.pop("shippingValue")
        assert response.json()["data"] == [
            {
                "id": str(event.pk),
                "sequence": 1,
                "createdAt": "2026-07-15T12:00:00-03:00",
                "sentAt": None,
                "state": "unaddressed",
                "body": delivery,
            }
        ]
        assert set(response.json()) == {"data", "nextCursor"}

    def test_has_every_byte_of_the_body(self, api):
        text = 'São Paulo 🛵 quote " and \\ </script> line\u2028separator tab\tnew\nline'
        body = payload(stops=1)
        body["dropoffs"][0]["externalId"] = text
        send(api, REQUEST, body)
        stored = WebhookEvent.objects.get().body

        response = api.get(EVENTS)

        assert f'"body": {stored}}}'.encode() in response.content
        assert response.json()["data"][0]["body"]["orders"][0]["externalId"] == text

    def test_shows_the_state_that_an_event_has_now(self, api, token, clock):
        WebhookEndpoint.objects.update(url="https://shop.example/hook")
        DeliveryFactory.create(token=token)
        before = read(api)["data"][0]
        WebhookEvent.objects.update(state=EventState.SENT, sent_at=clock.now)

        after = read(api)["data"][0]

        assert (before["state"], before["sentAt"]) == ("pending", None)
        assert (after["state"], after["sentAt"]) == ("sent", "2026-07-15T12:00:00-03:00")
        assert (before["id"], before["body"]) == (after["id"], after["body"])

    def test_has_a_cursor_at_the_end_that_finds_what_comes_later(self, api, token):
        delivery = DeliveryFactory.create(token=token)
        end = read(api, after=read(api)["nextCursor"])
        deliveries.cancel(delivery=delivery, reason="", by=BY, at=timezone.now())

        later = read(api, after=end["nextCursor"])

        assert (end["data"], sequences(later)) == ([], [2])
        assert read(api, after=later["nextCursor"])["data"] == []

    def test_of_an_account_without_events_has_a_cursor_too(self, api, token):
        start = read(api)
        DeliveryFactory.create(token=token)

        assert start["data"] == []
        assert sequences(read(api, after=start["nextCursor"])) == [1]

    def test_leaves_out_test_events(self, api, token):
        endpoint = WebhookEndpoint.objects.get(integrator=token.integrator, environment="live")
        WebhookEndpoint.objects.update(url="https://shop.example/hook")
        endpoint.refresh_from_db()
        endpoints.send_test(endpoint=endpoint, by=BY, at=timezone.now())

        assert read(api)["data"] == []

    def test_takes_three_queries_for_any_number(self, api, token, django_assert_num_queries):
        DeliveryFactory.create_batch(5, token=token)
        read(api)

        with django_assert_num_queries(3):  # token, endpoint, events
            read(api, limit="5")


@pytest.mark.django_db
class TestFrom:
    def test_begins_at_the_moment_and_keeps_it_in_its_cursors(self, api, token, clock):
        old, new = (DeliveryFactory.create(token=token, at=clock.now + timedelta(hours=hour)) for hour in (-9, -3))
        deliveries.cancel(delivery=old, reason="", by=BY, at=clock.now - timedelta(hours=2))
        begin = (clock.now - timedelta(hours=3)).isoformat()

        first = read(api, **{"from": begin, "limit": "1"})
        second = read(api, after=first["nextCursor"])

        assert [event["body"]["deliveryId"] for event in first["data"]] == [str(new.pk)]
        assert [event["body"]["deliveryId"] for event in second["data"]] == [str(old.pk)]
        assert sequences(second) == [2]
        # What nobody has read until then comes later to a reader of all of it.
        assert len(read(api)["data"]) == 3
        assert read(api, after=second["nextCursor"])["data"] == []

    def test_misses_nothing_that_is_committed_after_later_events_were_read(self, api, token, clock):
        """The moment of an event is chosen before its transaction ends."""
        DeliveryFactory.create(token=token, at=clock.now)
        first = read(api, **{"from": (clock.now - timedelta(minutes=1)).isoformat()})
        late = DeliveryFactory.create(token=token, at=clock.now - timedelta(seconds=30))

        second = read(api, after=first["nextCursor"])

        assert [event["body"]["deliveryId"] for event in second["data"]] == [str(late.pk)]

    def test_has_no_effect_beside_after(self, api, token, clock):
        DeliveryFactory.create(token=token, at=clock.now - timedelta(hours=3))
        cursor = read(api, limit="1")["nextCursor"]
        late = DeliveryFactory.create(token=token, at=clock.now)

        found = read(api, after=cursor, **{"from": (clock.now + timedelta(hours=1)).isoformat()})

        assert [event["body"]["deliveryId"] for event in found["data"]] == [str(late.pk)]

    @pytest.mark.parametrize(("begin", "count"), [("0001-01-01T00:00+14:00", 1), ("9999-12-31T23:59-14:00", 0)])
    def test_takes_moments_without_events(self, api, token, clock, begin, count):
        DeliveryFactory.create(token=token, at=clock.now - timedelta(hours=3))

        found = read(api, **{"from": begin})

        assert len(found["data"]) == count
        assert read(api, after=found["nextCursor"])["data"] == []


@pytest.mark.django_db
class TestOfDeliveries:
    def test_has_their_events_alone_and_leaves_the_others_to_other_readers(self, api, token):
        other, *own = (DeliveryFactory.create(token=token) for _number in range(3))
        deliveries.cancel(delivery=own[0], reason="", by=BY, at=timezone.now())
        chosen = ",".join(str(delivery.pk) for delivery in own)

        first = read(api, deliveryId=chosen, limit="2")
        second = read(api, deliveryId=chosen, after=first["nextCursor"])

        found = [(event["body"]["deliveryId"], event["sequence"]) for event in (*first["data"], *second["data"])]
        assert sorted(found) == sorted([(str(own[0].pk), 1), (str(own[0].pk), 2), (str(own[1].pk), 1)])
        assert str(other.pk) in {event["body"]["deliveryId"] for event in read(api)["data"]}

    def test_finds_nothing_of_others(self, api, token):
        foreign = DeliveryFactory.create(token=TokenFactory.create())
        of_sandbox = DeliveryFactory.create(
            token=TokenFactory.create(integrator=token.integrator, environment="sandbox")
        )

        assert read(api, deliveryId=f"{foreign.pk},{of_sandbox.pk}")["data"] == []

    def test_belongs_to_the_cursor(self, api, token):
        delivery = DeliveryFactory.create(token=token)
        cursor = read(api, deliveryId=str(delivery.pk))["nextCursor"]

        assert_problem(api.get(EVENTS, {"after": cursor}), 422, "invalid_cursor")


@pytest.mark.django_db
class TestBadParameters:
    @in_turn(
        ("name", "value", "code"),
        [
            ("limit", "101", "invalid_limit"),
            ("after", "", "blank"),
            ("limit", "", "blank"),
            ("from", "yesterday", "invalid_moment"),
            ("deliveryId", "A-1", "invalid_id"),
            ("deliveryId", f"{UUID(int=1)},", "blank"),
            ("deliveryId", ",".join(str(UUID(int=number)) for number in range(101)), "too_many"),
        ],
    )
    def test_are_named(self, api, name, value, code):
        body = assert_problem(api.get(EVENTS, {name: value}), 422, "invalid_query")

        assert [(error["parameter"], error["code"]) for error in body["errors"]] == [(name, code)]


def test_a_cursor_says_nothing_that_needs_encoding_in_a_url(api, token):
    DeliveryFactory.create(token=token)

    cursor = read(api)["nextCursor"]

    assert re.fullmatch(r"[A-Za-z0-9:_-]+", cursor)
    assert json.loads(api.get(f"{EVENTS}?after={cursor}").content)["data"] == []
