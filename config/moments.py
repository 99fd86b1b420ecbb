"""How far ahead of now the moments of each table may lie, see `common.workers.moments`. Imported by workers only."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from django.apps import apps
from django.conf import settings
from django.contrib.sessions.models import Session
from django.db.models import Model

from access import access_links, enrolment, invitations
from access.models import AccessLink, EnrolmentCode, Invitation
from common.files import kept_uploads
from common.mail import sending
from common.mail.models import Message
from common.models import AttemptCount, KeptUpload, LatestMoment
from common.simulation import rows
from common.webhooks import breaker, claims, endpoints, retry, settlement
from common.workers.moments import Table
from delivery import simulation_steps as steps
from delivery.accounts import tokens
from delivery.actions import drivers
from delivery.alerts import posts as alert_posts
from delivery.alerts.models import AlertPost
from delivery.connections import drafts
from delivery.connections.models import Draft
from delivery.drivers import devices as driver_devices
from delivery.models import (
    ArrivalEstimate,
    Delivery,
    DriverDevice,
    DriverLogInLink,
    RefusedDeliveryCallCount,
    Simulation,
    Stop,
    Token,
    WebhookEndpoint,
    WebhookQueueItem,
)
from delivery.streets import work as streets
from delivery.streets.models import Streets
from integration import models as of_orders
from integration.invoices.models import Invoice

_IS_WAITING = "state = 'waiting'"


def _seconds(duration: timedelta | float) -> str:
    return f"interval '{duration.total_seconds() if isinstance(duration, timedelta) else duration} s'"


def _longest(*durations: str) -> str:
    return f"greatest({', '.join(durations)})"


def _of_try(pauses: Sequence[float]) -> str:
    """The pause in seconds after the try that is counted in `tries`; NULL before the first."""
    return f"(ARRAY{[float(each) for each in pauses]})[least(tries, {len(pauses)})] * interval '1 s'"


def _claimed(pauses: Sequence[timedelta], lease: timedelta) -> str:
    """Of rows that `common.postgresql.batches` claims."""
    return _longest(_seconds(lease), _of_try([pause.total_seconds() for pause in pauses]))


def _endpoints(model: type[Model]) -> Table:
    longest = _seconds(retry.LONGEST_RETRY_AFTER)
    asked = f"CASE WHEN retry_after_until IS NOT NULL THEN least(retry_after_until - {{now}}, {longest}) END"
    return Table(
        model,
        {
            "previous_secret_until": endpoints.SECRET_OVERLAP,
            "paused_until": _longest(_seconds(max(breaker.PROBE_PAUSES)), asked),
            "retry_after_until": retry.LONGEST_RETRY_AFTER,
        },
    )


def _queue(model: type[Model], of: type[Model]) -> Table:
    pauses = [pause * (1 + retry.JITTER) for pause in retry.SCHEDULE]
    asked = f"(SELECT e.retry_after_until - {{now}} FROM {of._meta.db_table} e WHERE e.id = endpoint_id)"  # noqa: S608  # nosec B608  # a name
    waits = _longest(_seconds(settlement.UNSENT_PAUSE), _of_try(pauses), asked)
    return Table(model, {"due_at": f"CASE WHEN lease IS NULL THEN {waits} ELSE {_seconds(claims.LEASE)} END"})


# Of simulated deliveries: one waits for a cancellation, all others move sooner.
_STEP = (
    f"CASE outcome WHEN '{steps.Outcome.CANCEL_LATE}' THEN {_seconds(steps.CANCELLATION_SECONDS)}"
    f" ELSE {_seconds(rows.LONGEST_PAUSE)} END"
)

_TABLES = [
    Table(Session, {"expire_date": timedelta(seconds=settings.SESSION_COOKIE_AGE)}),
    Table(EnrolmentCode, {"expires_at": enrolment.LIFETIME}),
    Table(Invitation, {"expires_at": invitations.LIFETIME}),
    Table(AccessLink, {"expires_at": access_links.LIFETIME}),
    Table(AttemptCount, {"expires_at": timedelta(days=1)}),  # the longest window; `attempts` knows that of each
    Table(KeptUpload, {"expires_at": kept_uploads.LIFETIME, "busy_until": kept_uploads.BUSY}),
    Table(
        Message,
        # An invitation is sent for longest.
        {"due_at": _claimed(sending.PAUSES, sending.LEASE), "expires_at": invitations.LIFETIME},
        waiting=_IS_WAITING,
    ),
    Table(LatestMoment, {"moment": None}),
    # Before the queues, which wait as long as an endpoint asked for.
    _endpoints(WebhookEndpoint),
    _endpoints(of_orders.WebhookEndpoint),
    _queue(WebhookQueueItem, WebhookEndpoint),
    _queue(of_orders.WebhookQueueItem, of_orders.WebhookEndpoint),
    Table(Draft, {"due_at": drafts.PAUSE}),
    Table(Streets, {"leased_until": streets.LEASE}),
    Table(AlertPost, {"due_at": _claimed(alert_posts.PAUSES, alert_posts.LEASE)}, waiting=_IS_WAITING),
    # The times that were agreed. Those of routes that are not offered yet are planned anew each minute.
    Table(
        Delivery,
        {
            "offer_expires_at": settings.OFFER_TTL,
            **dict.fromkeys(["scheduled_for", "pickup_deadline_at", "ready_at", "deadline_at", "offer_at"]),
        },
        waiting="route_status = 'AVAILABLE'",
    ),
    Table(Stop, dict.fromkeys(["ready_at", "deadline_at"])),
    Table(ArrivalEstimate, dict.fromkeys(["arrives_at", "earliest", "latest"])),  # computed anew each minute
    *drivers.TABLES,
    Table(DriverDevice, {"expires_at": settings.DRIVER_SESSION}),
    Table(DriverLogInLink, {"expires_at": driver_devices.LINK_TTL}),
    Table(Token, {"expires_at": tokens.OVERLAP}),
    Table(Simulation, dict.fromkeys(["due_at", "leg_ends_at"], _STEP)),
    Table(of_orders.Simulation, {"due_at": rows.LONGEST_PAUSE}),
    Table(Invoice, {"issued_at": None}),  # as the note says
    # Counts of an hour, of which there may be one already.
    *(
        Table(model, {"hour": None})
        for model in (RefusedDeliveryCallCount, of_orders.RefusedSellerCallCount, of_orders.RefusedCarrierCallCount)
    ),
]


def tables() -> list[Table]:
    """All tables with moments: those above, and those whose moments have all passed."""
    declared: dict[Any, Table] = {table.model: table for table in _TABLES}
    return [declared.get(model) or Table(model) for model in apps.get_models() if model._meta.managed]
