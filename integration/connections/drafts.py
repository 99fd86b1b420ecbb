"""Orders of sellers' shops on their way to an order.

What is complete becomes an order in the transaction in which it is received; nothing is asked of others for it. The
order is made in the transaction that ends the draft, so that there is one, whatever ends a process.
"""

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from decimal import Decimal
from types import MappingProxyType

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from common.accounts import Environment
from common.brazil import phones
from common.postgresql.compiled_queries import update_row
from common.shops.bodies import Body
from common.shops.drafts import Drafts, Result
from common.shops.models import DraftStatus
from common.shops.order import ShopOrder
from integration.actions import orders
from integration.actions.orders import Freight, NewOrder
from integration.connections import payloads
from integration.connections.models import PAYS_AT_DOOR, TEST_ORDER, Connection, Draft
from integration.errors import (
    AccountSuspended,
    DraftChanged,
    DraftEnded,
    DraftIncomplete,
    IntegrationError,
    MoveRefused,
)
from integration.freight.calculation import Price
from integration.lifecycle import Status
from integration.models import Company, Order, compact_document


class _Drafts(Drafts[Connection, Draft]):
    model = Draft
    # Not its order, which whoever waits for the lock would read as it was before.
    related = ("connection__seller", "connection__company")
    ended = DraftEnded
    forgotten = MappingProxyType({"receiver_document": ""})

    def new(self, connection: Connection) -> Draft:
        return Draft(seller_id=connection.seller_id, automatic=True)

    def fill(self, draft: Draft, connection: Connection, order: ShopOrder, at: datetime) -> None:
        before = draft.payload, draft.pays_at_door
        draft.payload, draft.pays_at_door = payloads.body_of(order, connection), order.pays_at_door
        if (draft.payload, draft.pays_at_door) != before:
            describe(draft, draft.payload)
            draft.missing = _reasons(draft)
            # An order that is made at once has its own freight.
            draft.price = None if _is_made_at_once(draft) else _freight_of(draft)
        else:
            draft.missing = _reasons(draft)  # what refused it may have passed

    def look_again(self, draft: Draft, at: datetime) -> None:
        describe(draft, draft.payload)
        draft.missing, draft.price = _reasons(draft), _freight_of(draft)

    def cancel_made(self, draft: Draft, at: datetime) -> None:
        assert draft.made is not None  # noqa: S101  # nosec B101  # by a constraint
        with suppress(MoveRefused):  # it is delivered, or was cancelled here: it stays, and is marked
            orders.cancel(order=draft.made, by=_by(draft.connection), at=at)

    def is_made_again(self, draft: Draft) -> bool:
        return draft.made is not None and draft.made.status == Status.CANCELLED

    def open_(self, draft: Draft) -> None:
        super().open_(draft)
        draft.made = None

    def settle(self, draft: Draft, result: Result, at: datetime) -> Result:
        """Make the order, unless something is missing or people have had it in their hands."""
        if not _is_made_at_once(draft):
            return result
        try:
            made = _create(draft, payloads.new_order(draft.payload), by=_by(draft.connection), at=at)
        except IntegrationError as error:
            price = _freight_of(draft)
            draft.revision += draft.price not in (None, price)
            draft.missing, draft.price = [error.code], price
            update_row(draft)
            return result
        self.finish(draft, made, at)
        return Result.ORDER

    def finish(self, draft: Draft, made: Order, at: datetime) -> None:
        draft.made, draft.missing = made, []
        draft.external_id, draft.price = made.code, made.freight_reais
        self.end(draft, DraftStatus.REQUESTED, at)
        update_row(draft)


DRAFTS = _Drafts()
drop, take_back, of_phone, forget = DRAFTS.drop, DRAFTS.take_back, DRAFTS.of_phone, DRAFTS.forget


