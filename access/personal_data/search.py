"""One person, named by a telephone number or a document, and where their data are."""

from dataclasses import dataclass
from datetime import datetime
from itertools import chain

from django.db.models import QuerySet

from common import phones
from common.errors import DomainError
from delivery.actions import forgetting
from delivery.actions import forgetting as in_deliveries
from delivery.models import Delivery, Driver, Stop
from integration.actions import forgetting as in_orders
from integration.models import Company, Invoice, Order, compact_document

_MOST_NAMED = 20
_LONGEST = 40
_DOCUMENT_LENGTHS = (11, 14)  # of a CPF and a CNPJ
_HINT_DIGITS = 4


class InvalidPerson(DomainError):
    """Neither a whole telephone number nor a CPF or CNPJ."""

    code = "invalid_person"


@dataclass(frozen=True)
class Person:
    """Either a document without its mask, or the national digits of a telephone number; the other is empty."""

    document: str = ""
    phone: str = ""

    @property
    def hint(self) -> str:
        return f"…{(self.document or self.phone)[-_HINT_DIGITS:]}"


def person(*, document: str = "", phone: str = "") -> Person:
    """The person with this document or this telephone number, in any way of writing it. Raises InvalidPerson."""
    if bool(document.strip()) == bool(phone.strip()) or len(document) > _LONGEST or len(phone) > _LONGEST:
        raise InvalidPerson("Give either a document or a telephone number.")
    if phone:
        if not phones.is_whole(phone):
            raise InvalidPerson("A telephone number has its area code, such as (11) 97777-0001.")
        return Person(phone=phones.national(phone))
    compact = compact_document(document)
    if len(compact) not in _DOCUMENT_LENGTHS or not (compact.isascii() and compact.isalnum()):
        raise InvalidPerson("A document is a CPF or a CNPJ, such as 529.982.247-25.")
    return Person(document=compact)


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
    """The person's rows that existed at `until`."""
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
