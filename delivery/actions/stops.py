"""What an account changes of a stop after the request, and what it answers to a first failure."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from common.mail.models import Message
from common.pages.page_updates import publish_on_commit
from delivery import page_updates
from delivery.actions import deliveries, transitions
from delivery.errors import NothingToDecide, StopHasEnded, TooManyChanges
from delivery.lifecycle import OnFailure
from delivery.models import AuditAction, AuditEntry, Delivery, DropoffOptions, ReceiverLink, Stop, StopChange
from delivery.receivers import actions as receivers

_OF_STOP = ("contact_name", "contact_phone")
_OF_OPTIONS = ("contact_email", "instructions")
_MOST_CHANGES = 50  # of a stop
# With the link of a stop, the first one included, so that nobody mails strangers through it. Counted by the changes of
# the contact, some of which send none.
_MOST_MAILS = 5


@transaction.atomic
def change(*, delivery: Delivery, point: str, values: Mapping[str, str], by: str, at: datetime) -> Delivery:
    """Change the contact and the instructions at `point`, those of the columns in `values`, until its stop has ended.

    Where the others have been sent their links, a new e-mail address gets it too.
    Nothing is recorded where all of them are as before. Raises StopNotFound, StopHasEnded or TooManyChanges.
    """
    locked = transitions.lock(delivery)
    stop = deliveries.stop_at(locked, point)
    if stop not in locked.stops_ahead:
        raise StopHasEnded("The driver has been at this point already, or the delivery has ended.")
    sent = list(receivers.messages([stop]).values_list("pk", flat=True)) if "contact_email" in values else []
    changed = _write(stop, values)
    if changed:
        contacts, instructions = bool(changed - {"instructions"}), "instructions" in changed
        _record(locked, StopChange(stop=stop, contacts=contacts, instructions=instructions, by=by, at=at))
    if "contact_email" in changed:
        # The address before was not the receiver's: nothing more is sent to it, and forgetting would not find it. Where
        # another stop has the same address, their e-mails are not told apart, and stay.
        of_others = receivers.messages([each for each in locked.ordered_stops if each.pk != stop.pk])
        Message.objects.filter(pk__in=sent).exclude(pk__in=list(of_others.values_list("pk", flat=True))).delete()
        if sent:
            # Who reads that address would see the PIN and where the driver is. The next link is another one.
            ReceiverLink.objects.filter(pk=stop.pk).delete()
        if receivers.were_told(locked) and values["contact_email"]:
            if stop.changes.filter(contacts=True).count() >= _MOST_MAILS:
                raise TooManyChanges("The link of this point has been sent to as many addresses as it may be.")
            receivers.record([stop], at=at)
    return locked


@transaction.atomic
def instruct(
    *, delivery: Delivery, point: str, answer: OnFailure | None, instructions: str | None, by: str, at: datetime
) -> Delivery:
    """Say what follows the first failure at `point`, until it is tried again; RETURN ends the stop at once.

    `answer` None: as before. `instructions` None: as before. Raises StopNotFound, NothingToDecide or TooManyChanges,
    the last one not for RETURN.
    """
    locked = transitions.lock(delivery)
    stop = deliveries.stop_at(locked, point)
    if stop.tried_at is None or stop not in locked.stops_ahead:
        raise NothingToDecide("No second attempt is open at this point.")
    changed = _write(stop, {} if instructions is None else {"instructions": instructions})
    if answer is not None:
        # A stop that is tried again has a policy, and so the row.
        DropoffOptions.objects.filter(pk=stop.pk).update(on_failure=answer.value)
    told = answer.value if answer else ""
    latest = stop.changes.exclude(answer="").last()
    # A repeated answer is none: a caller who had no answer sends it again.
    if changed or (told and (latest is None or latest.answer != told)):
        _record(locked, StopChange(stop=stop, instructions=bool(changed), answer=told, by=by, at=at))
    if answer is OnFailure.RETURN:
        return deliveries.recall_locked(locked, stop, by=by, at=at)
    return locked


def _write(stop: Stop, values: Mapping[str, str]) -> set[str]:
    """Write these values, and return the columns that had others."""
    options = DropoffOptions.of(stop)
    changed = set()
    for row, columns in ((stop, _OF_STOP), (options, _OF_OPTIONS)):
        own = [name for name in columns if name in values and getattr(row, name) != values[name]]
        for name in own:
            setattr(row, name, values[name])
        if own and row is options and options._state.adding:  # noqa: SLF001  # documented by Django
            options.save(force_insert=True)
        elif own:
            row.save(update_fields=own)
        changed.update(own)
    return changed


def _record(delivery: Delivery, change: StopChange) -> None:
    """Write the change into the history and the audit trail, and tell open pages and the driver's phone.

    Raises TooManyChanges.
    """
    if change.answer != OnFailure.RETURN and change.stop.changes.count() >= _MOST_CHANGES:
        raise TooManyChanges("This point has been changed as often as it may be.")
    change.save(force_insert=True)
    AuditEntry.objects.create(
        integrator_id=delivery.integrator_id,
        environment=delivery.environment,
        action=AuditAction.FAILURE_ANSWERED if change.answer else AuditAction.STOP_CHANGED,
        subject=f"{delivery.pk} {change.stop.label} {change.answer}".strip(),
        by=change.by,
        at=change.at,
    )
    publish_on_commit(
        *page_updates.delivery_changed(delivery.pk, delivery.integrator_id, delivery.environment),
        *([page_updates.route_changed(delivery.pk, delivery.driver_id)] if delivery.driver_id else []),
    )