def describe(draft: Draft, body: Body) -> None:
    """Write into the draft what it is found by of the body."""
    receiver = body["receiver"]
    draft.payload, draft.external_id = body, body["orderId"]
    draft.contact_phone = phones.together(receiver.get("cellphone") or "", receiver.get("phone") or "")
    draft.receiver_document = compact_document(receiver.get("document") or "")
    draft.revision += 1


def _missing(draft: Draft) -> list[str]:
    is_refused = draft.is_test and draft.environment == Environment.LIVE
    return [*([TEST_ORDER] if is_refused else []), *payloads.missing_of(draft.payload)]


def _reasons(draft: Draft) -> list[str]:
    """Why it is not made by itself."""
    return [*_missing(draft), *([PAYS_AT_DOOR] if draft.pays_at_door else [])]


def _is_made_at_once(draft: Draft) -> bool:
    return draft.is_open and draft.automatic and not draft.missing


def _freight_of(draft: Draft) -> Decimal | None:
    """In reais; None without one, and while something is missing that it depends on."""
    if payloads.missing_of(draft.payload):
        return None
    # Not the connection's, which may have been changed since: the order is made for the one in its body.
    document = draft.payload["company_document"]
    company = Company.objects.filter(seller=draft.seller_id, document=document).first()
    found = orders.freight_of(payloads.new_order(draft.payload), company.postcode) if company else None
    return found.reais if isinstance(found, Price) else None


def _by(connection: Connection) -> str:
    return f"shop {connection.name}"


def _create(
    draft: Draft,
    payload: NewOrder,
    *,
    by: str,
    at: datetime,
    on_freight: Callable[[Freight], None] = lambda _freight: None,
) -> Order:
    """Raises AccountSuspended, and the errors of `orders.create`."""
    seller = draft.connection.seller
    if seller.is_suspended:
        raise AccountSuspended
    return orders.create(
        seller=seller,
        environment=draft.environment,
        payload=payload,
        by=by,
        at=at,
        simulation_speed=1 if draft.environment == Environment.SANDBOX else None,
        on_freight=on_freight,
    )


@transaction.atomic
def look_again(*, draft: Draft, at: datetime) -> None:
    """Compute anew what is missing of an open draft, and its freight."""
    locked = DRAFTS.lock(draft)
    if locked.is_open:
        DRAFTS.look_again(locked, at)
        locked.save()


@transaction.atomic
def make(
    *,
    draft: Draft,
    by: str,
    at: datetime,
    payload: NewOrder | None = None,
    seen: int | None = None,
    on_freight: Callable[[Freight], None] = lambda _freight: None,
) -> tuple[Order, bool]:
    """The order of a draft, and whether it had been made before.

    `payload`: what people have filled in; without it, what the shop says. `seen`: the revision that a person saw. For
    `on_freight` see `orders.create`.

    Raises DraftEnded, DraftChanged, DraftIncomplete, AccountSuspended and the errors of `orders.create`.
    """
    locked = DRAFTS.lock(draft)
    if locked.made is not None:
        return locked.made, True
    if not locked.is_open:
        raise DraftEnded
    if seen is not None and locked.revision != seen:
        raise DraftChanged
    if payload is not None:
        describe(locked, payloads.body_of_order(payload))
    if _missing(locked):
        raise DraftIncomplete
    made = _create(locked, payload or payloads.new_order(locked.payload), by=by, at=at, on_freight=on_freight)
    DRAFTS.finish(locked, made, at)
    return made, False


def of_document(document: str, *, until: datetime) -> QuerySet[Draft]:
    """The drafts whose receiver has this CPF or CNPJ, of orders received until then."""
    return Draft.objects.filter(created_at__lte=until, receiver_document=compact_document(document)).exclude(
        receiver_document=""
    )


def forget_old(*, at: datetime) -> int:
    """Anonymise drafts that ended, or were touched last, FORGET_DELIVERY_DAYS ago. Returns how many."""
    return DRAFTS.forget_old(at=at, days=settings.FORGET_DELIVERY_DAYS)
