"""Sellers, orders and invoices, made through the actions and serializers of the product."""

from collections.abc import Sequence
from datetime import datetime
from importlib import import_module
from typing import Any

import factory
from django.apps import apps
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone
from rest_framework.test import APIClient

from common.accounts import Environment
from integration.accounts import keys, sellers
from integration.actions import orders
from integration.api.serializers import OrderSerializer
from integration.carriers import actions as carriers
from integration.invoices import actions as invoices
from integration.invoices import nfe
from integration.invoices.models import Invoice
from integration.models import Carrier, Order, Seller

COMPANY = "11222333000181"
OTHER_COMPANY = "12ABC34501DE35"  # pragma: allowlist secret  # a company's number
ACCESS_KEY = "35261111222333000181550010000001231000000017"
BY = "tester"
DEFAULT_TARIFF = import_module("integration.migrations.0003_default_tariff")


class SellerFactory(factory.Factory):
    class Meta:
        model = Seller

    name = factory.Sequence(lambda number: f"Seller {number}")
    documents = (COMPANY,)

    @classmethod
    def _create(cls, model_class: type[Seller], *args: Any, **kwargs: Any) -> Seller:
        return sellers.open_(**kwargs)


def load_tariff() -> None:
    """The default tariff, also after a transactional test, which empties every table at its end."""
    DEFAULT_TARIFF.load(apps, None)


def key_of(seller: Seller, environment: Environment = Environment.LIVE) -> str:
    return keys.issue(seller=seller, environment=environment, by=BY, at=timezone.now()).clear_text


def order_body(**changes: Any) -> dict[str, Any]:
    """An order create request with every field of the specification; `changes` replace top-level keys."""
    return {
        "company_document": COMPANY,
        "orderId": "A-1",
        "orderCost": 150.5,
        "trackingCode": "TRACK-1",
        "service": "base",
        "items": [{"description": "Cafeteira", "dimensions": "10x20x30,1.5", "quantity": 2, "price": 75.25}],
        "receiver": {
            "name": "Maria",
            "phone": "1133330000",
            "cellphone": "11977770001",
            "email": "maria@example.com",
            "document": "529.982.247-25",
            "address": {
                "state": "SP",
                "city": "São Paulo",
                "zipCode": "01310-100",
                "street": "Avenida Paulista",
                "streetNumber": "1578",
                "neighborhood": "Bela Vista",
                "complement": "Loja 1",
            },
        },
        "invoice": {
            "series": "1",
            "number": "123",
            "issueDate": "2026-11-20 10:00:00",
            "value": 150.5,
            "key": ACCESS_KEY,
        },
        **changes,
    }


def order_with(path: str, value: Any) -> dict[str, Any]:
    """The body with one value replaced or added; the path is dotted."""
    body = order_body()
    *parents, last = path.split(".")
    target: Any = body
    for part in parents:
        target = target[int(part)] if part.isdigit() else target[part]
    target[last] = value
    return body


def create_order(
    seller: Seller,
    environment: Any = Environment.LIVE,
    *,
    simulation_speed: Any = None,
    at: Any = None,
    **changes: Any,
) -> Order:
    """An order without an invoice and with a generated tracking code, unless `changes` say otherwise."""
    # Numbers are integers, because the parser yields integers and Decimals and no floats.
    changes = {"trackingCode": None, "invoice": None, "orderCost": 150, "items": _whole_items(), **changes}
    serializer = OrderSerializer(data=order_body(**changes))
    serializer.is_valid(raise_exception=True)
    return orders.create(
        seller=seller,
        environment=environment,
        payload=serializer.payload,
        by=BY,
        at=at or timezone.now(),
        simulation_speed=simulation_speed,
    )


def send_invoice(
    seller: Seller, raw: bytes, *, environment: str = Environment.LIVE, at: datetime | None = None
) -> Invoice:
    """The invoice of a file that has one."""
    (invoice,) = invoices.receive(seller=seller, environment=environment, raw=raw, by=BY, at=at or timezone.now())
    return invoice


