"""Amounts are computed with Decimal or in whole centavos, never with binary floats.

A float is one centavo off where the exact result is half a centavo, and loses centavos of large amounts.
"""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.sources import functions, modules

_MONEY = re.compile(
    r"shipping_?value|fixedValue|price|fare|(^|_)fees?(_|$)|cost|amount|money|reais|centavo|declared_|insured|earned|"
    r"_share|ad_valorem|gris|freight|charge|vNF|divisor|_bp$|REAIS|basis_points",
    re.IGNORECASE,
)
_INEXACT = {"float", "round"}
_ANY = re.compile(r"float|round\(| / |\d\.\d")

# An amount with two or four places becomes a JSON number as the last step; its text is the exact one.
REVIEWED = {
    "delivery/api/viewsets.py": {"float(quote.value)", "9.9"},  # the latter is an example
    "delivery/bodies.py": {
        "float(delivery.shipping_value)", "float(delivery.cancel_fee or 0)", "float(delivery.distance_km)",
        "float(amount)",
    },
    "delivery/drivers/state.py": {
        "float(amount)", "float(delivery.distance_km)", "metres / 1000", "round(metres / 1000, 1)",
        "(delivery.closed_at - max(taken)).total_seconds() / 60",
        "round((delivery.closed_at - max(taken)).total_seconds() / 60)",
    },
    "delivery/connections/api.py": {"float(draft.price)", "9.9"},
    "delivery/pricing.py": {  # Decimals
        "amount * fee / price", "price * (self.percent or 0) / 100", "price * percent / 100",
    },
    "integration/connections/api.py": {"float(draft.price)"},
    "integration/connections/payloads.py": {
        "item.weight_g / _GRAMS",  # Decimals
        "float(order.total)", "float(item.unit_price)", "float(item['price'])", "float(order.cost)",
    },
    "common/shops/shopify.py": {"discount / ordered"},  # Decimals
    "common/shops/woocommerce.py": {"total / quantity"},
    "delivery/reports.py": {"DispatchRules.current().driver_share_percent / 100"},  # a Decimal
    "integration/bodies.py": {"float(order.cost)", "float(amount)"},
    "integration/manifests/api.py": {
        "float(order.cost)", "float(order.weight)", "float(totals.cost)", "float(totals.weight)",
    },
    "integration/papers/manifest_pdf.py": {"_INNER / len(facts)"},  # millimetres
    "config/management/commands/bootstrap.py": {  # only compared with 0
        "float(pricing.fare(tariff.terms, _EXAMPLE).value)",
    },
    "integration/freight/calculation.py": {
        "parameters.max_weight_g / _KILOGRAM", "weight / _KILOGRAM",  # in the text of an error
        "weight * _KILOGRAM / volumes", "declared * 100 / volumes",  # Decimals
    },
    "common/pages/plots.py": {  # by how much a figure of a report has changed
        "100 * (now - before) / before",
        "round(100 * (now - before) / before if is_share else now - before, 0 if is_share else 1)",
    },
    "panel/sellers/views/orders.py": {  # what a form begins with
        "(package.weight_g or 0) / 1000", "package.declared_centavos / 100",
    },
}  # fmt: skip  # a table


def _words(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.arg | ast.keyword):
        yield node.arg or ""
    elif isinstance(node, ast.FunctionDef):
        yield node.name
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 30:
        yield node.value


def _is_inexact(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return (isinstance(node.func, ast.Name) and node.func.id in _INEXACT) or ast.unparse(node.func).endswith(
            "FloatField"
        )
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return not ast.unparse(node.left).startswith("Decimal(")
    return isinstance(node, ast.Constant) and type(node.value) is float


def found_in(source: str) -> set[str]:
    """Floats, `round` and division, unless a Decimal is divided, in functions that mention an amount."""
    mentioning = (
        scope for scope in functions(source) if any(_MONEY.search(word) for node in scope for word in _words(node))
    )
    return {ast.unparse(node) for scope in mentioning for node in scope if _is_inexact(node)}


def test_no_float_is_on_the_way_of_an_amount():
    found = {path: found_in(source) for path, source in modules() if _ANY.search(source)}

    assert {path: expressions for path, expressions in found.items() if expressions} == REVIEWED


@pytest.mark.parametrize(
    "code", ["price * 0.1", "float(price)", "round(price)", "price / 100", "Cast(price, FloatField())"]
)
def test_notices(code):
    assert found_in(f"def f(price):\n    return {code}")


@pytest.mark.parametrize("code", ["Decimal(price) / 100", "price * Decimal('0.1')", "-(-price // 100)"])
def test_accepts(code):
    assert found_in(f"def f(price):\n    return {code}") == set()
