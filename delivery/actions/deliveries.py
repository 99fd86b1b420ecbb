"""Actions on a delivery. Each locks its row, applies a transition of the lifecycle, and records actor and event."""

import logging
import secrets
from collections.abc import Callable
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from uuid import UUID

from django.conf import settings
from django.db import transaction

from common import credentials
from common.api.idempotency import KeyedEndpoint
from common.observability import log_context
from common.postgresql.batches import each
from common.postgresql.compiled_queries import insert_together
from common.simulation import rows as simulation_rows
from common.webhooks import recording
from common.workers import wake_up
from delivery import lifecycle, task_names, windows, words
from delivery.actions import drivers, goods, quotes, transitions
from delivery.errors import (
    AlreadyFinished,
    AttemptRecorded,
    DriverNotEligible,
    ExternalIdInUse,
    FeeChanged,
    FormInProgress,
    FormSentAlready,
    InvalidFailureCode,
    InvalidReason,
    MoveRefused,
    OfferExpired,
    ReasonMissing,
    RouteTaken,
    StopNotFound,
    TooManySimulations,
)
from delivery.lifecycle import FailureCode, Mode, OnFailure, RouteStatus, Trigger
from delivery.models import (
    AccountScope,
    ArrivalEstimate,
    Delivery,
    Driver,
    DropoffOptions,
    Environment,
    IdempotencyRecord,
    Integrator,
    Requester,
    Simulation,
    Stop,
    Tariff,
    Token,
)
from delivery.payload import DeliveryRequest, Options, Place
from delivery.pricing import Quote, part
from delivery.receivers import actions as receivers
from delivery.webhooks import outbox

LONGEST_REASON = 255
_FORMS = KeyedEndpoint(
    IdempotencyRecord,
    "panel",
    invalid_key=FormSentAlready,  # keys are made by the panel
    key_reused=FormSentAlready,
    call_in_progress=FormInProgress,
)
_PINS = 10_000
_NEXT = timedelta(microseconds=1)
_log = logging.getLogger(__name__)


def request(
    *,
    token: Requester,
    payload: DeliveryRequest,
    quote: Quote | None = None,
    by: str,
    at: datetime,
    simulation_speed: float | None = None,
    on_repeated: Callable[[dict[str, UUID]], None] | None = None,
) -> Delivery:
    """Create a delivery at the price of `quote`, or at today's, and offer its route, or schedule its offer.

    With a `simulation_speed` (1 to 120; in the sandbox only) a simulated driver takes it and moves it so fast.
    `on_repeated` is called with what `Stop.repeated` finds before anything is written, and may refuse the request.
    Raises ExternalIdInUse if the account refuses repeated externalIds, TooManySimulations and the errors of
    `quotes.quote_for_request`, and then writes nothing.
    """
    quote = quote or quotes.quote_for_request(token=token, payload=payload, quote_id=None, at=at)
    payload = _with_policy(payload, token.integrator)
    delivery = build(token, payload, quote, at)
    create = partial(_create, delivery, payload, by=by, at=at, simulation_speed=simulation_speed)
    if token.integrator.refuse_repeated_external_ids:
        with transaction.atomic():
            if repeated := Stop.repeated(delivery.ordered_stops, at=at, lock=True):
                raise ExternalIdInUse(*next(iter(repeated.items())))
            return create()
    if on_repeated is not None and (repeated := Stop.repeated(delivery.ordered_stops, at=at)):
        on_repeated(repeated)
    return create()


def request_once(
    *,
    token: AccountScope,
    key: str,
    payload: DeliveryRequest,
    quote_id: str,
    by: str,
    at: datetime,
    simulation_speed: float | None = None,
    refuses_repeated: bool = False,
) -> tuple[UUID, bool]:
    """`request` for a form: the delivery's id, and whether an earlier call with this `key` has requested it.

    `refuses_repeated`: repeated externalIds are refused whatever the account's rule is. Raises FormSentAlready if the
    key was used for another payload within 24 hours, FormInProgress, AccountSuspended, and the errors of `request` and
    of `quotes.quote_for_request` with a Quote-Id.
    """
    token.integrator.check_active()

    def act() -> str:
        def refuse(repeated: dict[str, UUID]) -> None:
            if refuses_repeated:
                raise ExternalIdInUse(*next(iter(repeated.items())))

        delivery = request(
            token=token,
            payload=payload,
            quote=quotes.quote_for_request(token=token, payload=payload, quote_id=quote_id, at=at),
            by=by,
            at=at,
            simulation_speed=simulation_speed,
            on_repeated=refuse,
        )
        return str(delivery.pk)

    scope = {"integrator_id": token.integrator_id, "environment": token.environment}
    found, is_earlier = _FORMS.once_for_page(key, asdict(payload), scope=scope, at=at, act=act)
    return UUID(found), is_earlier