def upload(api: APIClient, raw: bytes, *, prefer: str = "") -> Any:
    """The answer to the upload of an invoice."""
    data = {"nfe": SimpleUploadedFile("nota.xml", raw)}
    return api.post("/api/integration/invoices/marketplace", data, format="multipart", HTTP_PREFER=prefer)


def nfe_xml(
    *,
    key: str = ACCESS_KEY,
    items: Sequence[str] = ("A-1",),
    compra: str = "",
    layout: str = "4.00",
    status: str = "100",
    recipient: str = "",
    value: str = "150.50",
    ide: str = "",
    beside: str = "",
) -> str:
    """An NF-e with an item for each xPed of `items` (empty: an item without one), without an XML declaration.

    `status`: the cStat of its protocol, which it lacks if this is empty. `recipient`: the CPF of its `dest`. `ide`:
    further elements there. `beside`: elements beside the note and its protocol.
    """
    dets = "".join(
        f'<det nItem="{number}"><prod><xProd>Peça nº {number}</xProd>'
        f"{f'<xPed>{value}</xPed>' if value else ''}</prod></det>"
        for number, value in enumerate(items, start=1)
    )
    purchase = f"<compra><xPed> {compra} </xPed></compra>" if compra else ""
    issued = "<dEmi>2012-03-04</dEmi>" if layout == "2.00" else "<dhEmi>2026-11-20T10:00:00-03:00</dhEmi>"
    dest = f"<dest><CPF>{recipient}</CPF></dest>" if recipient else ""
    protocol = f"<protNFe><infProt><chNFe>{key}</chNFe><cStat>{status}</cStat></infProt></protNFe>" if status else ""
    return (
        f'<nfeProc xmlns="http://www.portalfiscal.inf.br/nfe" versao="{layout}"><NFe>'
        f'<infNFe Id="NFe{key}" versao="{layout}"><ide><mod>55</mod><serie>1</serie><nNF>123</nNF>{issued}{ide}</ide>'
        f"<emit><CNPJ>{COMPANY}</CNPJ><xNome>São João Comércio</xNome></emit>{dest}{dets}"
        f"<total><ICMSTot><vNF>{value}</vNF></ICMSTot></total>{purchase}</infNFe></NFe>{protocol}{beside}</nfeProc>"
    )


def access_key(number: int) -> str:
    """Another access key for each number below 1,000, with its check digit."""
    start = f"{ACCESS_KEY[:-4]}{number:03}"
    return next(key for key in (f"{start}{digit}" for digit in range(10)) if nfe.is_access_key(key))


def cancellation(key: str = ACCESS_KEY, *, kind: str = "110111", status: str = "135", environment: str = "1") -> str:
    """The answer to the event of a cancellation."""
    return (
        f"<retEvento><infEvento><tpAmb>{environment}</tpAmb><cStat>{status}</cStat><chNFe>{key}</chNFe>"
        f"<tpEvento>{kind}</tpEvento></infEvento></retEvento>"
    )


def cancellation_file(key: str = ACCESS_KEY, **changes: str) -> str:
    """The file of a cancellation alone."""
    return (
        '<procEventoNFe xmlns="http://www.portalfiscal.inf.br/nfe" versao="1.00"><evento><infEvento>'
        f"<chNFe>{key}</chNFe><tpEvento>110111</tpEvento></infEvento></evento>{cancellation(key, **changes)}"
        "</procEventoNFe>"
    )


def _whole_items() -> list[dict[str, Any]]:
    return [{"description": "Cafeteira", "dimensions": "10x20x30,1.5", "quantity": 2, "price": 75}]


def make_carrier(name: str = "Jadlog") -> tuple[Carrier, str]:
    """A carrier with a key."""
    carrier = carriers.open_(name=name, by=BY)
    _key, clear_text = carriers.issue_key(carrier=carrier, by=BY, at=timezone.now())
    return carrier, clear_text


def assign(carrier: Carrier | None, *orders: Order) -> list[Order]:
    return carriers.assign(orders=orders, carrier=carrier, by=BY, at=timezone.now())
