"""Three endpoints of area B: a quote, the creation of an order, and a tracking query."""

import hashlib
import re
from datetime import UTC, datetime
from typing import Annotated, Literal

import integration_errors
import integration_freight as freight
from database import Session
from fastapi import APIRouter, Depends, FastAPI, Header, Query
from integration_bodies import (
    NothingFound,
    OrderIn,
    OrderOut,
    OrdersFound,
    QuoteData,
    QuoteIn,
    QuoteOut,
    TrackingRecord,
)
from integration_errors import PREFIX, Refused
from integration_tables import (
    ApiKey,
    Company,
    FreightParameters,
    FreightRate,
    Invoice,
    InvoiceLink,
    InvoiceReference,
    Order,
    SearchCode,
    Seller,
    StatusLog,
    tracking_number,
)
from sqlalchemy import or_, select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import joinedload, selectinload

router = APIRouter(prefix=PREFIX)


def add_to(app: FastAPI) -> None:
    app.include_router(router)
    integration_errors.add_to(app)


async def authenticate(session: Session, authorization: Annotated[str, Header()] = "") -> ApiKey:
    scheme, _, clear_text = authorization.partition(" ")
    digest = hashlib.sha256(clear_text.encode()).digest()
    query = select(ApiKey).options(joinedload(ApiKey.seller)).where(ApiKey.digest == digest)
    key = (await session.execute(query)).scalar_one_or_none() if scheme.lower() == "basic" else None
    if key is None or key.revoked_at:
        raise Refused(401, "Chave inválida")
    if key.seller.is_suspended:
        raise Refused(403, "Conta suspensa")
    return key


Caller = Annotated[ApiKey, Depends(authenticate)]


def compact(document: str) -> str:
    return re.sub(r"[\s./-]+", "", document).upper()


@router.post("/shipping/quote")
async def quote(body: QuoteIn, _key: Caller, session: Session) -> QuoteOut:
    origin, destination = freight.region(body.origin), freight.region(body.destination)
    parameters = (await session.execute(select(FreightParameters))).scalar_one()
    query = select(FreightRate).where(
        FreightRate.zone == freight.zone(origin, destination, parameters),
        FreightRate.origin_kind == origin.kind,
        FreightRate.destination_kind == destination.kind,
        FreightRate.service == parameters.quote_service,
    )
    rate = (await session.execute(query)).scalar_one_or_none()
    if rate is None:
        raise Refused(400, "Região sem cobertura: não há tarifa para este trecho")
    return QuoteOut(
        data=QuoteData(
            from_=f"{origin.name}/{origin.state}",
            to=f"{destination.name}/{destination.state}",
            amount=freight.amount(body, rate, parameters),
            deadline=rate.deadline_days + parameters.handling_days,
        )
    )


@router.post("/orders", status_code=201)
async def create_order(body: OrderIn, key: Caller, session: Session) -> OrderOut:
    query = select(Company).where(Company.document == compact(body.company_document))
    company = (await session.execute(query)).scalar_one_or_none()
    if company is None:
        raise Refused(404, "Empresa não encontrada")
    if company.seller_id != key.seller_id:
        raise Refused(401, "Request não altorizado")
    # As in Rota: an order and an invoice that are received at the same time would not be linked otherwise.
    await session.execute(select(Seller.id).where(Seller.id == key.seller_id).with_for_update(key_share=True))
    order = new_order(body, company, key)
    order.tracking_code = body.trackingCode or f"AA{await session.scalar(tracking_number):09d}BR"
    session.add(order)
    try:
        await session.flush()
    except IntegrityError as error:
        raise Refused(400, "Este objeto já foi previamente cadastrado!") from error
    invoices = await invoices_of(session, order)
    session.add_all(InvoiceLink(invoice_id=each.id, order_id=order.id, linked_at=order.created_at) for each in invoices)
    codes = {
        ("tracking_code", order.tracking_code),
        ("order", order.code),
        ("shipping", str(order.id)),
        ("invoice_key", order.invoice_key),
        ("invoice_number", str(body.invoice.number or "") if body.invoice else ""),
        *(("invoice_key", each.access_key) for each in invoices),
        *(("invoice_number", each.number) for each in invoices),
    }
    session.add_all(
        SearchCode(seller_id=order.seller_id, order_id=order.id, kind=kind, value=value)
        for kind, value in codes
        if value
    )
    await session.commit()
    return OrderOut(tracking_code=order.tracking_code)


def new_order(body: OrderIn, company: Company, key: ApiKey) -> Order:
    """The order with the first entry of its status log, and still without a tracking code."""
    at, by = datetime.now(UTC), f"key {key.hint}"
    invoice_key = (body.invoice.key or "") if body.invoice else ""
    return Order(
        seller_id=company.seller_id,
        company_id=company.id,
        code=body.orderId,
        status="pending",
        service=body.service,
        cost=body.orderCost,
        items=[item.model_dump(mode="json") for item in body.items],
        receiver_name=body.receiver.name,
        receiver_document=compact(body.receiver.document or ""),
        receiver=body.receiver.model_dump(mode="json", exclude_unset=True),
        invoice_data=body.invoice.model_dump(mode="json", exclude_unset=True) if body.invoice else None,
        invoice_key="".join(invoice_key.split()).upper().removeprefix("NFE"),
        created_at=at,
        created_by=by,
        status_log=[
            StatusLog(company_id=company.id, status="pending", via_api=True, by=by, created_at=at, updated_at=at)
        ],
    )


async def invoices_of(session: AsyncSession, order: Order) -> list[Invoice]:
    """The seller's invoices that were received before this order and name it, or that it names."""
    naming = select(InvoiceReference.invoice_id).where(
        InvoiceReference.seller_id == order.seller_id, InvoiceReference.value == order.code
    )
    query = select(Invoice).where(
        Invoice.seller_id == order.seller_id, or_(Invoice.id.in_(naming), Invoice.access_key == order.invoice_key)
    )
    return list(await session.scalars(query))


@router.get("/orders/tracking")
async def track(
    key: Caller,
    session: Session,
    kind: Annotated[Literal["document", "order_number"], Query(alias="type")],
    value: str = "",
    document: str = "",
) -> OrdersFound | NothingFound:
    if not value.strip():
        raise Refused(403, "Informe o valor da busca")
    query = select(Order).options(selectinload(Order.status_log)).where(Order.seller_id == key.seller_id)
    if kind == "document":
        query = query.where(Order.receiver_document == compact(value))
    else:
        codes = select(SearchCode.order_id).where(
            SearchCode.seller_id == key.seller_id, SearchCode.value == value.strip()
        )
        query = query.where(Order.id.in_(codes))
    if document:
        query = query.where(Order.receiver_document == compact(document))
    orders = (await session.scalars(query.order_by(Order.id.desc()).limit(10))).all()
    if not orders:
        return NothingFound(message="Objeto não encontrado")
    return OrdersFound(data=[TrackingRecord.model_validate(order) for order in orders])
