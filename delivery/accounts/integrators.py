"""Opening and changing an account, suspending it and lifting the suspension."""

import logging
from datetime import datetime

from django.db import transaction

from common.webhooks import endpoints
from delivery.lifecycle import OnFailure
from delivery.models import AuditAction, AuditEntry, Environment, Integrator, WebhookEndpoint

_log = logging.getLogger(__name__)
# Rules of an account that are on or off, with what the audit trail calls the two changes.
_AUDITED = {
    "allow_any_pickup": (AuditAction.ANY_PICKUP_ALLOWED, AuditAction.ANY_PICKUP_ENDED),
    "refuse_repeated_external_ids": (AuditAction.REPEATS_REFUSED, AuditAction.REPEATS_ACCEPTED),
    "approve_pickup_points": (AuditAction.APPROVAL_BEGUN, AuditAction.APPROVAL_ENDED),
}


@transaction.atomic
def open_(integrator: Integrator, *, by: str, at: datetime) -> Integrator:
    """Save a new account with a webhook endpoint, still without a URL, for each environment."""
    integrator.save()
    for environment in Environment:
        endpoints.create(WebhookEndpoint, owner=integrator.pk, environment=environment)
    for name, (begun, _ended) in _AUDITED.items():
        if getattr(integrator, name):
            record_audit(integrator, begun, by=by, at=at)
    if integrator.on_failure != OnFailure.RETURN:
        record_audit(integrator, AuditAction.POLICY_SET, integrator.on_failure, by=by, at=at)
    return integrator


@transaction.atomic
def change(*, integrator: Integrator, by: str, at: datetime) -> None:
    """Save the name, the limits, and the rules of _AUDITED, whose changes the audit trail records."""
    before = Integrator.objects.select_for_update(no_key=True).get(pk=integrator.pk)
    # Not the other columns: the account may have been suspended since it was read.
    integrator.save(update_fields=["name", "rate_limit_per_second", "rate_limit_per_hour", "on_failure", *_AUDITED])
    if integrator.on_failure != before.on_failure:
        record_audit(integrator, AuditAction.POLICY_SET, integrator.on_failure, by=by, at=at)
    for name, (begun, ended) in _AUDITED.items():
        is_on = getattr(integrator, name)
        if is_on != getattr(before, name):
            record_audit(integrator, begun if is_on else ended, by=by, at=at)


@transaction.atomic
def set_policy(*, integrator: Integrator, policy: OnFailure, by: str, at: datetime) -> None:
    """Set what a failure leads to at drop-offs that are requested without `onFailure`. Raises AccountSuspended."""
    locked = Integrator.objects.select_for_update(no_key=True).get(pk=integrator.pk)
    locked.check_active()
    if locked.on_failure != policy:
        locked.on_failure = policy.value
        locked.save(update_fields=["on_failure"])
        record_audit(locked, AuditAction.POLICY_SET, policy, by=by, at=at)


@transaction.atomic
def suspend(*, integrator: Integrator, reason: str, by: str, at: datetime) -> bool:
    """Refuse the account's tokens and issue none from now on. Tokens, URLs and running deliveries stay as they are.

    Returns False, and changes nothing, for an account that is suspended already. Raises InvalidReason.
    """
    suspended = integrator.write_suspension(reason=reason, by=by, at=at)
    if suspended:
        record_audit(integrator, AuditAction.ACCOUNT_SUSPENDED, reason.strip(), by=by, at=at)
    return suspended


@transaction.atomic
def lift_suspension(*, integrator: Integrator, by: str, at: datetime) -> bool:
    """Let the account work again with the tokens that it had. False for an account that is not suspended."""
    lifted = integrator.clear_suspension()
    if lifted:
        record_audit(integrator, AuditAction.SUSPENSION_LIFTED, by=by, at=at)
    return lifted


def record_audit(integrator: Integrator, action: AuditAction, subject: str = "", *, by: str, at: datetime) -> None:
    """Add an entry to the audit trail of each environment; the panel shows them separately."""
    AuditEntry.objects.bulk_create(
        AuditEntry(integrator=integrator, environment=environment, action=action, subject=subject, by=by, at=at)
        for environment in Environment
    )
    _log.info("account %s: %s by %s", integrator.pk, action, by)
