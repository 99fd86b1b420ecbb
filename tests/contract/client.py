"""Makes every call of both APIs once with the client that openapi-generator makes of the OpenAPI description.

`run.sh` generates the package `rota`. Its models refuse an answer that differs from the description.
Usage: client.py DESCRIPTION INVOICE_XML URL TEST_TOKEN API_KEY CARRIER_KEY
"""

import inspect
import json
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import wraps
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen
from uuid import uuid4

import rota
from urllib3 import HTTPHeaderDict

COMPANY = "48.372.915/0001-54"  # of the demo's seller
_PLACE = {"latitude": -23.552, "longitude": -46.65}
_called: set[str] = set()


def delivery(prefix: str = "", **of_dropoff: Any) -> rota.DeliveryRequest:
    return rota.DeliveryRequest.from_dict(
        {
            "vehicleType": "MOTORCYCLE",
            "deliveryMode": "DEFAULT",
            "pickup": {
                "contacts": {"name": "Loja Paulista", "phoneNumber": "+55 11 3333-0000"},
                "address": {"street": "Avenida Paulista", "latitude": -23.561414, "longitude": -46.655881},
            },
            "dropoffs": [
                {"externalId": f"{prefix}{uuid4()}", "address": {"street": "Rua Augusta", **_PLACE}, **of_dropoff},
                {
                    "address": {"street": "Rua Oscar Freire", "zipcode": "01426-001"},
                    "coordinates": {"latitude": -23.5629, "longitude": -46.6689},
                },
            ],
            "orderPackages": [
                {"description": "Caixa", "height": 20, "width": 30, "length": 40, "weight": 2.5, "quantity": 1}
            ],
        }
    )


def deliver(deliveries: Any, reading: Any) -> None:
    request = delivery(proof={"photo": True})
    quoted = deliveries.quotation_delivery_with_http_info(request)
    headers = {
        "idempotency_key": str(uuid4()),
        "quote_id": HTTPHeaderDict(quoted.headers)["Quote-Id"],
        "sandbox_speed": 120,
    }
    created, again = (deliveries.request_delivery(request, **headers) for _repeat in range(2))
    assert (created.delivery_id, created.shipping_value) == (again.delivery_id, quoted.data.shipping_value)
    assert [order.point for order in created.orders] == ["B", "C"]

    detail = until_finished(reading, created.delivery_id)
    assert [order.status for order in detail.orders] == ["DELIVERED"] * 2
    assert detail.accepted_at < detail.closed_at
    photo = detail.orders[0].proof.photos[0].url.rpartition("/")[2]
    assert reading.get_photo(photo).startswith(b"\xff\xd8")
    assert len(deliveries.info_delivery(created.delivery_id).orders) == len(created.orders)
    assert deliveries.location_delivery(created.delivery_id).tracking.reason == "FINISHED"

    found = reading.list_deliveries(external_id=request.dropoffs[0].external_id, status=["DELIVERED"], limit=10)
    assert [summary.delivery_id for summary in found.data] == [created.delivery_id]
    events = statuses_of_events(reading, created.delivery_id)
    assert events == ["PENDING", "ACCEPT", "COLLECTED", "COLLECTED", "DELIVERED"], events


def until_finished(reading: Any, delivery_id: Any) -> rota.DeliveryDetail:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        detail = reading.get_delivery(delivery_id)
        if detail.route.status == "FINISHED":
            return detail
        time.sleep(0.2)
    raise TimeoutError(f"{delivery_id} is not delivered after 20 s")


def statuses_of_events(reading: Any, delivery_id: Any) -> list[str]:
    statuses: list[str] = []
    after = None
    while True:
        page = reading.list_events(after=after)
        if not page.data:
            return statuses
        statuses += [event.body.status for event in page.data if event.body.delivery_id == delivery_id]
        after = page.next_cursor


def statuses_of_order_events(orders: Any, order_id: str) -> list[str]:
    statuses: list[str] = []
    after = None
    while (page := orders.list_order_events(after=after)).data:
        statuses += [event.body.status for event in page.data if event.body.order_id == order_id]
        after = page.next_cursor
    return statuses