def _create(
    delivery: Delivery, payload: DeliveryRequest, *, by: str, at: datetime, simulation_speed: float | None
) -> Delivery:
    """Write a new delivery with its stops, history and event. Raises TooManySimulations."""
    history = transitions.history(delivery, "request", by=by, at=at)
    events = outbox.events_of(delivery=delivery, at=at)
    queue_items = recording.first_items_of(outbox.OUTBOX, events, at=at)
    simulation = [] if simulation_speed is None else Simulation.first_rows(delivery, speed=simulation_speed, at=at)
    if simulation and Simulation.objects.is_full(delivery.integrator_id):
        raise TooManySimulations(
            "Simulated drivers move %(most)s deliveries of this account, which is all that they do at once. "
            "Request this one when others have ended.",
            most=simulation_rows.MOST,
        )
    rows = (delivery, *delivery.ordered_stops, history, *events, *queue_items, *simulation)
    if any(dropoff.options != Options() for dropoff in payload.dropoffs):
        with transaction.atomic():
            insert_together(*rows)
            _create_options(delivery, payload)
    else:
        insert_together(*rows)  # one statement, which needs no transaction of its own
    transitions.follow_up_on_commit(delivery, is_event_due=bool(queue_items))
    log_context.note_change("delivery", delivery.pk, at)
    transitions.count_on_commit(history.trigger, delivery.environment)
    if simulation:
        wake_up.send_on_commit(task_names.ADVANCE_SIMULATIONS)
    return delivery


def _create_options(delivery: Delivery, payload: DeliveryRequest) -> None:
    """Write what the request asked for at its drop-offs beside the specification's fields, and invent the PINs."""
    stops = Stop.objects.filter(delivery=delivery).order_by("index")
    DropoffOptions.objects.bulk_create(
        DropoffOptions(
            stop=stop,
            instructions=dropoff.options.instructions,
            contact_email=dropoff.options.email,
            needs_photo=dropoff.options.needs_photo,
            pin_ciphertext=credentials.encrypt(f"{secrets.randbelow(_PINS):04d}") if dropoff.options.has_pin else "",
            on_failure=dropoff.options.on_failure or OnFailure.RETURN,
        )
        for stop, dropoff in zip(stops, payload.dropoffs, strict=True)
        if dropoff.options != Options()
    )


def _with_policy(payload: DeliveryRequest, integrator: Integrator) -> DeliveryRequest:
    """The request, with the account's policy at the drop-offs that it sends none for.

    A pickup that fails has none. LEAVE is not for drop-offs that ask for a PIN: the request itself has to give it up.
    """
    if integrator.on_failure == OnFailure.RETURN or payload.mode is Mode.REVERSE:
        return payload
    policy = OnFailure(integrator.on_failure)
    dropoffs = []
    for dropoff in payload.dropoffs:
        options = dropoff.options
        if options.on_failure is None and not (policy is OnFailure.LEAVE and options.has_pin):
            options = replace(options, on_failure=policy)
        dropoffs.append(replace(dropoff, options=options))
    return replace(payload, dropoffs=dropoffs)


@transaction.atomic
def offer(*, delivery: Delivery, by: str, at: datetime) -> Delivery:
    """Offer a scheduled route to drivers, from now on as long as any. Raises MoveRefused."""
    return offer_locked(transitions.lock(delivery), by=by, at=at)


def offer_locked(locked: Delivery, *, by: str, at: datetime) -> Delivery:
    """`offer` of a delivery that the caller has locked. Raises MoveRefused."""
    after = lifecycle.move(locked.state, Trigger.OFFER)
    locked.offer_at, locked.offer_expires_at = at, at + settings.OFFER_TTL
    return transitions.apply(locked, after, Trigger.OFFER, by=by, at=at)


