"""What people ask about their personal data: where it is, an export of it (LGPD, article 18), its forgetting.

A person is named by a telephone number or a document. On request what is closed is forgotten at once, what is open
when it ends.
"""

import json
import logging
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from access.models import PersonRequest, PersonRequestKind
from common import credentials
from common.brazil import phones
from common.errors import DomainError
from common.postgresql.batches import each
from common.shops.models import ShopDraft
from delivery import bodies
from delivery.actions import forgetting as in_deliveries
from delivery.connections import drafts as of_shops
from delivery.connections.models import Draft
from delivery.models import Delivery, Driver, DriverPosition, DropoffOptions, ReceiverNote, Stop, StopProof
from integration.actions import forgetting as in_orders
from integration.connections import drafts as of_sellers
from integration.connections.models import Draft as SellerDraft
from integration.invoices.models import Invoice
from integration.models import Company, Order, compact_document

_log = logging.getLogger(__name__)
KINDS = ("orders", "stops", "pickups", "drivers", "drafts")  # of rows, as `PersonRequest` counts them
_READ_AT_ONCE = 2000
_MOST_NAMED = 20
MOST_LISTED = 20
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
    drafts: QuerySet[Draft]
    seller_drafts: QuerySet[SellerDraft]
    orders: QuerySet[Order]
    invoices: QuerySet[Invoice]
    companies: QuerySet[Company]


def find(person: Person, *, until: datetime) -> Found:
    """The person's rows that existed at `until`."""
    stops = Stop.objects.none()
    pickups: QuerySet[Delivery] = Delivery.objects.none()
    drivers: QuerySet[Driver] = Driver.objects.none()
    drafts: QuerySet[Draft] = Draft.objects.none()
    if person.phone:
        stops = in_deliveries.stops_of(person.phone, until=until)
        pickups = in_deliveries.pickups_of(person.phone, until=until)
        drivers = in_deliveries.drivers_of(person.phone)
        drafts = of_shops.of_phone(person.phone, until=until)
        seller_drafts = of_sellers.of_phone(person.phone, until=until)
    else:
        seller_drafts = of_sellers.of_document(person.document, until=until)
    orders = in_orders.orders_of(document=person.document, phone=person.phone, until=until)
    return Found(
        stops,
        pickups,
        drivers,
        drafts,
        seller_drafts,
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
    drafts: int
    invoices: int
    companies: int
    open_deliveries: list[str]
    open_orders: list[str]
    open_drafts: list[str]
    active_drivers: int

    @property
    def is_empty(self) -> bool:
        return not any(
            (self.stops, self.pickups, self.orders, self.drivers, self.drafts, self.invoices, self.companies)
        )

    @property
    def is_open(self) -> bool:
        return bool(self.open_deliveries or self.open_orders or self.open_drafts or self.active_drivers)


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
        drafts=found.drafts.count() + found.seller_drafts.count(),
        invoices=found.invoices.count(),
        companies=found.companies.count(),
        open_deliveries=list(dict.fromkeys(str(key) for (key,) in waiting)),
        open_orders=list(open_orders[:_MOST_NAMED]),
        open_drafts=list(chain(*(_open_drafts(rows) for rows in (found.drafts, found.seller_drafts))))[:_MOST_NAMED],
        active_drivers=found.drivers.filter(active=True).count(),
    )


def _open_drafts(rows: QuerySet[Any]) -> Iterable[str]:
    """The numbers of the first that have not ended."""
    return rows.filter(ended_at=None).values_list("external_id", flat=True)[:_MOST_NAMED]


def newest(found: Found) -> dict[str, list[Any]]:
    """The newest rows of each kind, at most MOST_LISTED, with the accounts or sellers that they belong to."""
    rows: dict[str, QuerySet[Any]] = {
        "stops": found.stops.select_related("delivery__integrator"),
        "pickups": found.pickups.select_related("integrator"),
        "orders": found.orders.select_related("seller"),
        "drivers": found.drivers,
        "drafts": found.drafts.select_related("integrator"),
        "seller_drafts": found.seller_drafts.select_related("seller"),
        "invoices": found.invoices.select_related("seller").defer("raw"),
        "companies": found.companies.select_related("seller"),
    }
    return {kind: list(each.order_by("-pk")[:MOST_LISTED]) for kind, each in rows.items()}


