"""Moves that drivers' phones send, at once or later, each of them exactly once."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction

from common.observability import log_context
from common.postgresql.compiled_queries import CompiledQuery, Parameter
from delivery.actions import deliveries, goods, proofs, transitions
from delivery.actions.moves import MOVES
from delivery.actions.proofs import NO_PROOF, Proof
from delivery.errors import DeliveryError, NotYourRoute
from delivery.lifecycle import Trigger
from delivery.models import Delivery, DriverMove, Transition
from delivery.models.driver import Driver
from delivery.refusals import refusal_to_driver

_LONGEST_DETAIL = 500
# A move that is sent after more than this has a moment of its own in the history.
_LATER = timedelta(seconds=1)


@dataclass(frozen=True)
class SentMove:
    """A move as a phone sends it. `id` is the phone's own of it. A proof is read for DELIVER only."""

    id: UUID
    delivery: UUID
    trigger: Trigger
    made_at: datetime
    point: str = ""
    code: str = ""
    reason: str = ""
    was_tried: bool | None = None  # whether the phone knew of a first failure at the point; None: it does not say so
    proof: Proof = NO_PROOF


@transaction.atomic
def perform(*, driver: Driver, sent: SentMove, at: datetime) -> DriverMove:
    """Make the move of a route that the driver holds, and keep its outcome; for a repetition return the first outcome.

    A refusal is an outcome too; its text is in the active language, the phone's. The outcome of a move of an unknown
    delivery is not stored.
    """
    delivery = transitions.lock_row(sent.delivery)
    if delivery is None:
        log_context.note("delivery", sent.delivery)
        move = DriverMove(driver=driver, report=sent.id, delivery_id=sent.delivery, received_at=at)
        return _refuse(move, _not_yours())
    # Serialises moves of a driver: a repetition that arrives at the same time waits and finds the first. After the
    # delivery, as in `deliveries.accept`; in the other order the two could deadlock.
    (driver,) = _LOCKED_DRIVER.all(driver=driver.pk)
    before = _BEFORE.first(driver=driver.pk, report=sent.id)
    if before is not None:
        return before
    latest = _LATEST.first(delivery=delivery.pk)
    if latest is not None:
        # A move can wait for another one that came after it. Moments of a history are in the order of its entries.
        at = max(at, latest.at)
    move = DriverMove(
        driver=driver,
        report=sent.id,
        delivery=delivery,
        trigger=sent.trigger.value,
        point=sent.point if MOVES[sent.trigger].is_at_stop(delivery) else "",  # as in the history
        made_at=_made_at(latest, sent, at),
        received_at=at,
    )
    try:
        _apply(driver, delivery, sent, move)
    except DeliveryError as error:
        _refuse(move, error)
    move.save(force_insert=True)
    return move


_LOCKED_DRIVER = CompiledQuery(
    lambda: Driver.objects.select_for_update(no_key=True).filter(pk=Parameter("driver")).order_by()
)
_BEFORE = CompiledQuery(
    lambda: DriverMove.objects.filter(driver=Parameter("driver"), report=Parameter("report")).order_by()[:1]
)
_LATEST = CompiledQuery(lambda: Transition.objects.filter(delivery=Parameter("delivery")).order_by("-id")[:1])


def _refuse(move: DriverMove, error: DeliveryError) -> DriverMove:
    move.refusal, move.refusal_detail = error.code, refusal_to_driver(error)[:_LONGEST_DETAIL]
    return move


def _made_at(latest: Transition | None, sent: SentMove, at: datetime) -> datetime:
    """When the move was made, neither later than now nor earlier than the move before it, whatever the phone says."""
    made_at = min(sent.made_at, at)
    return max(made_at, min(latest.happened_at, at)) if latest else made_at


def _apply(driver: Driver, delivery: Delivery, sent: SentMove, move: DriverMove) -> None:
    """Call the action. When it refuses it writes nothing, except the count of wrong PINs, and that goods are out."""
    if sent.trigger is Trigger.COLLECT and goods.are_out(delivery=delivery, driver=driver, point=sent.point):
        _record_goods(driver, delivery, sent, move)
        return
    if delivery.driver_id != driver.pk:
        raise _not_yours()
    at = move.received_at
    made_at = move.made_at if at - move.made_at >= _LATER else None
    by = f"driver {driver.name}"
    match sent.trigger:
        case Trigger.COLLECT:
            deliveries.collect(delivery=delivery, point=sent.point, by=by, at=at, made_at=made_at)
        case Trigger.DELIVER:
            proofs.deliver(delivery=delivery, point=sent.point, proof=sent.proof, by=by, at=at, made_at=made_at)
        case Trigger.FAIL:
            deliveries.fail(
                delivery=delivery,
                point=sent.point,
                code=sent.code,
                reason=sent.reason,
                untried=_untried(delivery, sent),
                by=by,
                at=at,
                made_at=made_at,
            )
        case Trigger.RETURN:
            deliveries.return_(delivery=delivery, by=by, at=at, made_at=made_at)
        case other:
            raise ValueError(f"{other} is not sent by phones")


def _record_goods(driver: Driver, delivery: Delivery, sent: SentMove, move: DriverMove) -> None:
    """Unlike other moves it was made before the latest change of the route, of which the phone did not know."""
    began_at = delivery.accepted_at or delivery.created_at
    move.made_at = max(min(sent.made_at, move.received_at), began_at)
    at, made_at = move.received_at, move.made_at
    if not goods.may_open_again(delivery=delivery, driver=driver, made_at=made_at):
        goods.record(delivery=delivery, driver=driver, at=at, made_at=made_at)
        return
    by = f"driver {driver.name}"
    deliveries.open_again(delivery=delivery, point=sent.point, by=by, at=at, made_at=made_at)


def _untried(delivery: Delivery, sent: SentMove) -> str:
    """The point, if the phone had not heard of a failure there when the driver recorded this one."""
    if sent.was_tried is not None:
        return "" if sent.was_tried else sent.point
    # A page of the version before does not say so. What was done before the recorded attempt is that attempt.
    attempt = delivery.transitions.filter(trigger=Trigger.ATTEMPT, point=sent.point).first()
    return sent.point if attempt is not None and sent.made_at <= attempt.happened_at else ""


def _not_yours() -> NotYourRoute:
    return NotYourRoute("You do not hold this route; the dispatcher may have given it to somebody else.")