@transaction.atomic
def accept(*, delivery: Delivery, driver: Driver | None, by: str, at: datetime) -> Delivery:
    """Assign the whole route to `driver`, or to the nearest eligible driver when None; fix what the driver earns.

    In mode REVERSE the first acceptance sends the senders their links.
    Raises RouteTaken, OfferExpired, MoveRefused, and the errors of `drivers.claim` or `drivers.claim_first_eligible`.
    """
    locked = transitions.lock(delivery)
    if locked.is_held:
        raise RouteTaken("A driver has accepted this route already; one acceptance covers all of it.")
    is_overdue = locked.route_status == RouteStatus.AVAILABLE and locked.offer_expires_at <= at
    if is_overdue or locked.route_status == RouteStatus.EXPIRED:
        raise OfferExpired("The offer has expired; the account has to request the delivery again.")
    after = lifecycle.move(locked.state, Trigger.ACCEPT)
    locked.driver = drivers.claim(driver, locked, at=at) if driver else drivers.claim_first_eligible(locked, at=at)
    locked.driver_amount = Tariff.driver_amounts([locked])[locked.pk]
    is_first = locked.accepted_at is None
    locked.accepted_at = locked.accepted_at or at
    accepted = transitions.apply(locked, after, Trigger.ACCEPT, by=by, at=at)
    if is_first and accepted.mode == Mode.REVERSE:
        receivers.record(accepted.stops_ahead, at=at)
    return accepted


@transaction.atomic
def release(*, delivery: Delivery, by: str, at: datetime) -> Delivery:
    """Take the route from its driver before pickup and offer it again, for as long as a new one. Raises MoveRefused."""
    locked, after = transitions.begin(delivery, Trigger.RELEASE)
    locked.driver = locked.driver_amount = None
    locked.offer_expires_at = at + settings.OFFER_TTL
    return transitions.apply(locked, after, Trigger.RELEASE, by=by, at=at)


@transaction.atomic
def reassign(*, delivery: Delivery, driver: Driver | None, by: str, at: datetime) -> Delivery:
    """Give the route to `driver`, or to the nearest eligible driver when None, before pickup.

    Raises MoveRefused, DriverNotEligible for the driver who holds it, and the errors of `drivers.claim` or
    `drivers.claim_first_eligible`.
    """
    locked, after = transitions.begin(delivery, Trigger.REASSIGN)
    if driver is not None and driver.pk == locked.driver_id:
        raise DriverNotEligible("%(driver)s holds this route already.", driver=driver.name)
    locked.driver = drivers.claim(driver, locked, at=at) if driver else drivers.claim_first_eligible(locked, at=at)
    return transitions.apply(locked, after, Trigger.REASSIGN, by=by, at=at)


@transaction.atomic
def collect(*, delivery: Delivery, point: str = "", by: str, at: datetime, made_at: datetime | None = None) -> Delivery:
    """Record that the driver has the goods, and send receivers their links.

    In mode REVERSE those of the stop at `point`; other modes have no point, all goods are at A.
    `made_at`: since when, if that is sent later. Raises MoveRefused, StopNotFound or StopNotOpen.
    """
    locked = transitions.lock(delivery)
    if locked.mode == Mode.REVERSE:
        collected = _collect_at(locked, point, by=by, at=at, made_at=made_at)
    else:
        collected = _collect(locked, point, by=by, at=at, made_at=made_at)
    goods.hand_over(delivery=collected, by=by, at=at)
    return collected


def _collect(locked: Delivery, point: str, *, by: str, at: datetime, made_at: datetime | None) -> Delivery:
    if point not in ("", "A"):
        raise StopNotFound("The goods of this route are collected at A only; name no point.")
    after = lifecycle.move(locked.state, Trigger.COLLECT)
    collected = transitions.apply(locked, after, Trigger.COLLECT, by=by, at=at, made_at=made_at)
    receivers.record(collected.ordered_stops, at=at)
    return collected


def _collect_at(locked: Delivery, point: str, *, by: str, at: datetime, made_at: datetime | None) -> Delivery:
    if not point:
        labels = ", ".join(stop.label for stop in locked.stops_ahead)
        raise StopNotFound("The goods of this route are collected at %(labels)s; name the point.", labels=labels)
    stop = stop_at(locked, point)
    after = lifecycle.move(locked.state, Trigger.COLLECT, index=stop.index)
    return transitions.apply(locked, after, Trigger.COLLECT, point=stop.label, by=by, at=at, made_at=made_at)


