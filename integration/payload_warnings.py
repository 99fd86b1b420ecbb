"""What the specification accepts of an order and is probably a mistake."""

import re
from collections.abc import Iterator
from decimal import Decimal

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

from common.accounts import Environment
from common.api.views import PayloadWarning, nearest
from common.brazil import phones
from common.simulation import pace
from integration import postcodes
from integration import simulation_steps as steps
from integration.actions.orders import Address, Item, NewOrder, Receiver
from integration.errors import NoCoverage
from integration.freight import calculation as freight
from integration.invoices import nfe
from integration.models import compact_document, is_document

_FAR_APART = 50  # times: reais and centavos are, with a discount or the freight in one of them
_CENTAVO = Decimal("0.01")
_LONGEST_NAMED = 100  # of an access key that is none, in a warning
_RECEIVER = ("receiver",)
_ADDRESS = (*_RECEIVER, "address")
# What looks like a CPF or CNPJ. Other documents, such as passports, have no check digits that are known here.
_CPF_OR_CNPJ = re.compile(r"[0-9]{11}|[0-9A-Z]{12}[0-9]{2}")


def of(order: NewOrder, *, environment: str, heaviest_g: int) -> list[PayloadWarning]:
    """`heaviest_g`: the maximum weight of the tariff in force."""
    heaviest = Decimal(heaviest_g) / 1000
    found = [*_of_cost(order), *_of_receiver(order.receiver), *_of_address(order.receiver["address"])]
    for index, item in enumerate(order.items):
        found += _of_item(index, item, heaviest_kg=heaviest)
    found += _of_access_key(order.invoice_key)
    if environment == Environment.SANDBOX and pace.is_misspelt(order.code, steps.PREFIXES):
        known = steps.PREFIXES
        found.append(PayloadWarning(("orderId",), "unknown_outcome", nearest(order.code, known), known))
    return found


def _of_access_key(key: str) -> Iterator[PayloadWarning]:
    path = ("invoice", "key")
    if key and not nfe.is_access_key(key):
        yield PayloadWarning(path, "invalid_access_key", values=(("about", key[:_LONGEST_NAMED]),))
    elif key and nfe.model_of(key) not in nfe.MODELS:
        yield PayloadWarning(path, "other_model", values=(("about", nfe.model_of(key)),))


def _of_cost(order: NewOrder) -> Iterator[PayloadWarning]:
    """A cost in centavos beside items in reais or the reverse, or else another cost than the invoice's."""
    total = sum((item["price"] * item["quantity"] for item in order.items), Decimal(0))
    value = (order.invoice or {}).get("value")
    about = ""
    if order.cost and total and max(order.cost, total) >= _FAR_APART * min(order.cost, total):
        about = f"Difere muito da soma dos itens, {total:.2f}"
    elif value is not None and abs(value - order.cost) >= _CENTAVO:
        about = f"Difere de invoice.value, {value:.2f}"
    if about:
        yield PayloadWarning(("orderCost",), "order_cost_differs", values=(("about", about),))


def _of_receiver(receiver: Receiver) -> Iterator[PayloadWarning]:
    for name, phone in (("phone", receiver.get("phone")), ("cellphone", receiver.get("cellphone"))):
        if phone and phones.is_doubtful(phone):
            yield PayloadWarning((*_RECEIVER, name), "doubtful_phone")
    document = compact_document(receiver.get("document") or "")
    if _CPF_OR_CNPJ.fullmatch(document) and not is_document(document):
        yield PayloadWarning((*_RECEIVER, "document"), "invalid_document")
    if email := receiver.get("email"):
        try:
            validate_email(email)
        except ValidationError:
            yield PayloadWarning((*_RECEIVER, "email"), "invalid_email")


def _of_address(address: Address) -> Iterator[PayloadWarning]:
    state = address["state"].upper()
    if state not in freight.STATES:
        yield PayloadWarning((*_ADDRESS, "state"), "unknown_state")
    try:
        region = postcodes.region(address["zipCode"])
    except NoCoverage:
        yield PayloadWarning((*_ADDRESS, "zipCode"), "unassigned_postcode")
        return
    if state in freight.STATES and region.state != state:
        yield PayloadWarning((*_ADDRESS, "zipCode"), "postcode_of_another_state")


def _of_item(index: int, item: Item, *, heaviest_kg: Decimal) -> Iterator[PayloadWarning]:
    sides, weight = item["dimensions"].split(",")
    if "0" in (side.lstrip("0") or "0" for side in sides.split("x")):
        yield PayloadWarning(("items", index, "dimensions"), "side_is_zero")
    if not 0 < Decimal(weight) <= heaviest_kg:
        yield PayloadWarning(("items", index, "dimensions"), "weight_out_of_range")
