"""Which changes of a delivery its `updatedAt` tells of, and the list of those that have changed since a moment."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from uuid import uuid4

import pytest

from delivery.actions import arrivals, deliveries, drivers, forgetting, proofs, stops
from delivery.errors import WrongPin
from delivery.lifecycle import OnFailure
from delivery.models import Delivery, WebhookEvent
from delivery.payload import Options
from delivery.receivers import actions as receivers
from tests.delivery.api.calls import LIST
from tests.delivery.proofs import asking_for, first_stop, wrong_pin_of
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory, TokenFactory
from tests.photos import photo
from tests.tables import age

pytestmark = pytest.mark.django_db
NOON = datetime(2026, 7, 15, 15, 0, tzinfo=UTC)
LATER = NOON + timedelta(minutes=1)


def change(delivery, **values):
    stops.change(delivery=delivery, point="B", values=values, by=BY, at=LATER)


def instruct(delivery, **values):
    stops.instruct(delivery=delivery, point="B", by=BY, at=LATER, **{"answer": None, "instructions": None, **values})


def collected(*options):
    made = asking_for(*options, collected=True, at=NOON)
    return Delivery.objects.get(pk=made.pk)


def tried():
    made = collected(Options(on_failure=OnFailure.RETRY))
    return deliveries.fail(delivery=made, point="B", code="ABSENT", reason="", by=BY, at=NOON)


def ended():
    made = collected(Options(needs_photo=True))
    return deliveries.deliver(delivery=made, point="B", by=BY, at=NOON)


def add_photo(delivery):
    proofs.add(
        driver=delivery.driver,
        upload=uuid4(),
        delivery=delivery.pk,
        point="B",
        content=photo(),
        taken_at=NOON,
        at=LATER,
    )


def tell_wrong_pin(delivery):
    proof = proofs.Proof(pin=wrong_pin_of(delivery))
    with pytest.raises(WrongPin):
        proofs.deliver(delivery=delivery, point="B", proof=proof, by=BY, at=LATER)


Case = tuple[Callable[[], Any], Callable[[Any], object]]  # what is made, and what then is done with it
NEW = partial(DeliveryFactory.create, stops=1, at=NOON)
SHOWN: dict[str, Case] = {
    "moved": (NEW, lambda made: deliveries.accept(delivery=made, driver=DriverFactory.create(), by=BY, at=LATER)),
    "cancelled": (NEW, lambda made: deliveries.cancel(delivery=made, reason="", by=BY, at=LATER)),
    "a stop moved": (
        partial(collected, Options(), Options()),
        lambda made: deliveries.deliver(delivery=made, point="C", by=BY, at=LATER),
    ),
    "contact": (NEW, partial(change, contact_name="Ana")),
    "first instructions": (NEW, partial(change, instructions="Knock")),
    "other instructions": (partial(collected, Options(instructions="Ring")), partial(change, instructions="Knock")),
    "e-mail": (partial(collected, Options(email="a@example.com")), partial(change, contact_email="b@example.com")),
    "answered": (tried, partial(instruct, answer=OnFailure.LEAVE)),
    "photo": (partial(collected, Options(needs_photo=True)), add_photo),
    "photo after the end": (ended, add_photo),
    "stop forgotten": (ended, lambda made: forgetting._forget_those([first_stop(made)], at=LATER)),
    "pickup forgotten": (ended, lambda made: forgetting._forget_pickups([made.pk])),
}
NOT_SHOWN: dict[str, Case] = {
    "position": (
        partial(collected, Options()),
        lambda made: drivers.set_position(driver=made.driver, point=PICKUP, by=BY, at=LATER),
    ),
    "estimate": (partial(collected, Options()), lambda _made: arrivals.renew(at=LATER)),
    "webhook": (NEW, lambda made: WebhookEvent.objects.filter(delivery=made).update(attempts_made=1)),
    "wrong PIN": (partial(collected, Options(has_pin=True)), tell_wrong_pin),
    "receiver's note": (
        partial(collected, Options()),
        lambda made: receivers.note(stop=first_stop(made), receives="Ana", hint="", at=LATER),
    ),
}


@pytest.mark.usefixtures("photo_folder")
class TestUpdatedAt:
    def test_is_at_first_the_moment_of_the_request(self, api, token):
        made = DeliveryFactory.create(token=token, at=NOON)

        (listed,), shown = api.get(LIST).json()["data"], api.get(f"{LIST}/{made.pk}").json()

        assert (listed["updatedAt"], shown["updatedAt"]) == ("2026-07-15T12:00:00-03:00",) * 2

    @pytest.mark.parametrize("name", [*SHOWN, *NOT_SHOWN])
    def test_tells_of_what_integrators_are_shown(self, name):
        make, act = {**SHOWN, **NOT_SHOWN}[name]
        made = make()
        age(made, NOON)

        act(Delivery.objects.get(pk=made.pk))

        updated_at = Delivery.objects.get(pk=made.pk).updated_at
        assert (updated_at > NOON) == (name in SHOWN)

    def test_is_that_of_the_change_in_its_answer(self, api, token):
        made = DeliveryFactory.create(token=token, stops=1, at=NOON)

        changed = api.patch(f"{LIST}/{made.pk}/dropoffs/B", {"instructions": "Knock"}).json()

        assert changed["updatedAt"] > "2026-07-16"
        assert changed["updatedAt"] == api.get(f"{LIST}/{made.pk}").json()["updatedAt"]

    def test_is_written_by_triggers_only(self):
        made = DeliveryFactory.create(at=NOON)

        Delivery.objects.filter(pk=made.pk).update(updated_at=NOON - timedelta(days=1))

        assert Delivery.objects.get(pk=made.pk).updated_at > NOON


class TestUpdatedFrom:
    def test_lists_what_has_changed_since_and_the_oldest_change_first(self, api, token):
        old, first, second = (DeliveryFactory.create(token=token, stops=1, at=NOON) for _number in range(3))
        for made, number in ((old, 0), (first, 1), (second, 2)):
            age(made, NOON + timedelta(minutes=number))
        DeliveryFactory.create(token=TokenFactory.create(), stops=1, at=LATER)
        DeliveryFactory.create(token=TokenFactory.create(integrator=token.integrator, sandbox=True), at=LATER)

        since = "2026-07-15T12:01:00-03:00"

        assert ids(api, updatedFrom=since) == [str(first.pk), str(second.pk)]
        assert ids(api, updatedFrom=since, deliveryId=f"{old.pk},{second.pk}") == [str(second.pk)]
        assert ids(api, updatedFrom="2026-07-15T12:02:00.000001") == []

    def test_takes_several_statuses(self, api, token):
        rows = [
            DeliveryFactory.create(token=token, stops=1, at=NOON, **moved)
            for moved in ({"accepted": True}, {}, {"collected": True}, {})
        ]
        for number, made in enumerate(rows):
            age(made, NOON + timedelta(minutes=number))
        pending_and_accepted = [str(rows[number].pk) for number in (0, 1, 3)]

        assert ids(api, updatedFrom="2026-07-15", status="PENDING,ACCEPT") == pending_and_accepted

    def test_has_on_a_later_page_what_changes_meanwhile(self, api, token):
        rows = [DeliveryFactory.create(token=token, stops=1, at=NOON) for _number in range(4)]
        for number, made in enumerate(rows):
            age(made, NOON + timedelta(minutes=number))
        query = {"updatedFrom": "2026-07-15", "limit": "2"}

        page = api.get(LIST, query).json()
        for made in (rows[0], rows[3]):
            deliveries.cancel(delivery=made, reason="", by=BY, at=LATER)
        rest = ids(api, **query, cursor=page["nextCursor"])
        last = ids(api, **{**query, "limit": "3"}, cursor=page["nextCursor"])

        assert [each["deliveryId"] for each in page["data"]] == [str(row.pk) for row in rows[:2]]
        assert rest == [str(rows[2].pk), str(rows[0].pk)]
        assert last == [*rest, str(rows[3].pk)]


def ids(api, **query):
    response = api.get(LIST, query)
    assert response.status_code == 200, response.content
    return [each["deliveryId"] for each in response.json()["data"]]
