from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.actions import deliveries
from delivery.lifecycle import Mode
from delivery.models import EventState, WebhookEndpoint
from tests.delivery.api.calls import DETAIL, REQUEST, send
from tests.factories import BY, DeliveryFactory, DriverFactory, payload

MOMENTS = ["createdAt", "offerExpiresAt", "acceptedAt", "collectedAt", "returnedAt", "cancelledAt", "closedAt"]


def detail(api, delivery):
    return api.get(DETAIL.format(delivery.pk)).json()


@pytest.fixture
def local(clock):
    """The text of the moment so many minutes after noon, at which the clock stands."""
    noon = timezone.localtime(clock.now)
    return lambda minutes: (noon + timedelta(minutes=minutes)).isoformat()


@pytest.fixture
def move(clock):
    """Apply an action to a delivery, a minute after the one before."""

    def apply(verb, delivery, by=BY, **arguments):
        clock.forward(60)
        return getattr(deliveries, verb)(delivery=delivery, by=by, at=clock.now, **arguments)

    return apply


@pytest.mark.django_db
class TestDeliveryDetail:
    def test_answers_everything_about_a_new_delivery(self, api, token, local):
        sent = payload(stops=1)
        created = send(api, REQUEST, sent).json()
        event = WebhookEndpoint.objects.get(integrator=token.integrator, environment="live").events.get()

        response = api.get(DETAIL.format(created["deliveryId"]))

        assert (response.status_code, response["Content-Type"]) == (200, "application/json")
        body = response.json()
        (order,) = created["orders"]
        address = {**sent["pickup"]["address"], "zipcode": "01310200"}
        assert body == {
            **created,
            "deliveryMode": "DEFAULT",
            "scheduledFor": None,
            "pickup": {"contacts": sent["pickup"]["contacts"], "address": address},
            "orders": [
                {
                    **order,
                    "contacts": sent["dropoffs"][0]["contacts"],
                    "instructions": "",
                    "trackingUrl": body["orders"][0]["trackingUrl"],  # random, see test_dropoff_options.py
                    "arrival": None,
                    "proof": {
                        "photoRequired": False,
                        "pin": None,
                        "receivedBy": None,
                        "pinConfirmedAt": None,
                        "photos": [],
                        "left": False,
                    },
                    "failureCode": None,
                    "failureReason": None,
                    "attempts": 0,
                    "onFailure": "RETURN",
                    "closedAt": None,
                }
            ],
            "orderPackages": sent["orderPackages"],
            **dict.fromkeys(MOMENTS),
            "createdAt": "2026-07-15T12:00:00-03:00",
            "updatedAt": "2026-07-15T12:00:00-03:00",
            "offerExpiresAt": local(60),
            "cancellation": None,
            "fees": [],
            "transitions": [
                {
                    "trigger": "request",
                    "point": None,
                    "reason": None,
                    "status": "PENDING",
                    "routeStatus": "AVAILABLE",
                    "by": "integrator",
                    "at": local(0),
                    "madeAt": None,
                }
            ],
            "events": [
                {
                    "id": str(event.pk),
                    "sequence": 1,
                    "status": "PENDING",
                    "state": "unaddressed",
                    "createdAt": local(0),
                    "sentAt": None,
                    "attempts": 0,
                    "nextAttemptAt": None,
                }
            ],
        }

    def test_shows_when_each_thing_happened(self, api, token, clock, local, move):
        delivery = DeliveryFactory.create(token=token, mode=Mode.RETURN, at=clock.now)
        driver = DriverFactory.create(name="Ana")
        move("accept", delivery, driver=driver)
        move("collect", delivery)
        move("deliver", delivery, point="C")
        move("fail", delivery, point="B", reason="nobody at home")
        move("deliver", delivery, point="D")
        move("return_", delivery)

        body = detail(api, delivery)

        assert (body["status"], body["route"]["status"], body["driver"]["name"]) == ("DELIVERED", "FINISHED", "Ana")
        assert {name: body[name] for name in MOMENTS} == {
            "createdAt": local(0),
            "offerExpiresAt": local(60),
            "acceptedAt": local(1),
            "collectedAt": local(2),
            "returnedAt": local(6),
            "cancelledAt": None,
            "closedAt": local(6),
        }
        assert [(o["point"], o["status"], o["failureReason"], o["closedAt"]) for o in body["orders"]] == [
            ("B", "FAILED", "nobody at home", local(4)),
            ("C", "DELIVERED", None, local(3)),
            ("D", "DELIVERED", None, local(5)),
        ]
        assert [(t["trigger"], t["point"], t["reason"]) for t in body["transitions"]] == [
            ("request", None, None),
            ("accept", None, None),
            ("collect", None, None),
            ("deliver", "C", None),
            ("fail", "B", "nobody at home"),
            ("deliver", "D", None),
            ("return", None, None),
        ]
        assert [event["sequence"] for event in body["events"]] == [1, 2, 3, 4, 5, 6, 7]

    def test_of_one_cancelled_before_pickup_says_so(self, api, token, clock, local, move):
        delivery = DeliveryFactory.create(token=token, stops=1, accepted=True, at=clock.now)
        move("cancel", delivery, reason="customer gave up", by="token rota_live_x")

        body = detail(api, delivery)

        assert body["cancellation"] == {
            "reason": "customer gave up",
            "fee": 3.6,
            "returnToOrigin": False,
            "at": local(1),
            "by": "integrator",
        }
        assert (body["cancelledAt"], body["closedAt"]) == (local(1), local(1))
        assert [(o["status"], o["failureReason"], o["closedAt"]) for o in body["orders"]] == [
            ("FAILED", None, local(1))
        ]

    def test_of_one_cancelled_after_pickup_keeps_the_moments_of_the_orders(self, api, token, clock, local, move):
        delivery = DeliveryFactory.create(token=token, stops=2, collected=True, at=clock.now)
        move("deliver", delivery, point="B")
        move("cancel", delivery, reason="", by="user maria.silva")

        body = detail(api, delivery)

        assert body["cancellation"] == {
            "reason": "",
            "fee": float(delivery.shipping_value),
            "returnToOrigin": True,
            "at": local(2),
            "by": "dispatcher",
        }
        assert [order["closedAt"] for order in body["orders"]] == [local(1), local(2)]
        assert (body["cancelledAt"], body["closedAt"], body["returnedAt"]) == (local(2), None, None)

    def test_of_an_expired_offer_closes_every_order(self, api, token, clock, local):
        delivery = DeliveryFactory.create(token=token, stops=2, at=clock.now)
        clock.forward(3600)
        deliveries.expire(delivery=delivery, by="system: offer deadline", at=clock.now)

        body = detail(api, delivery)

        assert (body["status"], body["route"]["status"], body["closedAt"]) == ("FAILED", "EXPIRED", local(60))
        assert [order["closedAt"] for order in body["orders"]] == [local(60)] * 2
        assert body["cancellation"] is None

    @pytest.mark.parametrize(
        ("by", "shown"),
        [
            ("token rota_live_ab…cd", "integrator"),
            ("user maria.silva", "dispatcher"),
            ("command dispatch", "dispatcher"),
            ("driver João Souza", "driver"),
            ("system: offer deadline", "system"),
            ("maria.silva", "system"),
        ],
    )
    def test_names_the_kind_of_actor_and_no_person(self, api, token, move, by, shown):
        delivery = DeliveryFactory.create(token=token)
        move("cancel", delivery, reason="x", by=by)

        response = api.get(DETAIL.format(delivery.pk))

        assert (response.json()["cancellation"]["by"], response.json()["transitions"][-1]["by"]) == (shown, shown)
        assert "maria" not in response.content.decode()
        assert "Souza" not in response.content.decode()

    def test_shows_how_far_each_webhook_is(self, api, token, clock, local):
        endpoint = WebhookEndpoint.objects.get(integrator=token.integrator, environment="live")
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(url="https://shop.example/hook")
        delivery = DeliveryFactory.create(token=token, accepted=True)
        delivery.events.filter(sequence=1).update(state=EventState.SENT, attempts_made=2, sent_at=clock.now)
        delivery.events.get(sequence=1).queue_item.delete()

        first, second = detail(api, delivery)["events"]

        assert (first["state"], first["attempts"], first["sentAt"]) == ("sent", 2, local(0))
        assert first["nextAttemptAt"] is None
        assert (second["status"], second["state"], second["attempts"]) == ("ACCEPT", "pending", 0)

    def test_shows_when_a_pending_event_is_tried_next(self, api, token, clock, local):
        WebhookEndpoint.objects.update(url="https://shop.example/hook")
        delivery = DeliveryFactory.create(token=token, at=clock.now)

        (event,) = detail(api, delivery)["events"]

        assert (event["state"], event["nextAttemptAt"]) == ("pending", local(0))
