"""The overview of an account."""

from datetime import datetime, timedelta

from django.db.models import Count
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from common import clock
from common.replica import may_be_old
from delivery.lifecycle import Status
from delivery.models import WebhookAttempt
from panel import attention, plots
from panel.views.base import AccountView

_HOURS = 24
_MOST_PICKUP_POINTS = 200


class Overview(AccountView):
    """Numbers of today's deliveries by status, notices, and the places from which deliveries may be requested."""

    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponse:
        now = clock.now()
        counts = dict(
            self.deliveries.filter(created_at__gte=_midnight(now))
            .order_by()
            .values_list("status")
            .annotate(Count("pk"))
        )
        return self.page(
            "panel/overview.html",
            counts=[(status.value, counts.get(status, 0)) for status in Status],
            total=sum(counts.values()),
            notices=attention.notices(self.account, self.environment, self.endpoint, at=now),
            steps=attention.first_steps(self.account, self.environment, self.endpoint, at=now),
            pickup_points=self.account.pickup_points.active()[:_MOST_PICKUP_POINTS],
        )


class Plot(AccountView):
    """Webhooks of the last day. A fragment that the page loads after itself, because it counts many rows."""

    @may_be_old
    def get(self, request: HttpRequest) -> HttpResponse:
        now = timezone.localtime()
        since = now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=_HOURS - 1)
        plot = plots.of_hours(WebhookAttempt.objects.by_hour(self.endpoint, since=since), until=now, count=_HOURS)
        return self.page("panel/plot.html", plot=plot)


def _midnight(at: datetime) -> datetime:
    return timezone.localtime(at).replace(hour=0, minute=0, second=0, microsecond=0)