def cancel(deliveries: Any) -> None:
    created = deliveries.request_delivery(delivery("sim-manual-"))
    info = deliveries.cancel_delivery(
        created.delivery_id, cancel_request=rota.CancelRequest(reason="The customer gave up")
    )
    assert {order.status for order in info.orders} == {"FAILED"}
    assert refusal(deliveries.info_delivery, uuid4()) == "delivery_not_found"


def refusal(call: Callable[..., Any], *arguments: Any) -> str:
    """The code of the refusal that a call ends with."""
    try:
        call(*arguments)
    except rota.ApiException as error:
        return str(error.data.code)
    raise AssertionError("The call was not refused.")


def move(deliveries: Any, sandbox: Any) -> None:
    delivery_id = deliveries.request_delivery(delivery("sim-manual-")).delivery_id
    assert sandbox.sandbox_accept(delivery_id).status == "ACCEPT"
    sandbox.sandbox_position(delivery_id, position_request=rota.PositionRequest(**_PLACE))
    assert sandbox.sandbox_collect(delivery_id).status == "COLLECTED"
    sandbox.sandbox_deliver(delivery_id, "B")
    failed = sandbox.sandbox_fail(delivery_id, "C", fail_request=rota.FailRequest(reason="Nobody was there"))
    assert [order.status for order in failed.orders] == ["DELIVERED", "FAILED"]
    assert sandbox.sandbox_return(delivery_id).status == "DELIVERED"

    assert sandbox.sandbox_webhook(webhook_request=rota.WebhookRequest(url="")).url == ""

    waiting = deliveries.request_delivery(delivery("sim-manual-"))
    assert sandbox.sandbox_expire(waiting.delivery_id).status == "FAILED"


def try_again(deliveries: Any, sandbox: Any) -> None:
    delivery_id = deliveries.request_delivery(delivery("sim-manual-", onFailure="RETRY")).delivery_id
    contacts = rota.OptionalContactsRequest(phone_number="+55 11 97777-0002")
    changed = deliveries.change_dropoff(
        delivery_id, "B", dropoff_change_request=rota.DropoffChangeRequest(contacts=contacts)
    )
    assert changed.orders[0].contacts.phone_number == "+55 11 97777-0002"
    sandbox.sandbox_accept(delivery_id)
    sandbox.sandbox_collect(delivery_id)
    failed = sandbox.sandbox_fail(delivery_id, "B", fail_request=rota.FailRequest(code="ABSENT"))
    assert (failed.orders[0].status, failed.orders[0].failure_code, failed.orders[0].attempts) == (
        "COLLECTED", "ABSENT", 1,
    )  # fmt: skip  # a table
    deliveries.instruct_dropoff(delivery_id, "B", instruct_request=rota.InstructRequest(action="LEAVE"))
    left = sandbox.sandbox_deliver(delivery_id, "B", deliver_request=rota.DeliverRequest(left=True))
    assert left.orders[0].proof.left


def bring(deliveries: Any, sandbox: Any) -> None:
    request = delivery("sim-manual-")
    request.delivery_mode = "REVERSE"
    created = deliveries.request_delivery(request)
    assert [point.type for point in created.route.points] == ["dropoff", "pickup", "pickup"]
    sandbox.sandbox_accept(created.delivery_id)
    for point in ("B", "C"):
        sandbox.sandbox_collect_at(created.delivery_id, point)
    assert sandbox.sandbox_return(created.delivery_id).status == "DELIVERED"


def schedule(deliveries: Any, reading: Any, sandbox: Any) -> None:
    request = delivery("sim-manual-")
    request.pickup_ready_at = (datetime.now(UTC) + timedelta(hours=2)).replace(microsecond=0)
    created = deliveries.request_delivery(request)
    assert created.route.status == "AVAILABLE"
    detail = reading.get_delivery(created.delivery_id)
    assert (detail.route.status, detail.scheduled_for) == ("SCHEDULED", request.pickup_ready_at)
    assert sandbox.sandbox_offer(created.delivery_id).route.status == "AVAILABLE"


