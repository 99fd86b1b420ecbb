"""The steps of bringing in an integrator, whose state is read from the account."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from access import invitations
from delivery.models import Environment, Integrator, WebhookAttempt, WebhookEndpoint


@dataclass(frozen=True)
class Step:
    """A step of the set-up, and whether it is done."""

    name: str
    title: str
    is_done: bool


def steps_context(
    account: Integrator, endpoint: WebhookEndpoint, attempt: WebhookAttempt | None, *, at: datetime
) -> dict[str, Any]:
    """What `panel/setup_steps.html` shows.

    `endpoint` is the one that test events are sent to, `attempt` the last attempt at the latest test event. The
    endpoint's last success is written after it and would contradict it for a moment.
    """
    is_received = endpoint.last_success_at is not None or (attempt is not None and attempt.succeeded)
    has_place = account.allow_any_pickup or account.pickup_points.active().exists()
    valid = {token.environment for token in account.tokens.valid(at=at)}
    is_staffed = account.members.exists() or invitations.pending(account).exists()
    steps = [
        Step("place", _("Pickup point"), has_place),
        Step("webhook", _("Webhook"), is_received),
        Step("people", _("People"), is_staffed),
        Step("tokens", _("Access data"), valid == set(Environment.values)),
    ]
    return {
        "steps": steps,
        "done": {each.name: each.is_done for each in steps},
        "is_last": all(each.is_done for each in steps[:-1]),
    }