def export(person: Person, *, at: datetime) -> Iterator[str]:
    """The parts of the text of one JSON object, read from the database while they are written.

    Its last key is `complete`, which is true: an export that was interrupted is no JSON.
    """
    found = find(person, until=at)
    stops = found.stops.select_related("delivery__integrator", "options", "proof", "receiver_note").prefetch_related(
        "photos"
    )
    lists: dict[str, Iterator[str]] = {
        "dropoffs": _array(map(_stop, stops.order_by("-pk").iterator(_READ_AT_ONCE))),
        "pickups": _array(map(_pickup, found.pickups.order_by("-pk").iterator(_READ_AT_ONCE))),
        "orders": _array(map(_order, found.orders.select_related("seller").order_by("-pk").iterator(_READ_AT_ONCE))),
        "invoices": _array(map(_invoice, found.invoices.defer("raw").order_by("-pk").iterator(_READ_AT_ONCE))),
        "ordersOfShops": _array(
            map(
                _draft,
                chain(
                    found.drafts.order_by("-pk").iterator(_READ_AT_ONCE),
                    found.seller_drafts.order_by("-pk").iterator(_READ_AT_ONCE),
                ),
            )
        ),
        "drivers": _joined(map(_driver, found.drivers.order_by("pk"))),
        "companies": _array(map(_company, found.companies.select_related("seller"))),
    }
    who = {"document": person.document} if person.document else {"phone": person.phone}
    yield _text({"exportedAt": at.isoformat(), "person": who}).removesuffix("}")
    for name, parts in lists.items():
        yield f',\n"{name}": '
        yield from parts
    yield ',\n"complete": true}'


