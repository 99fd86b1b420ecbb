"""One stop of a delivery: the other stops' rows are not changed, not read, and do not count."""

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from django.test import Client

from common import credentials
from delivery.actions import deliveries, forgetting, proofs
from delivery.actions.proofs import Proof
from delivery.drivers import moves as driver_moves
from delivery.drivers.moves import SentMove
from delivery.lifecycle import Trigger
from delivery.models import (
    ArrivalEstimate,
    Delivery,
    DropoffOptions,
    ProofPhoto,
    ReceiverLink,
    Stop,
    StopProof,
    Transition,
)
from delivery.receivers import actions as receivers
from tests.photos import photo
from tests.scope.rows import Key, snapshot
from tests.scope.runs import Outcome, run
from tests.scope.world import World

pytestmark = pytest.mark.django_db
# Of a photo that no phone has sent before.
REPEATED = UUID(int=0xF1)
_OF_A_STOP = (ArrivalEstimate, DropoffOptions, ReceiverLink, StopProof, ProofPhoto)
# What differs from one stop to the next, and a statement that makes it something else.
_CHANGES = """
UPDATE delivery_stop SET contact_name = 'Else', contact_phone = '+55 11 96666-0000', external_id = 'else',
    address = '{"street": "Elsewhere"}',
    failure_reason = CASE failure_reason WHEN '' THEN '' ELSE failure_reason || ' else' END
WHERE id = ANY(%(stops)s);
UPDATE delivery_transition SET at = at - interval '7 minutes', reason = reason || ' else'
WHERE delivery_id = %(delivery)s AND point = ANY(%(labels)s);
UPDATE delivery_stopproof SET received_by = 'Else', wrong_pins = 1 WHERE stop_id = ANY(%(stops)s);
UPDATE delivery_dropoffoptions SET instructions = 'Else', pin_ciphertext = %(pin)s, needs_photo = false
WHERE stop_id = ANY(%(stops)s);
UPDATE delivery_arrivalestimate SET arrives_at = arrives_at + interval '7 minutes', engine = 'else'
WHERE stop_id = ANY(%(stops)s);
UPDATE delivery_proofphoto SET width = 2, taken_at = taken_at - interval '7 minutes'
WHERE stop_id = ANY(%(stops)s)
"""


def others_of(stop: Stop) -> list[Stop]:
    return list(Stop.objects.filter(delivery=stop.delivery_id).exclude(pk=stop.pk))


def rows_of(stops: list[Stop]) -> set[Key]:
    """Their rows."""
    found: set[Key] = {("delivery_stop", str(stop.pk)) for stop in stops}
    for model in _OF_A_STOP:
        keys = model._default_manager.filter(stop__in=stops).values_list("pk", flat=True)
        found |= {(model._meta.db_table, str(key)) for key in keys}
    for stop in stops:
        keys = Transition.objects.filter(delivery=stop.delivery_id, point=stop.label).values_list("pk", flat=True)
        found |= {("delivery_transition", str(key)) for key in keys}
    return found


def change(stops: list[Stop]) -> None:
    """Make everything of these stops that no other stop depends on something else."""
    parameters: dict[str, Any] = {
        "stops": [stop.pk for stop in stops],
        "labels": [stop.label for stop in stops],
        "delivery": stops[0].delivery_id,
        "pin": credentials.encrypt("none"),
    }
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")  # without triggers
        for statement in _CHANGES.split(";"):
            cursor.execute(statement, parameters)
        cursor.execute("SET LOCAL session_replication_role = origin")


def both(call: Callable[[], Any], stop: Stop, world: World) -> tuple[Outcome, Outcome]:
    """The outcome of a call, and of the same call when the other stops have something else in their columns."""
    others = rows_of(others_of(stop))

    def among_changed() -> Any:
        change(others_of(stop))
        return call()

    return run(call, world.ledger, others=others), run(among_changed, world.ledger, others=others)


def own_texts(outcome: Outcome) -> list[str]:
    """What was written beside events, whose bodies tell of all stops."""
    return sorted(text for text in outcome.changes if not text.startswith("delivery_webhook"))


@pytest.fixture(params=["accepted", "collected", "closed", "failed"])
def delivery(request: pytest.FixtureRequest, world: World) -> Delivery:
    return world.a.deliveries[request.param]


