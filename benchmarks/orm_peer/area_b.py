"""One endpoint of area B: the creation of an order."""

import re
from datetime import UTC, datetime
from decimal import Decimal

from database import Session
from errors import Refused
from fastapi import APIRouter
from models import (
    TRACKING_NUMBER,
    Carrier,
    CarrierRule,
    Company,
    Invoice,
    InvoiceLink,
    InvoiceReference,
    Purchase,
    SearchCode,
    Seller,
    SellerEndpoint,
    StatusLog,
)
from schemas import OrderIn, OrderOut
from security import SellerKey
from sqlalchemy import exists, or_, select
from sqlalchemy.exc import IntegrityError

router = APIRouter(prefix="/api/integration")
_UNIQUE_VIOLATION = "23505"


@router.post("/orders", status_code=201, response_model_exclude_none=True)
async def create_order(body: OrderIn, session: Session, caller: SellerKey) -> OrderOut:
    document = _compact(body.company_document)
    # Serialises with invoices and further orders of this seller.
    company = await session.scalar(
        select(Company)
        .join(Seller)
        .where(Company.document == document, Seller.id == caller.seller_id)
        .with_for_update(key_share=True, of=Seller)
    )
    if company is None:
        if await session.scalar(select(exists().where(Company.document == document))):
            raise Refused(401, "Request não altorizado", "foreign_company")
        raise Refused(404, "Empresa não encontrada", "company_not_found")
    key = "".join(body.invoice.key.split()).upper().removeprefix("NFE") if body.invoice and body.invoice.key else ""
    rule = (
        select(CarrierRule.carrier_id)
        .join(Carrier)
        .where(
            Carrier.active,
            CarrierRule.state.in_(["", body.receiver.address.state]),
            CarrierRule.service.in_(["", body.service]),
        )
        .order_by(CarrierRule.state.desc(), CarrierRule.service.desc())
        .limit(1)
    )
    facts = (
        await session.execute(
            select(
                exists()
                .where(SellerEndpoint.seller_id == caller.seller_id, SellerEndpoint.url != "")
                .label("has_endpoint"),
                exists()
                .where(Invoice.seller_id == caller.seller_id, Invoice.access_key == key, Invoice.is_void)
                .label("is_void"),
                rule.scalar_subquery().label("carrier_id"),
            )
        )
    ).one()
    tracking_code = body.trackingCode or f"AA{await session.scalar(TRACKING_NUMBER.next_value()):09}BR"
    order = Purchase(
        seller_id=caller.seller_id,
        company_id=company.id,
        code=body.orderId,
        tracking_code=tracking_code,
        status="pending",
        service=body.service,
        cost=Decimal(str(body.orderCost)),
        items=[item.model_dump() for item in body.items],
        receiver_name=body.receiver.name,
        receiver_document=_compact(body.receiver.document or ""),
        receiver=body.receiver.model_dump(exclude_none=True),
        invoice_data=body.invoice.model_dump(exclude_none=True) if body.invoice else None,
        invoice_key=key,
        created_by=f"key {caller.hint}",
        carrier_id=facts.carrier_id,
        unrecorded_at=None if facts.has_endpoint else datetime.now(UTC),
    )
    session.add(order)
    try:
        await session.flush()
    except IntegrityError as error:
        if error.orig.sqlstate != _UNIQUE_VIOLATION:
            raise
        raise Refused(400, "Este objeto já foi previamente cadastrado!", "duplicate_order") from error
    # The seller's invoices that were received before this order and name it, or that it names.
    references = select(InvoiceReference.invoice_id).where(
        InvoiceReference.seller_id == caller.seller_id, InvoiceReference.value == body.orderId
    )
    named = (
        select(Invoice)
        .where(Invoice.seller_id == caller.seller_id, Invoice.is_void.is_(False))
        .where(or_(Invoice.access_key == key, Invoice.id.in_(references)))
    )
    invoices = (await session.scalars(named)).all()
    number = str(body.invoice.number or "") if body.invoice else ""
    codes = {
        ("tracking_code", tracking_code),
        ("order", body.orderId),
        ("shipping", str(order.id)),
        ("invoice_key", key),
        ("invoice_number", number),
        *(("invoice_key", each.access_key) for each in invoices),
        *(("invoice_number", each.number) for each in invoices),
    }
    session.add(
        StatusLog(order_id=order.id, company_id=company.id, status="pending", via_api=True, by=order.created_by)
    )
    session.add_all(InvoiceLink(invoice_id=each.id, order_id=order.id) for each in invoices)
    session.add_all(
        SearchCode(seller_id=caller.seller_id, order_id=order.id, kind=kind, value=value)
        for kind, value in codes
        if value
    )
    await session.commit()
    return OrderOut(tracking_code=tracking_code, warnings=["void_invoice"] if facts.is_void else None)


def _compact(document: str) -> str:
    return re.sub(r"[\s./-]+", "", document).upper()