def _text(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _array(rows: Iterable[dict[str, Any]]) -> Iterator[str]:
    return _joined([_text(row)] for row in rows)


def _joined(items: Iterable[Iterable[str]]) -> Iterator[str]:
    """A JSON array of these items, each given in parts."""
    yield "["
    for number, parts in enumerate(items):
        yield ",\n" if number else "\n"
        yield from parts
    yield "]"


def _stop(stop: Stop) -> dict[str, Any]:
    options: DropoffOptions | None = getattr(stop, "options", None)
    proof: StopProof | None = getattr(stop, "proof", None)
    note: ReceiverNote | None = getattr(stop, "receiver_note", None)
    return {
        "deliveryId": str(stop.delivery_id),
        "account": stop.delivery.integrator.name,
        "point": stop.label,
        "externalId": stop.external_id,
        "status": stop.status,
        "requestedAt": stop.delivery.created_at.isoformat(),
        "name": stop.contact_name,
        "phone": stop.contact_phone,
        "address": bodies.address(stop),
        "instructions": options.instructions if options else "",
        "email": options.contact_email if options else "",
        "note": note.text if note else "",
        "receivedBy": proof.received_by if proof else "",
        "failureReason": stop.failure,
        "photosTakenAt": [photo.taken_at.isoformat() for photo in stop.photos.all()],
    }


def _pickup(delivery: Delivery) -> dict[str, Any]:
    return {
        "deliveryId": str(delivery.pk),
        "requestedAt": delivery.created_at.isoformat(),
        "name": delivery.contact_name,
        "phone": delivery.contact_phone,
        "address": bodies.address(delivery),
    }


def _draft(draft: ShopDraft) -> dict[str, Any]:
    told = {"asTheShopSentIt": draft.source} if isinstance(draft, Draft) else {}
    return {
        "order": draft.external_id,
        "status": draft.status,
        "receivedAt": draft.created_at.isoformat(),
        "payload": draft.payload,
        **told,
    }


def _order(order: Order) -> dict[str, Any]:
    return {
        "orderId": order.code,
        "seller": order.seller.name,
        "status": order.status,
        "createdAt": order.created_at.isoformat(),
        "items": order.items,
        "receiver": order.receiver,
        "reasons": [entry.reason for entry in order.status_log.all() if entry.reason],
    }


def _invoice(invoice: Invoice) -> dict[str, Any]:
    until = in_orders.kept_until(invoice)
    return {
        "accessKey": invoice.access_key,
        "receivedAt": invoice.received_at.isoformat(),
        "keptUntil": until.isoformat() if until else None,
    }


def _company(company: Company) -> dict[str, Any]:
    return {"document": company.document, "name": company.name, "seller": company.seller.name}


def _driver(driver: Driver) -> Iterator[str]:
    known = {
        "name": driver.name,
        "phone": driver.phone,
        "vehicleType": driver.vehicle_type,
        "active": driver.active,
        "phones": [device.name for device in driver.devices.all()],
        "duty": [
            {"onDuty": change.on_duty, "at": change.at.isoformat()}
            for change in driver.duty_changes.order_by("at", "pk")
        ],
    }
    yield _text(known).removesuffix("}")
    yield ', "positions": '
    yield from _array(map(_position, driver.positions.order_by("-recorded_at").iterator(_READ_AT_ONCE)))
    yield "}"


def _position(fix: DriverPosition) -> dict[str, Any]:
    return {"latitude": fix.latitude, "longitude": fix.longitude, "recordedAt": fix.recorded_at.isoformat()}


def record(person: Person, *, kind: PersonRequestKind, by: str, at: datetime) -> PersonRequest:
    """Record who asks for what. The request of an export is finished at once."""
    is_export = kind == PersonRequestKind.EXPORT
    request = PersonRequest.objects.create(
        kind=kind,
        ciphertext="" if is_export else credentials.encrypt(json.dumps(asdict(person))),
        hint=person.hint,
        requested_by=by,
        requested_at=at,
        finished_at=at if is_export else None,
    )
    _log.info("%s recorded request %s about personal data: %s", by, request.pk, kind.value)
    return request


def carry_out(
    request: PersonRequest,
    *,
    at: datetime,
    most_batches: float = math.inf,
    tell: Callable[[str, int], None] = lambda _what, _count: None,
) -> PersonRequest:
    """Anonymise what is closed, in batches that are committed one by one, and finish the request if nothing is left.

    Can be repeated and run twice at once. `tell` is called with the progress of each kind.
    """
    person = Person(**json.loads(credentials.decrypt(request.ciphertext)))
    same: dict[str, Any] = {"until": request.requested_at, "at": at}
    failed = {what: set[Any]() for what in KINDS}  # rows that are not tried again in this run
    steps: dict[str, Callable[[PersonRequest], int]] = {
        "orders": lambda _: in_orders.forget_orders_of(
            document=person.document, phone=person.phone, failed=failed["orders"], **same
        ),
        "drafts": lambda _: _forget_drafts(person, request, at=at, failed=failed["drafts"]),
    }
    if person.phone:
        steps |= {
            "stops": lambda _: in_deliveries.forget_stops_of(person.phone, failed=failed["stops"], **same),
            "pickups": lambda _: in_deliveries.forget_pickups_of(person.phone, failed=failed["pickups"], **same),
            "drivers": lambda locked: _forget_driver(locked, person.phone, at=at),
        }
    left = most_batches
    for what, step in steps.items():
        while left > 0:
            with transaction.atomic():
                # A batch that two runs find at once would be counted twice.
                locked = PersonRequest.objects.select_for_update().get(pk=request.pk)
                before, known = locked.last_delivery, len(failed[what])
                count = step(locked)
                setattr(locked, what, getattr(locked, what) + count)
                locked.save(update_fields=[what, "last_delivery"])
            if not count and locked.last_delivery == before and len(failed[what]) == known:
                break
            left -= 1
            if count:
                tell(what, count)
    _finish(request, person, at=at)
    request.refresh_from_db()
    return request


def finish_open(*, at: datetime) -> None:
    """Go on with each request that is not finished. Called by a task."""
    each(
        PersonRequest.objects.filter(finished_at=None).order_by("pk"),
        partial(carry_out, at=at, most_batches=in_deliveries.MOST_BATCHES),
        doing="go on with the request about personal data",
    )


def _forget_drafts(person: Person, request: PersonRequest, *, at: datetime, failed: set[Any]) -> int:
    found = find(person, until=request.requested_at)
    count = of_shops.DRAFTS.forget_of(found.drafts, at=at, failed=failed)
    return count + of_sellers.DRAFTS.forget_of(found.seller_drafts, at=at, failed=failed)


def _forget_driver(request: PersonRequest, phone: str, *, at: datetime) -> int:
    """Anonymise the next batch of a driver, and keep in the request, which the caller saves, where it ended."""
    count, request.last_delivery = in_deliveries.forget_batch_of(phone, after=request.last_delivery, at=at)
    return count


def _kept(found: Found) -> tuple[QuerySet[Any], ...]:
    """The rows that are anonymised."""
    return found.stops, found.pickups, found.orders, found.drivers, found.drafts, found.seller_drafts


def _finish(request: PersonRequest, person: Person, *, at: datetime) -> None:
    """Erase the number once no row of the person is left that existed at the request."""
    found = find(person, until=request.requested_at)
    if any(rows.exists() for rows in _kept(found)):
        return
    finished = PersonRequest.objects.filter(pk=request.pk, finished_at=None).update(finished_at=at, ciphertext="")
    if finished:
        _log.info("request %s about personal data is finished", request.pk)
