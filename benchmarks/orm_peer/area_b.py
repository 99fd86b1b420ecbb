"""One endpoint of area B: the creation of an order."""

import re
from decimal import Decimal

from database import Session
from fastapi import APIRouter, HTTPException
from models import (
    TRACKING_NUMBER,
    Company,
    Invoice,
    InvoiceLink,
    InvoiceReference,
    Purchase,
    SearchCode,
    StatusLog,
)
from schemas import OrderIn, OrderOut
from security import Seller
from sqlalchemy import or_, select
from sqlalchemy.exc import IntegrityError

router = APIRouter(prefix="/api/integration")


@router.post("/orders", status_code=201)
async def create_order(body: OrderIn, session: Session, caller: Seller) -> OrderOut:
    company = await session.scalar(select(Company).where(Company.document == _compact(body.company_document)))
    if company is None:
        raise HTTPException(404, "Empresa não encontrada")
    if company.seller_id != caller.seller_id:
        raise HTTPException(401, "Request não altorizado")
    key = "".join(body.invoice.key.split()).upper().removeprefix("NFE") if body.invoice and body.invoice.key else ""
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
    )
    session.add(order)
    try:
        await session.flush()
    except IntegrityError as error:
        raise HTTPException(400, "Este objeto já foi previamente cadastrado!") from error
    # The seller's invoices that were received before this order and name it, or that it names.
    references = select(InvoiceReference.invoice_id).where(
        InvoiceReference.seller_id == caller.seller_id, InvoiceReference.value == body.orderId
    )
    named = select(Invoice).where(
        Invoice.seller_id == caller.seller_id, or_(Invoice.access_key == key, Invoice.id.in_(references))
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
    return OrderOut(tracking_code=tracking_code)


def _compact(document: str) -> str:
    return re.sub(r"[\s./-]+", "", document).upper()