def ship(orders: Any, sandbox: Any) -> None:
    trip = {"origin": "01310100", "destination": "40020000", "width": "30", "height": "20", "length": "40"}
    freight = rota.SellerQuoteRequest.from_dict({**trip, "weight": 2.5})
    quote = orders.shipping_quote(freight).data
    assert quote.to == "Salvador/BA"
    assert quote.amount in [service.amount for service in orders.shipping_services(freight).data]

    order_id = str(uuid4())
    tracking_code = orders.create_order(order(order_id)).tracking_code
    assert orders.get_order(order_id).data.tracking_code == tracking_code
    assert tracking_code in [each.tracking_code for each in orders.list_orders().data]
    (record,) = orders.track_orders("order_number", tracking_code).actual_instance.data
    assert [entry.status for entry in record.status_log] == ["pending"]
    hand_over(orders, sandbox, order_id)
    done = orders.cancel_order(rota.SellerCancelRequest(orderId=order_id))
    assert done.message == "Objeto cancelado com sucesso"


def hand_over(orders: Any, sandbox: Any, order_id: str) -> None:
    path = f"orders/{order_id}/label"
    assert orders.get_label_pdf(order_id, size="a6") == read(orders, f"{path}.pdf?size=a6")
    assert orders.get_label_zpl(order_id) == read(orders, f"{path}.zpl")
    printed = orders.print_labels_pdf(rota.SellerPdfLabelsRequest(orderIds=[order_id]))
    assert printed == read(orders, f"{path}.pdf")
    assert orders.print_labels_zpl(rota.SellerZplLabelsRequest(orderIds=[order_id])) == read(orders, f"{path}.zpl")

    chosen = rota.SellerManifestRequest(orderIds=[order_id])
    emptied = orders.create_manifest(chosen).data.manifest_id
    orders.remove_from_manifest(emptied, rota.SellerRemovalRequest(orderIds=[order_id]))
    orders.add_to_manifest(emptied, rota.SellerAdditionRequest(orderIds=[order_id]))
    assert orders.delete_manifest(emptied).success
    opened = orders.create_manifest(chosen).data.manifest_id
    assert orders.get_manifest(opened).data.status == "open"
    assert orders.get_manifest_pdf(opened) == read(orders, f"manifests/{opened}.pdf")
    assert orders.close_manifest(opened).data.status == "closed"
    assert opened in [each.manifest_id for each in orders.list_manifests().data]
    failed = rota.SellerReportRequest(code="ABSENT")
    assert (
        sandbox.sandbox_move_order(order_id, "delivery_failed", seller_report_request=failed).data.status
        == "delivery_failed"
    )

    assert statuses_of_order_events(orders, order_id) == ["pending", "collected", "delivery_failed"]
    assert sandbox.sandbox_order_webhook(seller_webhook_request=rota.SellerWebhookRequest(url="")).data.url == ""


def read(orders: Any, path: str) -> bytes:
    """What a path of order integration answers, read without the client: a file, which is the same each time."""
    configuration = orders.api_client.configuration
    credential = {"Authorization": configuration.get_basic_auth_token()}
    request = Request(f"{configuration.host}/api/integration/{path}", headers=credential)  # noqa: S310  # of this service
    with urlopen(request, timeout=10) as answer:  # noqa: S310  # as above
        content: bytes = answer.read()
    assert content.startswith((b"%PDF-", b"^XA")), content
    return content


def order(order_id: str) -> rota.SellerOrderRequest:
    return rota.SellerOrderRequest.from_dict(
        {
            "company_document": COMPANY,
            "orderId": order_id,
            "orderCost": 150.5,
            "service": "base",
            "items": [{"description": "Cafeteira", "dimensions": "30x20x40,2.5", "quantity": 1, "price": 150}],
            "receiver": {
                "name": "Maria Souza",
                "document": "529.982.247-25",
                "address": {
                    "state": "BA",
                    "city": "Salvador",
                    "zipCode": "40020-000",
                    "street": "Rua Chile",
                    "streetNumber": "10",
                    "neighborhood": "Centro",
                },
            },
        }
    )


def report(carriers: Any) -> None:
    event = {"eventId": str(uuid4()), "trackingCode": "NONE", "status": "collected"}
    (answer,) = carriers.report_events(rota.SellerEventsRequest.from_dict({"events": [event]})).data
    assert (answer.event_id, answer.success, answer.code) == (event["eventId"], False, "unknown_tracking_code")


