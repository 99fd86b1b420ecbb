"""Statements by which an order is created."""

from typing import Any, NamedTuple

from django.contrib.postgres.expressions import ArraySubquery
from django.contrib.postgres.fields import ArrayField
from django.db.models import Exists, Func, Q, QuerySet, TextField
from django.db.models.functions import Cast

from common.compiled_queries import CompiledQuery, Parameter
from common.fields import any_of
from common.postgresql import prepared
from integration.models.invoice import Invoice, InvoiceReference
from integration.models.order import CUT_REFERENCE, Order
from integration.models.seller import Seller


class Numbers(NamedTuple):
    """The sender of a new order, its key, and a number for its tracking code, if one was asked for."""

    company_id: int
    order_id: int
    tracking_number: int | None


class Facts(NamedTuple):
    """Whether the seller has orders with the codes of a new one, and the invoices to link it with.

    Of the invoices there are keys, access keys and numbers only.
    """

    has_code: bool
    has_tracking_code: bool
    invoices: list[Invoice]


def lock_company(document: str, *, seller_id: int, needs_tracking_number: bool) -> Numbers | None:
    """Lock the seller as `Seller.locked` does, if it has the company, and take the numbers of a new order."""
    found: Numbers | None = prepared.execute(_LOCK, [needs_tracking_number, document, seller_id]).fetchone()
    return Numbers(*found) if found else None


def next_tracking_number() -> int:
    """A further number for a tracking code."""
    (number,) = prepared.execute("SELECT nextval('integration_tracking_code')", []).fetchone()
    return int(number)


def facts(*, seller_id: int, code: str, tracking_code: str, invoice_key: str) -> Facts:
    """What the seller has that matters for an order with this `orderId`, tracking code and invoice key.

    An invoice's reference that is as long as the NF-e layout allows names the order too, if no other order's code
    begins like that.
    """
    (found,) = _FACTS.all(
        seller=seller_id, code=code, tracking_code=tracking_code, cut=code[:CUT_REFERENCE], invoice_key=invoice_key
    )
    invoices = [Invoice(pk=int(key), access_key=access_key, number=number) for key, access_key, number in found.naming]
    return Facts(found.has_code, found.has_tracking_code, invoices)


_LOCK = """
    SELECT
        company.id,
        nextval(pg_get_serial_sequence('integration_order', 'id')),
        CASE WHEN %s THEN nextval('integration_tracking_code') END
    FROM integration_company company JOIN integration_seller seller ON seller.id = company.seller_id
    WHERE company.document = %s AND seller.id = %s
    FOR NO KEY UPDATE OF seller
"""


def _facts() -> QuerySet[Seller]:
    seller = Parameter("seller")
    orders = Order.objects.filter(seller=seller).order_by()
    return (
        Seller.objects.filter(pk=seller)
        .only("pk")
        .annotate(
            has_code=Exists(orders.filter(code=Parameter("code"))),
            has_tracking_code=Exists(orders.filter(tracking_code=Parameter("tracking_code"))),
            naming=ArraySubquery(_naming(seller, orders).values("texts")),
        )
        .order_by()
    )


def _naming(seller: Parameter, orders: QuerySet[Order]) -> QuerySet[Any]:
    """The seller's invoices, but void ones, that name the order or whose access key it names, with their `texts`."""
    # The length stands in the text, because a statement planned for any parameters cannot use the index otherwise.
    begins = Func("code", template=f"LEFT(%(expressions)s, {CUT_REFERENCE})", output_field=TextField())
    beginning_alike = orders.alias(begins=begins).filter(begins=Parameter("cut"))
    references = InvoiceReference.objects.filter(seller=seller).order_by()
    named = references.filter(value=Parameter("code"))
    named_in_part = references.filter(~Exists(beginning_alike), value=Parameter("cut"))
    texts: Func = Func(
        Cast("pk", TextField()),
        "access_key",
        "number",
        template="ARRAY[%(expressions)s]",
        output_field=ArrayField(TextField()),
    )
    found = Invoice.objects.filter(
        any_of("pk", ArraySubquery(named.values("invoice")))
        | any_of("pk", ArraySubquery(named_in_part.values("invoice")))
        | Q(seller=seller, access_key=Parameter("invoice_key")),  # no invoice has an empty access key
        is_void=False,
    )
    return found.annotate(texts=texts).order_by()


_FACTS: CompiledQuery[Any] = CompiledQuery(_facts)