@transaction.atomic
def deliver(*, delivery: Delivery, point: str, by: str, at: datetime, made_at: datetime | None = None) -> Delivery:
    """Record that the order at `point` (B, C or D) was delivered. Raises StopNotFound, StopNotOpen or MoveRefused."""
    locked = transitions.lock(delivery)
    stop = stop_at(locked, point)
    after = lifecycle.move(locked.state, Trigger.DELIVER, index=stop.index)
    return transitions.apply(locked, after, Trigger.DELIVER, point=stop.label, by=by, at=at, made_at=made_at)


@transaction.atomic
def fail(
    *,
    delivery: Delivery,
    point: str,
    reason: str,
    code: str = "",
    untried: str = "",
    by: str,
    at: datetime,
    made_at: datetime | None = None,
) -> Delivery:
    """Record that the order at `point` failed; the others and the driver are unaffected.

    Where the policy is RETRY, the first failure leaves the order open, and its stop is tried again after the others.
    `code`: one of `FailureCode`; empty: OTHER, which needs a reason, like no other code. The history, and with it the
    API, has both as one text in the active language, that of who records it.
    `untried`: labels of the stops that had not failed when the driver or the dispatcher looked. One of them is not
    failed a second time, because it is the same visit, which somebody else has recorded meanwhile.
    Raises InvalidFailureCode, ReasonMissing, InvalidReason, StopNotFound, AttemptRecorded, StopNotOpen or MoveRefused.
    """
    reason = _checked_reason(reason)
    if code not in ("", *FailureCode):
        raise InvalidFailureCode("A failure's code is one of %(codes)s.", codes=", ".join(FailureCode))
    code = code or FailureCode.OTHER
    if code == FailureCode.OTHER and not reason:
        raise ReasonMissing("Say why the point failed; people read it in the delivery's history.")
    locked = transitions.lock(delivery)
    stop = stop_at(locked, point)
    if stop.tried_at is not None and stop.label in untried:
        raise AttemptRecorded
    policy = OnFailure(DropoffOptions.of(stop).on_failure)
    trigger = lifecycle.of_failure(policy, is_second=stop.tried_at is not None)
    after = lifecycle.move(locked.state, trigger, index=stop.index)
    stop.failure_code, stop.failure_reason = code, reason
    if trigger is Trigger.ATTEMPT:
        # A phone sends several at the same time. The sequence of second attempts is that of these moments.
        at = max([at, *(each.tried_at + _NEXT for each in locked.ordered_stops if each.tried_at)])
        stop.tried_at = at
        ArrivalEstimate.objects.filter(stop=stop).delete()  # that of the visit that has been made
    told = words.failure(code, reason)[:LONGEST_REASON]
    return transitions.apply(locked, after, trigger, point=stop.label, reason=told, by=by, at=at, made_at=made_at)


@transaction.atomic
def recall(*, delivery: Delivery, point: str, by: str, at: datetime) -> Delivery:
    """End the order at `point`, which has failed once, as FAILED: without a second attempt and its fee.

    Raises StopNotFound, StopNotOpen, NothingToDecide without a first failure, or MoveRefused.
    """
    locked = transitions.lock(delivery)
    return recall_locked(locked, stop_at(locked, point), by=by, at=at)


def recall_locked(locked: Delivery, stop: Stop, *, by: str, at: datetime) -> Delivery:
    """`recall` at a stop of a delivery that the caller has locked. Raises all of its errors but StopNotFound."""
    after = lifecycle.move(locked.state, Trigger.RECALL, index=stop.index)
    return transitions.apply(locked, after, Trigger.RECALL, point=stop.label, by=by, at=at)


@transaction.atomic
def return_(*, delivery: Delivery, by: str, at: datetime, made_at: datetime | None = None) -> Delivery:
    """Record that the driver has returned to A. Raises MoveRefused."""
    locked, after = transitions.begin(delivery, Trigger.RETURN)
    return transitions.apply(locked, after, Trigger.RETURN, by=by, at=at, made_at=made_at)