def send_invoice(orders: Any, xml: bytes) -> None:
    assert orders.upload_invoice(("nfe.xml", xml)).message == "Nota fiscal salva com sucesso"
    assert refusal(orders.upload_invoice, ("nfe.xml", b"<x/>")) == "invalid_invoice"
    (invoice,) = orders.list_invoices(limit=1).data
    order_id = str(uuid4())
    orders.create_order(order(order_id))
    assert order_id in orders.link_invoice(invoice.key, rota.SellerLinkRequest(orderId=order_id)).data.orders
    assert order_id not in orders.unlink_invoice(invoice.key, rota.SellerUnlinkRequest(orderId=order_id)).data.orders
    assert orders.list_invoices(linked=False, limit=1).success


def connect(api: type, url: str, **credential: Any) -> Any:
    """The calls of a tag, each of which is noted in `_called`."""
    calls = api(rota.ApiClient(rota.Configuration(host=url, **credential)))
    for name in calls_of(api):
        for variant in (name, f"{name}_with_http_info"):
            setattr(calls, variant, _noted(getattr(calls, variant), name))
    return calls


def calls_of(api: type) -> list[str]:
    """The names of an API's methods that make a call and answer with its body."""
    methods = [name for name, _method in inspect.getmembers(api, inspect.isfunction) if not name.startswith("_")]
    return [name for name in methods if not name.endswith(("_with_http_info", "_without_preload_content"))]


def _noted(call: Callable[..., Any], name: str) -> Callable[..., Any]:
    @wraps(call)
    def noted(*arguments: Any, **options: Any) -> Any:
        _called.add(name)
        return call(*arguments, _request_timeout=10.0, **options)

    return noted


def make_others(apis: list[Any], description: dict[str, Any], values: dict[str, Any]) -> None:
    """Each call that was not made, with these values of parameters and the example of its body. It may be refused."""
    operations = [operation for methods in description["paths"].values() for operation in methods.values()]
    bodies = {each["operationId"].replace("-", "_"): each.get("requestBody", {}).get("content") for each in operations}
    for api in apis:
        for name in set(calls_of(type(api))) - _called:
            call, needed = getattr(api, name), {}
            for parameter in inspect.signature(call).parameters.values():
                if hasattr(parameter.annotation, "from_dict"):
                    (example,) = bodies[name]["application/json"]["examples"].values()
                    needed[parameter.name] = parameter.annotation.from_dict(example["value"])
                elif parameter.default is inspect.Parameter.empty:
                    assert parameter.name in values, f"{Path(__file__).name}: `main` has no {parameter.name} for {name}"
                    needed[parameter.name] = values[parameter.name]
            try:
                call(**needed)
            except rota.ApiException as error:
                assert error.data, f"{name}: {error}"  # noqa: PT017  # it runs without pytest


def main(described: str, invoice: str, url: str, token: str, key: str, carrier_key: str) -> None:
    of_seller = {"username": key, "password": ""}
    of_shop: dict[str, Any] = {"access_token": token, **of_seller}  # the sandbox has calls of both areas
    apis = [rota.ImmediateDeliveryApi, rota.FindAndReadApi, rota.SandboxApi]
    deliveries, reading, sandbox = (connect(api, url, **of_shop) for api in apis)
    orders = connect(rota.OrderIntegrationApi, url, **of_seller)

    deliver(deliveries, reading)
    cancel(deliveries)
    move(deliveries, sandbox)
    try_again(deliveries, sandbox)
    bring(deliveries, sandbox)
    schedule(deliveries, reading, sandbox)
    ship(orders, sandbox)
    send_invoice(orders, Path(invoice).read_bytes())
    carriers = connect(rota.TrackingByCarriersApi, url, username=carrier_key, password="")
    report(carriers)
    order_id = str(uuid4())
    orders.create_order(order(order_id))
    delivery_id = deliveries.request_delivery(delivery("sim-manual-")).delivery_id
    values = {"delivery_id": delivery_id, "order_id": order_id, "point": "B"}
    make_others([deliveries, reading, sandbox, orders, carriers], json.loads(Path(described).read_text()), values)


main(*sys.argv[1:])
