"""What is wrong now in all accounts: webhooks that events wait for, late or failed deliveries, goods in hand."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import prefetch_related_objects
from django.db.models.functions import Coalesce
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from delivery.alerts import actions as alerts
from delivery.alerts.models import LATE_MINUTES, UNTAKEN_MINUTES, Trouble
from delivery.models import Environment, GoodsInHand, Integrator, WebhookEndpoint
from delivery.words import text_of_simulator

# Of each kind, the newest.
MOST = 200
_FAILED_FOR = timedelta(days=1)  # a delivery that failed is not open for ever


@dataclass(frozen=True)
class OpenAlert:
    """`kind` is one of `KINDS`. `subject` is a delivery or an endpoint, `details` why."""

    kind: str
    account: Integrator
    subject: Any
    address: str
    since: datetime
    details: str = ""


@dataclass(frozen=True)
class Kind:
    """A kind of alert with its name, its colour and how many there are, at most `MOST`.

    `minutes`: after how many it is one where the account has chosen no other time; 0 for at once.
    """

    value: str
    name: Any
    look: str
    count: int
    minutes: int = 0

    @property
    def is_full(self) -> bool:
        return self.count >= MOST


WEBHOOK, GOODS = "webhook", "goods"
# Names and colours, in the order of the page.
KINDS: dict[str, tuple[Any, str]] = {
    WEBHOOK: (gettext_lazy("Webhook down"), "bad"),
    Trouble.UNTAKEN.value: (Trouble.UNTAKEN.label, "warn"),
    Trouble.LATE.value: (Trouble.LATE.label, "warn"),
    Trouble.ATTEMPT.value: (Trouble.ATTEMPT.label, "warn"),
    Trouble.FAILED.value: (Trouble.FAILED.label, "bad"),
    GOODS: (gettext_lazy("Goods in hand"), "bad"),
}


_MINUTES: dict[str, int] = {Trouble.UNTAKEN: UNTAKEN_MINUTES, Trouble.LATE: LATE_MINUTES}


def of_all_accounts(*, at: datetime) -> list[OpenAlert]:
    """The open alerts of the live environments, the newest first."""
    found = [*_of_webhooks(), *_of_deliveries(at=at), *_of_goods()]
    return sorted(found, key=lambda alert: alert.since, reverse=True)


def counted(found: list[OpenAlert]) -> list[Kind]:
    """Each kind with its number."""
    return [
        Kind(
            value,
            name,
            look if (count := sum(each.kind == value for each in found)) else "",
            count,
            _MINUTES.get(value, 0),
        )
        for value, (name, look) in KINDS.items()
    ]


def _of_webhooks() -> Iterator[OpenAlert]:
    # Without a moment is one that takes other events than the one that is retried.
    down = alerts.failing_or_off().alias(since=Coalesce("off_since", "failing_since")).exclude(since=None)
    live = down.filter(environment=Environment.LIVE).select_related("integrator")
    for endpoint in live.order_by("-since")[:MOST]:
        since = endpoint.off_since or endpoint.failing_since
        assert since is not None  # noqa: S101  # nosec B101  # of the condition
        page = reverse("panel:webhook", args=endpoint.url_arguments)
        yield OpenAlert(WEBHOOK, endpoint.integrator, endpoint, page, since, _state(endpoint))


def _state(endpoint: WebhookEndpoint) -> str:
    if not endpoint.enabled:
        return _("Switched off")
    return _("Failed %(count)s times in a row") % {"count": endpoint.failures}


def _of_deliveries(*, at: datetime) -> Iterator[OpenAlert]:
    open_now = alerts.untaken_or_late(at=at)
    by_kind = [open_now.filter(trouble=kind) for kind in (Trouble.UNTAKEN, Trouble.LATE)]
    for deliveries in (*by_kind, alerts.first_failures(), alerts.failed_since(at - _FAILED_FOR, at=at)):
        live = deliveries.filter(environment=Environment.LIVE).select_related("integrator", "driver")
        rows = list(live.order_by("-troubled_at")[:MOST])
        prefetch_related_objects(rows, "stops")
        for row in rows:
            page = reverse("panel:delivery", args=[row.integrator_id, row.environment, row.pk])
            yield OpenAlert(row.trouble, row.integrator, row, page, row.troubled_at, _failures(row))


def _of_goods() -> Iterator[OpenAlert]:
    out = GoodsInHand.objects.out().filter(delivery__environment=Environment.LIVE)
    rows = out.select_related("driver", "delivery__integrator", "delivery__driver").prefetch_related("delivery__stops")
    for row in rows.order_by("-reported_at")[:MOST]:
        delivery = row.delivery
        page = reverse("panel:delivery", args=[delivery.integrator_id, delivery.environment, delivery.pk])
        text = _("%(driver)s has its goods") % {"driver": row.driver.name}
        yield OpenAlert(GOODS, delivery.integrator, delivery, page, row.reported_at, text)


def _failures(delivery: Any) -> str:
    """Why a delivery failed, or the stop of a first attempt."""
    if delivery.trouble not in (Trouble.ATTEMPT, Trouble.FAILED):
        return ""
    stops = [each for each in delivery.ordered_stops if each.failure and delivery.troubled_point in ("", each.label)]
    return ", ".join(f"{each.label}: {text_of_simulator(each.failure)}" for each in stops)
