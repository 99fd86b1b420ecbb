"""Three endpoints of area B: a quote, the creation of an order, and a tracking query."""

import re
from decimal import Decimal
from itertools import groupby
from typing import TypeVar

import asyncpg
import freight
import msgspec
from area_b_bodies import OrderIn, OrderOut, OrdersFound, QuoteData, QuoteIn, QuoteOut, StatusEntry, TrackingRecord
from database import caller, digest
from errors import answer, encode, in_area_b
from starlette.requests import Request
from starlette.responses import Response

Body = TypeVar("Body")

_CREDENTIAL = """
SELECT api_key.seller_id, api_key.hint, seller.is_suspended
FROM api_key JOIN seller ON seller.id = api_key.seller_id
WHERE api_key.digest = $1 AND api_key.revoked_at IS NULL
"""
# $1 is the zone unless one of the two states, $2, is remote and the other one another.
_RATE = """
SELECT parameters.*, rate.base_centavos, rate.extra_kg_centavos, rate.deadline_days
FROM freight_parameters parameters JOIN freight_rate rate ON rate.service = parameters.quote_service
    AND rate.zone = CASE WHEN ($2::text[])[1] <> $2[2] AND $2 && parameters.remote_states THEN 'remote' ELSE $1 END
WHERE rate.origin_kind = $3 AND rate.destination_kind = $4
"""
_COMPANY = "SELECT id, seller_id FROM company WHERE document = $1"
_CREATE = """
WITH created AS (
    INSERT INTO purchase (seller_id, company_id, code, tracking_code, status, service, cost, items, receiver_name,
        receiver_document, receiver, invoice_data, invoice_key, created_by)
    VALUES ($1, $2, $3, coalesce($4, 'AA' || lpad(nextval('tracking_number')::text, 9, '0') || 'BR'), 'pending', $5, $6,
        $7, $8, $9, $10, $11, $12, $13)
    RETURNING id, tracking_code
), logged AS (
    INSERT INTO status_log (order_id, company_id, status, via_api, by)
    SELECT id, $2, 'pending', true, $13 FROM created
), found AS (  -- the seller's invoices that were received before this order and name it, or that it names
    SELECT id, access_key, number FROM invoice WHERE seller_id = $1 AND access_key = $12
    UNION SELECT invoice.id, invoice.access_key, invoice.number
    FROM invoice_reference JOIN invoice ON invoice.id = invoice_reference.invoice_id
    WHERE invoice_reference.seller_id = $1 AND invoice_reference.value = $3
), linked AS (
    INSERT INTO invoice_link (invoice_id, order_id) SELECT found.id, created.id FROM found, created
), coded AS (
    INSERT INTO search_code (seller_id, order_id, kind, value)
    SELECT $1, created.id, kind, value FROM created, LATERAL (VALUES
        ('tracking_code', tracking_code), ('order', $3), ('shipping', id::text), ('invoice_key', $12),
        ('invoice_number', $14)) own (kind, value)
    WHERE value <> ''
    UNION SELECT $1, created.id, kind, value FROM created, found, LATERAL (VALUES
        ('invoice_key', access_key), ('invoice_number', number)) of_invoice (kind, value)
)
SELECT tracking_code FROM created
"""
# One row for each entry of the status log of each order.
_TRACK = """
SELECT found.id, found.tracking_code, log.status, log.company_id, log.via_api, log.created_at, log.updated_at
FROM ({orders} ORDER BY id DESC LIMIT 10) found JOIN status_log log ON log.order_id = found.id
ORDER BY found.id DESC, log.id
"""
_TRACK_CODE = _TRACK.format(
    orders="SELECT DISTINCT purchase.id, purchase.tracking_code"
    " FROM search_code JOIN purchase ON purchase.id = search_code.order_id"
    " WHERE search_code.seller_id = $1 AND search_code.value = $2"
    " AND ($3 = '' OR purchase.receiver_document = $3)"
)
_TRACK_DOCUMENT = _TRACK.format(
    orders="SELECT id, tracking_code FROM purchase"
    " WHERE seller_id = $1 AND receiver_document = $2 AND ($3 = '' OR receiver_document = $3)"
)