@pytest.mark.parametrize("index", range(3))
def test_the_receivers_page_is_about_one_stop(index: int, delivery: Delivery, world: World) -> None:
    stop = Stop.objects.get(delivery=delivery, index=index)
    path = "/" + receivers.addresses([stop], at=world.now)[stop.pk].split("/", 3)[3]

    plain, changed = both(Client().get(path).content.decode, stop, world)

    assert plain.error is changed.error is None
    assert plain.result == changed.result


@pytest.mark.parametrize("index", range(3))
@pytest.mark.parametrize("name", ["deliver", "fail", "deliver with proof", "add"])
def test_a_move_is_of_one_stop(name: str, index: int, world: World) -> None:
    delivery: Any = world.a.deliveries["collected"]
    stop = Stop.objects.get(delivery=delivery, index=index)
    for photo_of_it in ProofPhoto.objects.filter(stop=stop)[1:]:  # not at the limit
        photo_of_it.delete()
    StopProof.objects.filter(pk=stop.pk).update(wrong_pins=0)
    uploads = (ProofPhoto.objects.filter(stop=stop)[0].upload,)
    moment: dict[str, Any] = {"by": "tester", "at": world.now}
    calls: dict[str, Callable[[], Any]] = {
        "deliver": lambda: deliveries.deliver(delivery=delivery, point=stop.label, **moment).status,
        "fail": lambda: deliveries.fail(
            delivery=delivery, point=stop.label, reason="Nobody", **moment
        ).status,
        "deliver with proof": lambda: proofs.deliver(
            delivery=delivery, point=stop.label, proof=Proof("Ana", stop.options.pin, uploads), **moment
        ).status,
        "add": lambda: proofs.add(
            driver=delivery.driver, upload=REPEATED, delivery=delivery.pk, point=stop.label, content=photo(),
            taken_at=world.now, at=world.now,
        )[1],
    }  # fmt: skip  # a table

    plain, changed = both(calls[name], stop, world)

    assert plain.result == changed.result
    assert not plain.touched
    assert own_texts(plain) == own_texts(changed)


@pytest.mark.parametrize("uploads", ["of another stop", "of another driver"])
def test_a_photo_proves_only_its_own_stop_and_route(uploads: str, world: World) -> None:
    delivery = world.a.deliveries["collected"]
    stop, other = Stop.objects.filter(delivery=delivery).order_by("index")[:2]
    ProofPhoto.objects.filter(stop=stop).delete()
    given: Any = ProofPhoto.objects.filter(stop=other).first()
    if uploads == "of another driver":
        given.driver, given.stop = world.a.deliveries["accepted"].driver, stop
        given.pk, given.upload = None, REPEATED
        given._state.adding = True
        given.save()
    proof = Proof("Ana", stop.options.pin, (given.upload,))

    def deliver() -> Delivery:
        return proofs.deliver(delivery=delivery, point=stop.label, proof=proof, by="tester", at=world.now)

    outcome = run(deliver, world.ledger, others=set())

    assert type(outcome.error).__name__ == "PhotoRequired"


@pytest.mark.parametrize("state", ["closed", "failed"])
@pytest.mark.parametrize("index", range(3))
def test_forgetting_a_receiver_leaves_the_others(state: str, index: int, world: World) -> None:
    stop = Stop.objects.get(delivery=world.a.deliveries[state], index=index)
    change(others_of(stop))  # another telephone number
    at = world.now + forgetting._EVENTS_ARE_SENT * 2
    others, rows = rows_of(others_of(stop)), snapshot()

    forgotten = forgetting.forget_stops_of("11977770001", until=world.now, at=at)

    after = snapshot()
    assert forgotten
    assert {key: after.get(key) for key in others} == {key: rows[key] for key in others}
    stop.refresh_from_db()
    assert stop.forgotten_at == at


def test_a_report_about_the_route_of_another_driver_is_refused(world: World) -> None:
    foreign, driver = world.a.deliveries["accepted"], world.a.deliveries["collected"].driver
    assert driver is not None
    sent = SentMove(REPEATED, foreign.pk, Trigger.COLLECT, world.now)

    def perform() -> str:
        return driver_moves.perform(driver=driver, sent=sent, at=world.now).refusal

    outcome = run(perform, world.ledger, others=set())

    assert outcome.result == '"not_your_route"'
    assert not any(text.startswith("delivery_delivery") for text in outcome.changes)
