"""Area B: a seller quotes, creates an order, sends its invoice, tracks it and cancels another."""

import secrets
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from stdnum.br import cnpj

from dev.demo.client import Client, command
from integration.actions.orders import Receiver
from integration.invoices import nfe

_API = "/api/integration"
QUOTE = {
    "origin": "01310100", "destination": "40020000", "width": "30", "height": "20", "length": "40", "weight": 2.5,
    "declared_amount": 15_000,
}  # fmt: skip  # a body in a few lines
RECEIVER: Receiver = {
    "name": "Maria Souza",
    "document": "529.982.247-25",
    "address": {
        "state": "BA", "city": "Salvador", "zipCode": "40020-000", "street": "Rua Chile", "streetNumber": "10",
        "neighborhood": "Centro",
    },
}  # fmt: skip  # a table


def check(*, url: str, say: Callable[[str], None]) -> None:
    """Run all steps. Raises DemoFailed at the first deviation from the specification."""
    document = _new_document()
    seller = command("create_seller", "Demo seller", f"--company={document}")
    say(f"Seller {seller['seller']}, reference {seller['reference']}, company {document}")
    client = Client(url=url, authorization=f"Basic {seller['api_key']}", say=say)
    _quote(client)
    code = f"PEDIDO-{secrets.token_hex(4)}"
    tracking_code = _create(client, document, code)
    _send_invoice(client, document, code)
    _follow(client, seller["seller"], code, tracking_code)
    _cancel(client, document)


def _quote(client: Client) -> None:
    quote = client.call("POST", f"{_API}/shipping/quote", json=QUOTE, expect=200)["data"]
    client.check((quote["from"], quote["to"]) == ("São Paulo/SP", "Salvador/BA"), "the names of both regions")
    client.check(type(quote["amount"]) is int and type(quote["deadline"]) is int, "whole centavos and business days")
    refused = client.call("POST", f"{_API}/shipping/quote", json={**QUOTE, "destination": "4002"}, expect=400)
    client.check(refused["success"] is False, "success false for a postcode of four digits")


def _create(client: Client, document: str, code: str) -> str:
    created = client.call("POST", f"{_API}/orders", json=_order(document, code), expect=201)
    again = client.call("POST", f"{_API}/orders", json=_order(document, code), expect=400)
    client.check(again["message"] == "Este objeto já foi previamente cadastrado!", "a duplicate is refused as such")
    return str(created["tracking_code"])


def _send_invoice(client: Client, document: str, code: str) -> None:
    xml = invoice(document, code)
    upload = {"nfe": ("nota.xml", xml.encode(), "application/xml")}
    saved = client.call("POST", f"{_API}/invoices/marketplace", files=upload, expect=200)
    client.check(saved["message"] == "Nota fiscal salva com sucesso", "the invoice is kept")
    found = client.call("GET", _look_up(_access_key(document)), expect=200)
    client.check(found["success"] is True, "the order is found by the key of its invoice")
    client.call("POST", f"{_API}/invoices/marketplace", files={"xml": ("nota.xml", b"<x/>")}, expect=422)


def _follow(client: Client, seller: str, code: str, tracking_code: str) -> None:
    for status in ("collected", "in_transit", "delivered"):
        client.say(f"  staff: order {code} {status}")
        command("order", code, f"--seller={seller}", status)
    (record,) = client.call("GET", _look_up(tracking_code), expect=200)["data"]
    seen = [entry["status"] for entry in record["status_log"]]
    client.check(seen == ["pending", "collected", "in_transit", "delivered"], "every status in the log, in order")
    client.call("POST", f"{_API}/orders/cancel", json={"orderId": code}, expect=400)


def _cancel(client: Client, document: str) -> None:
    code = f"PEDIDO-{secrets.token_hex(4)}"
    client.call("POST", f"{_API}/orders", json=_order(document, code), expect=201)
    cancelled = client.call("POST", f"{_API}/orders/cancel", json={"orderId": code}, expect=200)
    client.check(cancelled == {"success": True, "message": "Objeto cancelado com sucesso"}, "the cancellation's answer")
    client.call("POST", f"{_API}/orders/cancel", json={"orderId": code}, expect=400)
    client.call("POST", f"{_API}/orders/cancel", json={"orderId": "unknown"}, expect=404)


def _look_up(value: str) -> str:
    return f"{_API}/orders/tracking?type=order_number&value={value}"


def _order(document: str, code: str) -> dict[str, Any]:
    item = {"description": "Cafeteira", "dimensions": "30x20x40,2.5", "quantity": 1, "price": 150}
    return {
        "company_document": document,
        "orderId": code,
        "orderCost": 150.0,
        "service": "base",
        "items": [item],
        "receiver": RECEIVER,
    }


def _new_document() -> str:
    """A random CNPJ with correct check digits."""
    root = f"{secrets.randbelow(10**8):08d}0001"
    return root + str(cnpj.calc_check_digits(root))


def _access_key(document: str, number: int = 123) -> str:
    start = f"352611{document}55001{number:09d}100000001"
    return next(key for key in (f"{start}{digit}" for digit in range(10)) if nfe.is_access_key(key))


def invoice(document: str, code: str, number: int = 123, *, value: Decimal = Decimal(150)) -> str:
    """The XML of an invoice of the company for one order."""
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<nfeProc xmlns="http://www.portalfiscal.inf.br/nfe" versao="4.00"><NFe><infNFe Id="NFe{_access_key(document, number)}" versao="4.00">
<ide><mod>55</mod><serie>1</serie><nNF>{number}</nNF><dhEmi>2026-11-20T10:00:00-03:00</dhEmi></ide>
<emit><CNPJ>{document}</CNPJ><xNome>Loja Demonstração</xNome></emit>
<det nItem="1"><prod><xProd>Cafeteira</xProd><vProd>{value:.2f}</vProd><xPed>{code}</xPed></prod></det>
<total><ICMSTot><vNF>{value:.2f}</vNF></ICMSTot></total>
</infNFe></NFe>
<protNFe><infProt><chNFe>{_access_key(document, number)}</chNFe><cStat>100</cStat></infProt></protNFe></nfeProc>
"""  # noqa: E501  # one tag is one line
