"""Links of receivers to their stops, what they tell drivers there, and the e-mail with such a link.

Its address is one that the request gave.
"""

import secrets
from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from common import credentials
from common.mail import outbox
from common.mail.models import Kind, Message
from common.pages.page_updates import publish_on_commit
from common.postgresql.compiled_queries import CompiledQuery, Parameter
from delivery import page_updates, stop_details
from delivery.errors import StopNotOpen
from delivery.lifecycle import Mode, RouteStatus, Trigger
from delivery.models import (
    Delivery,
    DropoffOptions,
    Environment,
    ReceiverLink,
    ReceiverNote,
    Stop,
    StopChange,
    Transition,
)
from delivery.stop_details import StopDetails

_RANDOM_BYTES = 16  # 128 bits
_LENGTH = 22
# For so long a link works after the end of the route.
WORKS_FOR = timedelta(hours=48)
# The request does not say which language a receiver reads.
_LANGUAGE = "pt-br"
# An e-mail that could be sent only later is of no use: the order has arrived.
_LIFETIME = timedelta(hours=6)


def addresses(stops: Sequence[Stop], *, at: datetime) -> dict[int, outbox.Link]:
    """The address of each stop's page by the stop's key, as far as it works. Links that do not exist yet are made."""
    stops = [stop for stop in stops if not has_ended(stop, at=at)]
    links = ReceiverLink.objects.in_bulk([stop.pk for stop in stops])
    missing = [stop for stop in stops if stop.pk not in links]
    if missing:
        # Another call may make them at the same time; the first one's stay.
        ReceiverLink.objects.bulk_create([_new(stop, at) for stop in missing], ignore_conflicts=True)
        links = ReceiverLink.objects.in_bulk([stop.pk for stop in stops])
    return {key: outbox.link(f"/t/{link.token}") for key, link in links.items()}


def details(stops: Sequence[Stop], *, at: datetime) -> list[StopDetails]:
    """The details of stops with the links, in the order of `stops`. Links that do not exist yet are made."""
    return list(stop_details.read(stops, at=at, addresses=addresses(stops, at=at)).values())


def find(token: str) -> Stop | None:
    """The stop that the token of a link is for, with its delivery and driver; or None."""
    if len(token) != _LENGTH:
        return None
    link = _BY_DIGEST.first(digest=credentials.digest(token))
    return link.stop if link else None


_BY_DIGEST = CompiledQuery(
    lambda: (
        ReceiverLink.objects.filter(digest=Parameter("digest")).select_related("stop__delivery__driver").order_by()[:1]
    )
)


@transaction.atomic
def note(*, stop: Stop, receives: str, hint: str, at: datetime) -> None:
    """Tell the driver who receives the order and a hint, in place of what was told before; nothing if both are empty.

    The history of the delivery shows it. What proves the delivery stays the same. Raises StopNotOpen.
    """
    if not stop.is_ahead:
        raise StopNotOpen("This point is closed already; name a point that is still open.")
    receives, hint = receives.strip(), hint.strip()
    if receives or hint:
        if ReceiverNote.objects.filter(stop=stop, receives=receives, hint=hint).exists():
            return
        told = {"receives": receives, "hint": hint, "written_at": at}
        ReceiverNote.objects.update_or_create(stop=stop, defaults=told)
    else:
        ReceiverNote.objects.filter(stop=stop).delete()
    delivery = stop.delivery
    publish_on_commit(
        *page_updates.delivery_changed(delivery.pk, delivery.integrator_id, delivery.environment),
        *([page_updates.route_changed(delivery.pk, delivery.driver_id)] if delivery.driver_id else []),
    )


def has_ended(stop: Stop, *, at: datetime) -> bool:
    """Whether the link of this stop works no longer."""
    closed_at = stop.delivery.closed_at
    return closed_at is not None and closed_at + WORKS_FOR <= at


def were_told(delivery: Delivery) -> bool:
    """Whether the moment has been at which those with an address get their links.

    It is the collection at A, or in mode REVERSE the first acceptance.
    """
    if delivery.mode == Mode.REVERSE:
        return delivery.accepted_at is not None
    return delivery.route_status == RouteStatus.COLLECTED


def messages(stops: Collection[Stop]) -> QuerySet[Message]:
    """The e-mails with the links of these stops: to their present addresses, at the moments of `record`.

    Those are in the history, and in the changes of the stops.
    """
    keys = [stop.pk for stop in stops]
    options = DropoffOptions.objects.filter(pk__in=keys).exclude(contact_email="")
    recipients = dict(options.values_list("pk", "contact_email"))
    addressed = [stop for stop in stops if stop.pk in recipients]
    moments = defaultdict[UUID | int, list[datetime]](list)
    told = Transition.objects.filter(
        delivery__in={stop.delivery_id for stop in addressed}, trigger__in=(Trigger.ACCEPT, Trigger.COLLECT)
    )
    for delivery, at in told.values_list("delivery", "at"):
        moments[delivery].append(at)
    for stop, at in StopChange.objects.filter(stop__in=addressed, contacts=True).values_list("stop", "at"):
        moments[stop].append(at)
    sent = {
        (recipients[stop.pk].lower(), at) for stop in addressed for at in moments[stop.delivery_id] + moments[stop.pk]
    }
    found = Message.objects.filter(kind=Kind.RECEIVER, created_at__in={at for _address, at in sent})
    mine = [key for key, *mail in found.values_list("pk", "recipient", "created_at") if tuple(mail) in sent]
    return Message.objects.filter(pk__in=mine)


def _new(stop: Stop, at: datetime) -> ReceiverLink:
    token = secrets.token_urlsafe(_RANDOM_BYTES)
    return ReceiverLink(
        stop=stop, digest=credentials.digest(token), ciphertext=credentials.encrypt(token), created_at=at
    )


def record(stops: Sequence[Stop], *, at: datetime) -> None:
    """Record an e-mail for each of these stops of a delivery that has an address, in the transaction of the change.

    Who waits at a stop of mode REVERSE is the sender there. None of the sandbox, whose deliveries do not arrive, and
    none without a mail server.
    """
    delivery = stops[0].delivery
    if delivery.environment == Environment.SANDBOX or not outbox.is_configured():
        return
    options = DropoffOptions.objects.in_bulk([stop.pk for stop in stops])
    addressed = {stop: options[stop.pk].contact_email for stop in stops if stop.pk in options}
    recipients = {stop: address for stop, address in addressed.items() if address}
    links = addresses(list(recipients), at=at)
    for stop, address in recipients.items():
        outbox.record(
            kind=Kind.RECEIVER,
            recipient=address,
            template="sender_link" if delivery.mode == Mode.REVERSE else "receiver_link",
            context={"shop": delivery.contact_name, "link": links[stop.pk]},
            language=_LANGUAGE,
            at=at,
            lifetime=_LIFETIME,
        )
