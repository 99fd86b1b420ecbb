"""The steps of bringing in an integrator. Each one's state is read from the account, so that staff can go on later."""

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


def of(account: Integrator, endpoint: WebhookEndpoint, attempt: WebhookAttempt | None, *, at: datetime) -> list[Step]:
    """The steps in the order in which the page has them.

    `endpoint` is the one that test events are sent to, `attempt` the latest test's last one. It is stored before the
    endpoint's last success, which would contradict it for a moment.
    """
    is_received = endpoint.last_success_at is not None or (attempt is not None and attempt.succeeded)
    has_place = account.allow_any_pickup or account.pickup_points.active().exists()
    valid = {token.environment for token in account.tokens.valid(at=at)}
    is_staffed = account.members.exists() or invitations.pending(account).exists()
    return [
        Step("place", _("Pickup point"), has_place),
        Step("webhook", _("Webhook"), is_received),
        Step("tokens", _("Tokens"), valid == set(Environment.values)),
        Step("people", _("People"), is_staffed),
    ]


def context(
    account: Integrator, endpoint: WebhookEndpoint, attempt: WebhookAttempt | None, *, at: datetime
) -> dict[str, Any]:
    """What `panel/setup_steps.html` shows."""
    steps = of(account, endpoint, attempt, at=at)
    return {
        "steps": steps,
        "done": {each.name: each.is_done for each in steps},
        "all_done": all(each.is_done for each in steps),
    }
