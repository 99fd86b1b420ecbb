"""Whatever a body has in it, it is read or refused as of an unknown form, and what is read fits into columns."""

import io
import json
import sys
from copy import deepcopy
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from common.api import json_body
from common.shops import platforms, values
from common.shops.drafts import decimal
from common.shops.order import UnknownForm
from common.shops.platforms import Platform
from tests.common.shops import shopify_orders, woocommerce_orders, yampi_orders

ORDERS = {
    Platform.WOOCOMMERCE: {**woocommerce_orders.order(), "meta_data": woocommerce_orders.meta(_billing_cpf="1")},
    Platform.SHOPIFY: shopify_orders.order(),
    Platform.YAMPI: yampi_orders.order(),
}
HUGE = 10**4_000
VALUES: st.SearchStrategy[Any] = st.sampled_from([
    None, True, False, 0, -1, 1, HUGE, -HUGE, 10**18, Decimal("1E+999999"), Decimal("1E+999999999999"),
    Decimal("-1E-999999999999"), Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity"), Decimal("0.1"), 12.5,
    "", " ", "NaN", "Infinity", "1e9", "-0", "1" * 400, "0." + "1" * 300, "\0", "\ud800", "x" * 100_000, "\u2060",
    ", \u2060 \u2060", "2026-03-02T10:30:00-03:00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00",
    "9" * 41, [], [[]], {}, [None], [0], ["a", {}], {"data": None}, {"data": []}, {"data": [{"data": {}}]}, [{}] * 600,
    {"shop": {"x": [1]}},
])  # fmt: skip  # a table
DEEP = 5_000


def places(body, path=()):
    """The paths of everything in a body."""
    entries = body.items() if isinstance(body, dict) else enumerate(body) if isinstance(body, list) else ()
    for key, value in entries:
        yield (*path, key)
        yield from places(value, (*path, key))


@st.composite
def mutated(draw, platform):
    body = deepcopy(ORDERS[platform])
    for _change in range(draw(st.integers(1, 4))):
        all_places = list(places(body))
        if not all_places:
            break
        *way, last = draw(st.sampled_from(all_places))
        at = body
        for key in way:
            at = at[key]
        if draw(st.booleans()) or isinstance(at, list):
            at[last] = deepcopy(draw(VALUES))  # which a later change may be made in
        else:
            del at[last]
    return body


def check(order):
    texts = [
        order.id, order.number, *order.shipping_methods, order.note,
        *(value for part in (order.receiver, order.address) for value in fields(part) if isinstance(value, str)),
        *(text for item in order.items for text in (item.sku, item.name)),
    ]  # fmt: skip  # a table
    for text in texts:
        assert text == text.strip()
        assert "\0" not in text
        text.encode()
        assert len(text) <= (values.LONGEST_NOTE if text is order.note else values.LONGEST_TEXT)
    assert order.id
    assert max(len(order.id), len(order.number)) <= values.LONGEST_ID
    for amount in (order.total, *(item.unit_price for item in order.items)):
        assert 0 <= amount < 10**9
        assert amount.as_tuple().exponent == -2
    assert all(1 <= item.quantity < 10**9 for item in order.items)
    assert all(item.weight_g is None or 1 <= item.weight_g <= 10**6 for item in order.items)
    assert len(order.items) <= values.MOST_ITEMS
    for moment in (order.placed_at, order.changed_at):
        assert moment is None or moment.utcoffset() is not None


def fields(part):
    return [getattr(part, name) for name in part.__slots__]


@pytest.mark.parametrize("platform", Platform)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_a_body_with_anything_in_it_is_read_or_of_an_unknown_form(platform, data):
    body = data.draw(mutated(platform))

    try:
        order = platforms.read(platform, body)
    except UnknownForm as refused:
        assert refused.missing  # noqa: PT017  # either is right
        return
    check(order)


@pytest.mark.parametrize("platform", Platform)
def test_a_body_of_another_platform_is_of_an_unknown_form(platform):
    for other, body in ORDERS.items():
        if other is not platform:
            with pytest.raises(UnknownForm):
                platforms.read(platform, body)


@pytest.mark.parametrize("platform", Platform)
def test_what_json_calls_a_number_is_read_as_one(platform):
    raw = json.dumps({"id": 1}).replace("1", "1e99999999999999999999").encode()

    with pytest.raises((json_body.InvalidJSON, UnknownForm)):
        platforms.read(platform, parsed(raw))


def parsed(raw):
    return json_body.read_object(
        io.BytesIO(raw), most_bytes=1 << 20, most_levels=platforms.MOST_LEVELS, parse_float=decimal
    )


@pytest.mark.parametrize(
    ("platform", "key"),
    [(Platform.WOOCOMMERCE, "total"), (Platform.SHOPIFY, "current_total_price"), (Platform.YAMPI, "value_total")],
)
@pytest.mark.parametrize("total", ["0.00", 0, "-5.00"])
def test_an_order_that_costs_nothing_is_one(platform, key, total):
    body = deepcopy(ORDERS[platform])
    body.get("resource", body)[key] = total

    assert platforms.read(platform, body).total == Decimal("0.00")


@pytest.mark.parametrize("platform", Platform)
def test_a_deep_body_is_read_without_recursion(platform):
    deep: list[Any] = []
    for _level in range(max(DEEP, sys.getrecursionlimit() * 2)):
        deep = [deep]
    body = deepcopy(ORDERS[platform])
    body.setdefault("resource", body)["meta_data"] = deep
    body["note_attributes"] = deep
    body.pop("resource", None) if platform is not Platform.YAMPI else None

    check(platforms.read(platform, body))