_quote_decoder = msgspec.json.Decoder(QuoteIn)
_order_decoder = msgspec.json.Decoder(OrderIn)


async def quote(request: Request) -> Response:
    async with request.state.pool.acquire() as connection:
        await _authenticate(connection, request)
        body = await _read(request, _quote_decoder, refused_with=400)
        origin, destination = freight.region(body.origin), freight.region(body.destination)
        zone, states = freight.zone(origin, destination), [origin.state, destination.state]
        rate = await connection.fetchrow(_RATE, zone, states, origin.kind, destination.kind)
    if rate is None:
        raise in_area_b(400, "Região sem cobertura: não há tarifa para este trecho")
    return answer(
        QuoteOut(
            QuoteData(
                f"{origin.name}/{origin.state}",
                f"{destination.name}/{destination.state}",
                freight.amount(body, rate),
                rate["deadline_days"] + rate["handling_days"],
            )
        )
    )


async def create_order(request: Request) -> Response:
    async with request.state.pool.acquire() as connection:
        key = await _authenticate(connection, request)
        body = await _read(request, _order_decoder, refused_with=422)
        company = await connection.fetchrow(_COMPANY, _compact(body.company_document))
        if company is None:
            raise in_area_b(404, "Empresa não encontrada")
        if company["seller_id"] != key["seller_id"]:
            raise in_area_b(401, "Request não altorizado")
        invoice = body.invoice
        try:
            tracking_code = await connection.fetchval(
                _CREATE,
                key["seller_id"],
                company["id"],
                body.orderId,
                body.trackingCode or None,
                body.service,
                Decimal(str(body.orderCost)),
                encode(body.items).decode(),
                body.receiver.name,
                _compact(body.receiver.document or ""),
                encode(body.receiver).decode(),
                encode(invoice).decode() if invoice else None,
                "".join(invoice.key.split()).upper().removeprefix("NFE") if invoice and invoice.key else "",
                f"key {key['hint']}",
                str(invoice.number or "") if invoice else "",
            )
        except asyncpg.UniqueViolationError as error:
            raise in_area_b(400, "Este objeto já foi previamente cadastrado!") from error
    return answer(OrderOut(tracking_code), 201)


async def track(request: Request) -> Response:
    parameters = request.query_params
    kind, value = parameters.get("type"), parameters.get("value", "").strip()
    document = _compact(parameters.get("document", ""))
    async with request.state.pool.acquire() as connection:
        key = await _authenticate(connection, request)
        if not value:
            raise in_area_b(403, "Informe o valor da busca")
        if kind == "order_number":
            rows = await connection.fetch(_TRACK_CODE, key["seller_id"], value, document)
        elif kind == "document":
            rows = await connection.fetch(_TRACK_DOCUMENT, key["seller_id"], _compact(value), document)
        else:
            raise in_area_b(422, "Dados inválidos", errors={"type": ["document ou order_number"]})
    if not rows:
        return answer({"success": False, "message": "Objeto não encontrado"})
    return answer(
        OrdersFound([TrackingRecord(code, [_entry(row) for row in log]) for (_id, code), log in groupby(rows, _order)])
    )


def _order(row: asyncpg.Record) -> tuple[int, str]:
    return row["id"], row["tracking_code"]


def _entry(row: asyncpg.Record) -> StatusEntry:
    return StatusEntry(
        row["id"], row["status"], row["company_id"], row["via_api"], row["created_at"], row["updated_at"]
    )


async def _authenticate(connection: asyncpg.Connection, request: Request) -> asyncpg.Record:
    refusal = {"success": False, "message": "Chave inválida"}
    key = await caller(connection, _CREDENTIAL, digest(request, "basic"), refusal)
    if key["is_suspended"]:
        raise in_area_b(401, "Conta suspensa")
    return key


async def _read(request: Request, decoder: "msgspec.json.Decoder[Body]", refused_with: int) -> Body:
    try:
        return decoder.decode(await request.body())
    except msgspec.DecodeError as error:
        raise in_area_b(refused_with, "Dados inválidos", errors={"body": [str(error)]}) from error


def _compact(document: str) -> str:
    return re.sub(r"[\s./-]+", "", document).upper()