@transaction.atomic
def cancel(
    *,
    delivery: Delivery,
    reason: str,
    by: str,
    at: datetime,
    by_integrator: bool = False,
    agreed_fee: Decimal | None = None,
) -> Delivery:
    """Fail the open orders, charge the fee of the route's status, and after pickup make the driver return to A.

    Idempotent: a delivery that is cancelled already is returned unchanged, with its first reason. `by_integrator`: a
    simulated driver then returns by itself. Raises AlreadyFinished, InvalidReason, or FeeChanged if the fee is not
    `agreed_fee`.
    """
    reason = _checked_reason(reason)
    locked = transitions.lock(delivery)
    if locked.cancelled_at is not None:
        return locked
    if locked.is_closed:
        raise AlreadyFinished("The delivery has ended; there is nothing left to cancel.")
    after = lifecycle.move(locked.state, Trigger.CANCEL)
    locked.cancel_fee = locked.fee_of_cancelling
    if agreed_fee is not None and locked.cancel_fee != agreed_fee:
        raise FeeChanged
    if locked.driver_amount and locked.cancel_fee is not None:
        locked.driver_amount = part(locked.driver_amount, fee=locked.cancel_fee, price=locked.shipping_value)
    locked.cancelled_at = at
    locked.cancel_reason = reason
    return transitions.apply(locked, after, Trigger.CANCEL, reason=reason, by=by, at=at, by_integrator=by_integrator)


@transaction.atomic
def open_again(*, delivery: Delivery, point: str, by: str, at: datetime, made_at: datetime) -> Delivery:
    """Let the driver of a cancelled route bring back what was collected at `made_at`, before the cancellation.

    In mode REVERSE at the stop at `point`, also while others are brought back. The delivery stays FAILED, and its fee
    that of the route's status at the cancellation, see `charge`. Raises MoveRefused or StopNotFound.
    """
    locked = transitions.lock(delivery)
    label = stop_at(locked, point).label if locked.mode == Mode.REVERSE else ""
    after = lifecycle.move(locked.state, Trigger.GOODS_OUT)
    locked.fee_before_pickup |= locked.route_status == RouteStatus.CANCELLED
    return transitions.apply(locked, after, Trigger.GOODS_OUT, point=label, by=by, at=at, made_at=made_at)


@transaction.atomic
def charge(*, delivery: Delivery, by: str, at: datetime) -> Delivery:
    """Charge the cancellation of a route that was opened again as one after pickup. Raises MoveRefused."""
    locked = transitions.lock(delivery)
    fee = locked.fee_after_pickup
    if fee is None:
        raise MoveRefused("The fee of this cancellation is not open to decide.")
    after = lifecycle.move(locked.state, Trigger.CHARGE)
    locked.cancel_fee, locked.fee_before_pickup = fee, False
    if locked.driver_amount is not None:
        whole = Tariff.driver_amounts([locked])[locked.pk]  # the cancellation has left a part of it
        locked.driver_amount = part(whole, fee=fee, price=locked.shipping_value)
    return transitions.apply(locked, after, Trigger.CHARGE, by=by, at=at)


@transaction.atomic
def expire(*, delivery: Delivery, by: str, at: datetime) -> Delivery:
    """Expire an offer at or after its deadline. Does nothing before it, or when the offer was accepted or cancelled."""
    locked = transitions.lock(delivery)
    if locked.route_status != RouteStatus.AVAILABLE or locked.offer_expires_at > at:
        return locked
    return transitions.apply(locked, lifecycle.move(locked.state, Trigger.EXPIRE), Trigger.EXPIRE, by=by, at=at)


@transaction.atomic
def expire_early(*, delivery: Delivery, by: str, at: datetime) -> Delivery:
    """Expire an offer of the sandbox, at its deadline or before. Raises MoveRefused."""
    locked = transitions.lock(delivery)
    if locked.environment != Environment.SANDBOX:
        raise MoveRefused("Only an offer of the sandbox expires before its deadline.")
    return transitions.apply(locked, lifecycle.move(locked.state, Trigger.EXPIRE), Trigger.EXPIRE, by=by, at=at)


