"""What a driver has done on each of the last days, in the service's time zone."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal

from django.conf import settings
from django.db.models import Case, Count, DecimalField, F, Q, Sum, Value, When
from django.db.models.functions import Coalesce, Round, TruncDate
from django.utils import timezone

from delivery.lifecycle import RouteStatus
from delivery.models import Delivery, Driver

SHOWN = 7
_MONEY = DecimalField(max_digits=12, decimal_places=2)


@dataclass(frozen=True)
class Day:
    """`earned`: the driver's share in reais, None where no share is set."""

    day: date
    routes: int = 0
    distance_km: Decimal = Decimal(0)
    earned: Decimal | None = None


def latest(driver: Driver, *, at: datetime) -> list[Day]:
    """Today and the six days before, newest first; each route counts on the day of its end.

    Of a cancelled delivery the driver has the share of the fee. Shares are rounded for each delivery, so that a day is
    the sum of what was shown with its offers.
    """
    today = timezone.localtime(at).date()
    first = today - timedelta(days=SHOWN - 1)
    share = Decimal(str(settings.DRIVER_SHARE_PERCENT)) / 100
    charged = Case(When(cancelled_at=None, then=F("shipping_value")), default=F("cancel_fee"), output_field=_MONEY)
    finished = Q(route_status=RouteStatus.FINISHED)
    rows = (
        Delivery.objects.filter(driver=driver, closed_at__isnull=False)
        .annotate(day=TruncDate("closed_at"))
        .filter(day__gte=first, day__lte=today)
        .order_by()
        .values("day")
        .annotate(
            routes=Count("pk", filter=finished),
            distance_km=Coalesce(Sum("distance_km", filter=finished), Value(Decimal(0)), output_field=_MONEY),
            earned=Sum(Round(charged * share, precision=2, output_field=_MONEY), output_field=_MONEY),
        )
    )
    found = {
        row["day"]: Day(row["day"], row["routes"], row["distance_km"], row["earned"] if share else None) for row in rows
    }
    none = Decimal(0) if share else None
    return [found.get(day) or Day(day, earned=none) for day in (today - timedelta(days=n) for n in range(SHOWN))]
