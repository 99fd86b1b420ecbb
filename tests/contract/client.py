"""Calls both APIs with the client that openapi-python-client generates from the OpenAPI description.

`run.sh` generates the package `rota_client`, and checks this file with mypy.
Usage: client.py INVOICE_XML URL TEST_TOKEN API_KEY
"""

import sys
import time
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from httpx import Timeout
from rota_client import AuthenticatedClient
from rota_client.api.find_and_read import get_delivery, list_deliveries, list_events
from rota_client.api.immediate_delivery import (
    cancel_delivery,
    info_delivery,
    location_delivery,
    quotation_delivery,
    request_delivery,
)
from rota_client.api.order_integration import (
    cancel_order,
    create_order,
    get_order,
    shipping_quote,
    shipping_services,
    track_orders,
    upload_invoice,
)
from rota_client.models import (
    AddressRequest,
    CancelRequest,
    ContactsRequest,
    CoordinatesRequest,
    Creation,
    DeliveryDetail,
    DeliveryMode,
    DeliveryPage,
    DeliveryRequest,
    DeliveryStatus,
    DropoffLabel,
    DropoffRequest,
    EventPage,
    Info,
    InvalidProblem,
    Location,
    PackageRequest,
    PickupAddressRequest,
    PickupRequest,
    QuoteAnswer,
    RouteStatus,
    SellerAddressRequest,
    SellerCancelRequest,
    SellerDone,
    SellerItemRequest,
    SellerOrderCreated,
    SellerOrderRequest,
    SellerOrdersFound,
    SellerOrderShown,
    SellerQuoteFound,
    SellerQuoteRequest,
    SellerReceiverRequest,
    SellerRefusal,
    SellerService,
    SellerServicesFound,
    TrackingReason,
    TrackOrdersType,
    UploadInvoiceBody,
    VehicleType,
)
from rota_client.types import UNSET, File, Response, Unset

Body = TypeVar("Body")
COMPANY = "48.372.915/0001-54"  # of the demo's seller


def body(kind: type[Body], response: Response[Any], *, status: int) -> Body:
    assert response.status_code == status, response.content
    assert isinstance(response.parsed, kind), response.parsed
    return response.parsed


def delivery_body() -> DeliveryRequest:
    return DeliveryRequest(
        vehicle_type=VehicleType.MOTORCYCLE,
        delivery_mode=DeliveryMode.DEFAULT,
        pickup=PickupRequest(
            contacts=ContactsRequest(name="Loja Paulista", phone_number="+55 11 3333-0000"),
            address=PickupAddressRequest(street="Avenida Paulista", latitude=-23.561414, longitude=-46.655881),
        ),
        dropoffs=[
            DropoffRequest(
                external_id=str(uuid4()),
                address=AddressRequest(street="Rua Augusta", latitude=-23.552, longitude=-46.65),
            ),
            DropoffRequest(
                address=AddressRequest(street="Rua Oscar Freire", zipcode="01426-001"),
                coordinates=CoordinatesRequest(latitude=-23.5629, longitude=-46.6689),
            ),
        ],
        order_packages=[PackageRequest(description="Caixa", height=20, width=30, length=40, weight=2.5, quantity=1)],
    )


def deliver(client: AuthenticatedClient) -> None:
    request = delivery_body()
    quoted = quotation_delivery.sync_detailed(client=client, body=request)
    quote = body(QuoteAnswer, quoted, status=200)
    call = partial(
        request_delivery.sync_detailed,
        client=client,
        body=request,
        idempotency_key=str(uuid4()),
        quote_id=quoted.headers["Quote-Id"],
        sandbox_speed=120,
    )
    responses = [call() for _repeat in range(2)]
    created, again = (body(Creation, response, status=201) for response in responses)
    assert (created.delivery_id, created.shipping_value) == (again.delivery_id, quote.shipping_value)
    assert [order.point for order in created.orders] == [DropoffLabel.B, DropoffLabel.C]

    detail = wait_until_finished(client, str(created.delivery_id))
    assert [order.status for order in detail.orders] == [DeliveryStatus.DELIVERED] * 2
    assert detail.accepted_at is not None
    assert detail.closed_at is not None
    assert detail.accepted_at < detail.closed_at
    look_up(client, request, created)


def wait_until_finished(client: AuthenticatedClient, delivery_id: str) -> DeliveryDetail:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        detail = body(DeliveryDetail, get_delivery.sync_detailed(delivery_id, client=client), status=200)
        if detail.route.status == RouteStatus.FINISHED:
            return detail
        time.sleep(0.2)
    raise TimeoutError(f"{delivery_id} is not delivered after 20 s")


