"""Statements by which an order is created."""

from typing import NamedTuple

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import Exists, Func, Q, QuerySet, TextField

from common.any_of import any_of
from common.compiled_query import CompiledQuery, Parameter
from common.postgresql import prepared
from integration.models.invoice import Invoice, InvoiceReference
from integration.models.order import CUT_REFERENCE, Order


class Numbers(NamedTuple):
    """The sender of a new order, its key, and a number for its tracking code, if one was asked for."""

    company_id: int
    order_id: int
    tracking_number: int | None


def lock_company(document: str, *, seller_id: int, needs_tracking_number: bool) -> Numbers | None:
    """Lock the seller as `Seller.locked` does, if it has the company, and take the numbers of a new order."""
    found: Numbers | None = prepared.execute(_LOCK, [needs_tracking_number, document, seller_id]).fetchone()
    return Numbers(*found) if found else None


def next_tracking_number() -> int:
    """A further number for a tracking code."""
    (number,) = prepared.execute("SELECT nextval('integration_tracking_code')", []).fetchone()
    return int(number)


def with_a_code_of(*, seller_id: int, code: str, tracking_code: str) -> list[Order]:
    """The seller's orders with this `orderId` or tracking code, with no other columns; at most two."""
    return _WITH_A_CODE.all(seller=seller_id, code=code, tracking_code=tracking_code)


def invoices_naming(code: str, *, seller_id: int, invoice_key: str) -> list[Invoice]:
    """The seller's invoices that name a new order, or whose access key it names; their keys and numbers only.

    A reference that is as long as the NF-e layout allows names it too, if no other order's code begins like that.
    """
    return _NAMING.all(seller=seller_id, code=code, cut=code[:CUT_REFERENCE], invoice_key=invoice_key)


_LOCK = """
    SELECT
        company.id,
        nextval(pg_get_serial_sequence('integration_order', 'id')),
        CASE WHEN %s THEN nextval('integration_tracking_code') END
    FROM integration_company company JOIN integration_seller seller ON seller.id = company.seller_id
    WHERE company.document = %s AND seller.id = %s
    FOR NO KEY UPDATE OF seller
"""
_WITH_A_CODE = CompiledQuery(
    lambda: (
        Order.objects.filter(
            Q(code=Parameter("code")) | Q(tracking_code=Parameter("tracking_code")), seller=Parameter("seller")
        )
        .only("code", "tracking_code")
        .order_by()
    )
)


def _naming() -> QuerySet[Invoice]:
    seller = Parameter("seller")
    # The length stands in the text, because a statement planned for any parameters cannot use the index otherwise.
    begins = Func("code", template=f"LEFT(%(expressions)s, {CUT_REFERENCE})", output_field=TextField())
    orders_beginning_alike = Order.objects.alias(begins=begins).filter(seller=seller, begins=Parameter("cut"))
    references = InvoiceReference.objects.filter(seller=seller).order_by()
    named = references.filter(value=Parameter("code"))
    named_in_part = references.filter(~Exists(orders_beginning_alike), value=Parameter("cut"))
    return (
        Invoice.objects.filter(
            any_of("pk", ArraySubquery(named.values("invoice")))
            | any_of("pk", ArraySubquery(named_in_part.values("invoice")))
            | Q(seller=seller, access_key=Parameter("invoice_key"))  # no invoice has an empty access key
        )
        .only("access_key", "number")
        .order_by()
    )


_NAMING = CompiledQuery(_naming)
