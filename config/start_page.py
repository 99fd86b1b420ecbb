"""The admin's first page: how much needs somebody, with links to where it is dealt with, and all lists."""

from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from common import clock
from delivery.alerts.models import Trouble
from delivery.models import Delivery, Environment
from panel import open_alerts


@dataclass(frozen=True)
class Work:
    name: str
    count: str
    url: str


def context(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Unfold's DASHBOARD_CALLBACK: the context with the `work` that this user can do, what there is none of last.

    And with the groups of lists.

    Who sees the board has its late routes and not the alerts of the same deliveries.
    """
    site: Any = admin.site
    now, found = clock.now(), []
    if request.user.has_perm("delivery.dispatch_delivery"):
        board = reverse("panel:board")
        progress = Delivery.objects.filter(environment=Environment.LIVE).progress(at=now)
        found = [
            Work(_("Routes under way"), str(progress["under_way"]), board),
            Work(_("Late routes"), str(progress["late"]), f"{board}?tab=late"),
        ]
    if request.user.has_perm("delivery.change_integrator"):
        alerts, page = open_alerts.of_all_accounts(at=now), reverse("panel:all_alerts")
        found += [
            Work(str(kind.name), f"{kind.count}+" if kind.is_full else str(kind.count), f"{page}?kind={kind.value}")
            for kind in open_alerts.counted(alerts)
            if not found or kind.value != Trouble.LATE
        ]
    return {**context, "work": sorted(found, key=lambda each: each.count == "0"), "groups": site.groups(request)}