def look_up(client: AuthenticatedClient, request: DeliveryRequest, created: Creation) -> None:
    delivery_id = str(created.delivery_id)
    info = body(Info, info_delivery.sync_detailed(delivery_id, client=client), status=200)
    assert isinstance(info.cancellation, Unset)
    location = body(Location, location_delivery.sync_detailed(delivery_id, client=client), status=200)
    assert location.tracking.reason == TrackingReason.FINISHED

    external_id = request.dropoffs[0].external_id
    assert isinstance(external_id, str)
    found = list_deliveries.sync_detailed(
        client=client, external_id=external_id, status=DeliveryStatus.DELIVERED, limit=10
    )
    assert [summary.delivery_id for summary in body(DeliveryPage, found, status=200).data] == [created.delivery_id]
    assert statuses_of_events(client, created) == ["PENDING", "ACCEPT", "COLLECTED", "COLLECTED", "DELIVERED"]


def statuses_of_events(client: AuthenticatedClient, created: Creation) -> list[str]:
    statuses: list[str] = []
    after: str | Unset = UNSET
    while True:
        page = body(EventPage, list_events.sync_detailed(client=client, after=after), status=200)
        if not page.data:
            return statuses
        statuses += [event.body.status for event in page.data if event.body.delivery_id == created.delivery_id]
        after = page.next_cursor


def cancel(client: AuthenticatedClient) -> None:
    created = body(Creation, request_delivery.sync_detailed(client=client, body=delivery_body()), status=201)
    reason = CancelRequest(reason="The customer gave up")
    response = cancel_delivery.sync_detailed(str(created.delivery_id), client=client, body=reason)
    assert {order.status for order in body(Info, response, status=200).orders} == {DeliveryStatus.FAILED}

    unknown = info_delivery.sync_detailed(str(uuid4()), client=client)
    assert body(InvalidProblem, unknown, status=404).code == "delivery_not_found"


def order_body(order_id: str) -> SellerOrderRequest:
    return SellerOrderRequest(
        company_document=COMPANY,
        order_id=order_id,
        order_cost=150,
        service=SellerService.BASE,
        items=[SellerItemRequest(description="Cafeteira", dimensions="30x20x40,2.5", quantity=1, price=150)],
        receiver=SellerReceiverRequest(
            name="Maria Souza",
            document="529.982.247-25",
            address=SellerAddressRequest(
                state="BA",
                city="Salvador",
                zip_code="40020-000",
                street="Rua Chile",
                street_number="10",
                neighborhood="Centro",
            ),
        ),
    )


def ship(client: AuthenticatedClient) -> None:
    freight = SellerQuoteRequest(
        origin="01310100", destination="40020000", width="30", height="20", length="40", weight=2.5
    )
    quote = body(SellerQuoteFound, shipping_quote.sync_detailed(client=client, body=freight), status=200)
    services = body(SellerServicesFound, shipping_services.sync_detailed(client=client, body=freight), status=200)
    assert quote.data.to == "Salvador/BA"
    assert quote.data.amount in [service.amount for service in services.data]

    order_id = str(uuid4())
    ordered = create_order.sync_detailed(client=client, body=order_body(order_id))
    created = body(SellerOrderCreated, ordered, status=201)
    detail = body(SellerOrderShown, get_order.sync_detailed(order_id, client=client), status=200)
    assert detail.data.tracking_code == created.tracking_code
    tracked = track_orders.sync_detailed(client=client, type_=TrackOrdersType.ORDER_NUMBER, value=created.tracking_code)
    (record,) = body(SellerOrdersFound, tracked, status=200).data
    assert [entry.status for entry in record.status_log] == ["pending"]
    cancelled = cancel_order.sync_detailed(client=client, body=SellerCancelRequest(order_id=order_id))
    assert body(SellerDone, cancelled, status=200).message == "Objeto cancelado com sucesso"


def send_invoice(client: AuthenticatedClient, xml: bytes) -> None:
    saved = upload(client, xml)
    assert body(SellerDone, saved, status=200).message == "Nota fiscal salva com sucesso"

    refused = upload(client, b"<x/>")
    assert body(SellerRefusal, refused, status=422).code == "invalid_invoice"


def upload(client: AuthenticatedClient, xml: bytes) -> Response[SellerDone | SellerRefusal]:
    file = File(payload=BytesIO(xml), file_name="nfe.xml", mime_type="application/xml")
    return upload_invoice.sync_detailed(client=client, body=UploadInvoiceBody(nfe=file))


def connect(url: str, token: str, *, prefix: str) -> AuthenticatedClient:
    return AuthenticatedClient(
        base_url=url,
        token=token,
        prefix=prefix,
        timeout=Timeout(10),
        raise_on_unexpected_status=True,
    )


def main(invoice: str, url: str, token: str, key: str) -> None:
    of_shop = connect(url, token, prefix="Bearer")
    deliver(of_shop)
    cancel(of_shop)
    of_seller = connect(url, key, prefix="Basic")
    ship(of_seller)
    send_invoice(of_seller, Path(invoice).read_bytes())


main(*sys.argv[1:])
