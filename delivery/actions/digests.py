"""The daily digest: what happened yesterday, told in the morning if anything did."""

import logging
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone

from common.each_row import each
from delivery.actions import alerts as alerting
from delivery.lifecycle import Status
from delivery.models import AlertKind, Delivery, EndpointAlerts, EventState, WebhookEndpoint, WebhookEvent

_log = logging.getLogger(__name__)
HOUR = 8  # in the service's time zone
# A digest that no worker could send before this hour is left out.
LAST_HOUR = 12
_MOST_AT_ONCE = 50


def send_due(*, at: datetime) -> int:
    """Record the digests of today that were not recorded yet. Returns how many there were."""
    local = timezone.localtime(at)
    if not HOUR <= local.hour < LAST_HOUR:
        return 0
    today = local.date()
    has_readers = Q(integrator__memberships__isnull=False) | ~Q(alerts__url_ciphertext="") & Q(alerts__isnull=False)
    due = WebhookEndpoint.objects.filter(
        has_readers, Q(alerts__digest_on=None) | Q(alerts__digest_on__lt=today)
    ).distinct()
    ids = list(due.order_by("pk").values_list("pk", flat=True)[:_MOST_AT_ONCE])
    return sum(each(ids, partial(_send, at=at), doing="record the digest of the webhook endpoint"))


@transaction.atomic
def _send(pk: int, *, at: datetime) -> bool:
    """Record the digest of one endpoint's account and environment, unless another worker has or nothing happened."""
    local = timezone.localtime(at)
    endpoint = WebhookEndpoint.objects.select_related("integrator").get(pk=pk)
    EndpointAlerts.objects.get_or_create(endpoint=endpoint)
    alerts = EndpointAlerts.objects.select_for_update(skip_locked=True).filter(endpoint=endpoint).first()
    if alerts is None or alerts.digest_on == local.date():
        return False
    alerts.digest_on = local.date()
    alerts.save(update_fields=["digest_on"])
    alerts.endpoint = endpoint
    figures = _figures(endpoint, until=local.replace(hour=0, minute=0, second=0, microsecond=0))
    if not any(figures.values()):
        return False
    day = local.date() - timedelta(days=1)
    context = {**alerting.context_of(endpoint, page="overview"), **figures, "day": day}
    alerting.tell(alerts, AlertKind.DIGEST, context, at=at)
    return True


def _figures(endpoint: WebhookEndpoint, *, until: datetime) -> dict[str, Any]:
    """Counts of the day before `until`, and whether the endpoint fails or is off now."""
    day = {"created_at__gte": until - timedelta(days=1), "created_at__lt": until}
    deliveries = Delivery.objects.within(endpoint.integrator, endpoint.environment).filter(**day).order_by()
    statuses = dict(deliveries.values_list("status").annotate(Count("pk")))
    events = WebhookEvent.objects.filter(endpoint=endpoint, delivery__isnull=False, **day).order_by()
    states = events.aggregate(
        sent=Count("pk", filter=Q(state=EventState.SENT)),
        failing=Count("pk", filter=Q(state=EventState.PENDING, attempts_made__gt=0)),
        dead=Count("pk", filter=Q(state=EventState.DEAD)),
    )
    return {
        "requested": sum(statuses.values()),
        "delivered": statuses.get(Status.DELIVERED, 0),
        "failed": statuses.get(Status.FAILED, 0),
        **states,
        "is_off": bool(endpoint.url) and not endpoint.enabled,
        "is_failing": bool(endpoint.url) and endpoint.enabled and endpoint.breaker_state.is_open,
    }
