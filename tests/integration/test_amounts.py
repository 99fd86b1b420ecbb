"""Amounts and weights of orders, from what is sent to what is answered and shown."""

import json
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from common.brazil import formats
from integration.api.fields import AmountField, WeightField
from integration.bodies import _summary, number
from integration.models import Company, Order
from panel.sellers.views.simulators import FreightForm
from tests.moments import NEW_YEAR
from tests.money import half_up, up

_CENTAVOS = st.integers(0, 10**8)


def typed(centavos):
    return f"{centavos // 100},{centavos % 100:02}"


class TestAmountField:
    @given(st.decimals(0, 10**11, places=6))
    @example(Decimal("0.00005"))
    @example(Decimal("10.00025"))  # 10.0002 if halves were rounded to even
    @example(Decimal("999999999999.9998"))
    def test_rounds_half_up_to_four_places(self, sent):
        values = [AmountField().to_internal_value(data) for data in (sent, f"{sent:f}")]

        assert values == [half_up(Fraction(sent), places=4)] * 2


class TestWeightField:
    @given(st.decimals("0.000001", 1000, places=6))
    @example(Decimal("2.0000001"))
    @example(Decimal("2.007"))  # a little over 2007 g as floats
    def test_rounds_up_to_grams(self, sent):
        grams = WeightField().to_internal_value(sent)

        assert (type(grams), grams) == (int, up(Fraction(sent) * 1000))


class TestTypedValue:
    @given(_CENTAVOS)
    @example(115)  # 1.15 x 100 = 114.99999999999999 as floats
    def test_is_declared_to_the_centavo(self, centavos):
        form = FreightForm({"origin": "01310-100", "destination": "40020-000", "declared": typed(centavos)})

        assert form.is_valid()
        assert form.package.declared_centavos == centavos


class TestAnsweredNumber:
    @given(st.decimals(0, 10**10, places=4))
    def test_is_the_amount_to_the_last_place(self, amount):
        at = NEW_YEAR.start
        order = Order(cost=amount, company=Company(document="1"), created_at=at, updated_at=at)

        sent = [number(amount), _summary(order)["orderCost"]]

        assert json.loads(json.dumps(sent), parse_float=Decimal) == [amount] * 2


@pytest.mark.parametrize(("price", "shown"), [("1.005", "R$ 1.01"), ("0.004", "R$ 0.00"), ("10.125", "R$ 10.13")])
def test_the_price_of_a_parcel_is_shown_as_it_was_sent(price, shown):
    order = Order(items=[{"description": "Caixa", "dimensions": "1x2x3,1", "quantity": 1, "price": price}])

    (parcel,) = order.parcels

    assert parcel["price"] == Decimal(price)
    assert formats.money(parcel["price"]) == shown