def stop_at(delivery: Delivery, point: str) -> Stop:
    """The stop at B, C or D. Raises StopNotFound."""
    stop = delivery.stop_at(point)
    if stop is None:
        labels = ", ".join(stop.label for stop in delivery.ordered_stops)
        raise StopNotFound("This route's drop-offs are %(labels)s.", labels=labels)
    return stop


def _checked_reason(reason: str) -> str:
    """The reason without surrounding whitespace. Raises InvalidReason when its column could not hold it."""
    if len(reason) > LONGEST_REASON or "\0" in reason:
        raise InvalidReason("A reason has at most %(most)s characters, none of them NUL.", most=LONGEST_REASON)
    return reason.strip()


def build(token: Requester, payload: DeliveryRequest, quote: Quote, at: datetime) -> Delivery:
    """An unsaved delivery with its unsaved stops."""
    scheduled_for = _later(payload.ready[0], at)
    offer_at = scheduled_for and scheduled_for - _lead(token, quote)
    is_scheduled = offer_at is not None and offer_at > at
    state = lifecycle.new(orders=len(payload.dropoffs), mode=payload.mode, is_scheduled=is_scheduled)
    stops_ready = [_later(dropoff.window.ready_at, at) for dropoff in payload.dropoffs]
    deadlines = [dropoff.window.deadline_at for dropoff in payload.dropoffs]
    delivery = Delivery(
        integrator=token.integrator,
        environment=token.environment,
        token=token if isinstance(token, Token) else None,
        vehicle_type=payload.vehicle_type,
        mode=state.mode.value,
        status=state.delivery.value,
        route_status=state.route.value,
        packages=payload.packages,
        shipping_value=quote.value,
        distance_km=quote.distance_km,
        cancel_percent_accepted=quote.cancel_percent_accepted,
        cancel_percent_collected=quote.cancel_percent_collected,
        retry_percent=quote.retry_percent,
        return_percent=quote.return_percent,
        created_at=at,
        updated_at=at,
        scheduled_for=scheduled_for,
        pickup_deadline_at=payload.pickup.window.deadline_at,
        ready_at=max(filter(None, stops_ready), default=None),
        deadline_at=max(filter(None, deadlines), default=None),
        offer_at=offer_at if is_scheduled else None,
        offer_expires_at=(offer_at if offer_at and is_scheduled else at) + settings.OFFER_TTL,
        last_sequence=1,
        **_place_fields(payload.pickup),
    )
    delivery.ordered_stops = [
        Stop(
            delivery_id=delivery.pk,  # not `delivery`, which refers to it: garbage collection would free both
            index=index,
            status=state.orders[index].value,
            external_id=dropoff.external_id,
            external_id_digest=Stop.digest_of(dropoff.external_id, token=token),
            ready_at=stops_ready[index],
            deadline_at=dropoff.window.deadline_at,
            **_place_fields(dropoff),
        )
        for index, dropoff in enumerate(payload.dropoffs)
    ]
    return delivery


def _later(ready: datetime | None, at: datetime) -> datetime | None:
    """The moment, if it is still to come: what was ready before is ready now."""
    return ready if ready is not None and ready > at else None


def _lead(token: Requester, quote: Quote) -> timedelta:
    """How long before it is ready a delivery is offered, as far as it is known at the request."""
    seconds = 0 if token.environment == Environment.SANDBOX else quote.seconds_until[0]
    return windows.lead(seconds, least=settings.OFFER_LEAD)


def _place_fields(place: Place) -> dict[str, object]:
    return {
        "latitude": place.point.latitude,
        "longitude": place.point.longitude,
        "contact_name": place.contact_name,
        "contact_phone": place.contact_phone,
        "address": place.address,
    }


def expire_overdue(*, at: datetime) -> int:
    """Expire every offer at or past its deadline, each in its own transaction. Returns how many were expired.

    An error of one offer is logged with its id and does not affect the others. A lost connection is raised.
    """
    overdue = Delivery.objects.untaken(at=at).order_by("offer_expires_at").iterator(chunk_size=200)
    expire = partial(_expire, at=at)
    count = sum(each(overdue, expire, doing="expire the offer of delivery"))
    if count:
        _log.info("%d offers expired", count)
    return count


def _expire(delivery: Delivery, *, at: datetime) -> bool:
    expired = expire(delivery=delivery, by="system: offer deadline", at=at)
    return expired.route_status == RouteStatus.EXPIRED
