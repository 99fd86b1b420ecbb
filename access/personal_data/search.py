"""Where the data of one person are."""

from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from django.db.models import QuerySet

from access.personal_data.people import Person
from delivery.actions import forgetting
from delivery.actions import forgetting as in_deliveries
from delivery.models import Delivery, Driver, Stop
from integration.actions import forgetting as in_orders
from integration.models import Company, Invoice, Order


@dataclass(frozen=True)
class Found:
    """Rows with the data of one person, as queries. Invoices are those of the orders."""

    stops: QuerySet[Stop]
    pickups: QuerySet[Delivery]
    drivers: QuerySet[Driver]
    orders: QuerySet[Order]
    invoices: QuerySet[Invoice]
    companies: QuerySet[Company]


def find(person: Person, *, until: datetime) -> Found:
    """What was there at `until`."""
    stops = Stop.objects.none()
    pickups: QuerySet[Delivery] = Delivery.objects.none()
    drivers: QuerySet[Driver] = Driver.objects.none()
    if person.phone:
        stops = in_deliveries.stops_of(person.phone, until=until)
        pickups = in_deliveries.pickups_of(person.phone, until=until)
        drivers = forgetting.drivers_of(person.phone)
    orders = in_orders.orders_of(document=person.document, phone=person.phone, until=until)
    return Found(
        stops,
        pickups,
        drivers,
        orders,
        Invoice.objects.filter(links__order__in=orders.values("pk"), forgotten_at=None).distinct(),
        Company.objects.filter(document=person.document) if person.document else Company.objects.none(),
    )


@dataclass(frozen=True)
class Summary:
    """How many rows there are of each kind, and some of those that are left: they are open."""

    stops: int
    pickups: int
    orders: int
    drivers: int
    invoices: int
    companies: int
    open_deliveries: list[str]
    open_orders: list[str]
    active_drivers: int

    @property
    def is_empty(self) -> bool:
        return not (self.stops or self.pickups or self.orders or self.drivers or self.invoices or self.companies)

    @property
    def is_open(self) -> bool:
        return bool(self.open_deliveries or self.open_orders or self.active_drivers)


_MOST_NAMED = 20


def summary(found: Found, *, at: datetime) -> Summary:
    waiting = chain(
        found.stops.exclude(in_deliveries.may_be_forgotten("delivery__", at=at)).values_list("delivery")[:_MOST_NAMED],
        found.pickups.exclude(in_deliveries.may_be_forgotten("", at=at)).values_list("pk")[:_MOST_NAMED],
    )
    open_orders = found.orders.exclude(in_orders.is_closed(at=at)).values_list("code", flat=True)
    return Summary(
        stops=found.stops.count(),
        pickups=found.pickups.count(),
        orders=found.orders.count(),
        drivers=found.drivers.count(),
        invoices=found.invoices.count(),
        companies=found.companies.count(),
        open_deliveries=list(dict.fromkeys(str(key) for (key,) in waiting)),
        open_orders=list(open_orders[:_MOST_NAMED]),
        active_drivers=found.drivers.filter(forgetting.IS_WORKING).count(),
    )
