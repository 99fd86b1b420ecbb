from dataclasses import asdict, astuple, replace
from decimal import Decimal
from fractions import Fraction
from math import prod

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from common.brazil import states
from common.brazil.states import Kind, Region
from integration import postcodes
from integration.errors import NoCoverage, TooHeavy
from integration.freight import calculation as freight
from integration.freight.calculation import Package, Parameters, Rate, Zone
from integration.freight.models import _RANGES
from integration.models import Order
from integration.papers.label import kilograms
from tests.cases import in_turn
from tests.integration.factories import DEFAULT_TARIFF
from tests.money import up

RATES = {
    (row["service"], row["zone"], row["origin_kind"], row["destination_kind"]): Rate(
        int(row["base_centavos"]), int(row["extra_kg_centavos"]), int(row["deadline_days"])
    )
    for row in DEFAULT_TARIFF.rates()
}
POSTCODES = st.integers(0, 99_999_999).map("{:08d}".format)
SIDES = st.none() | st.integers(0, 999)
RATE = Rate(base_centavos=3000, extra_kg_centavos=200, deadline_days=4)


def price(origin, destination, package):
    """Price of a package by the default tariff, None without coverage."""
    try:
        start, end = postcodes.region(origin), postcodes.region(destination)
        zone = freight.zone(start, end, remote_states=Parameters().remote_states)
        return freight.charges(package, RATES.get(("economy", zone, start.kind, end.kind)), Parameters()).price
    except NoCoverage:
        return None


class TestParameters:
    def test_are_by_default_those_of_a_new_installation(self):
        defaults = {**asdict(Parameters()), "remote_states": sorted(Parameters().remote_states)}

        assert defaults == DEFAULT_TARIFF._PARAMETERS


class TestPrice:
    @given(
        POSTCODES, POSTCODES, st.integers(1, 30_000), st.integers(0, 5000), SIDES, SIDES, SIDES, st.integers(0, 2**63)
    )
    def test_is_whole_positive_and_never_falls_with_weight(
        self, origin, to, weight, more, width, height, length, worth
    ):
        lighter, heavier = (
            price(origin, to, Package(grams, width, height, length, worth)) for grams in (weight, weight + more)
        )

        if lighter is not None:
            assert type(lighter.amount) is int
            assert type(lighter.deadline) is int
            assert lighter.amount >= Parameters().minimum_charge_centavos
            assert lighter.deadline >= 0
        if heavier is not None:
            assert heavier.amount >= lighter.amount

    def test_exists_for_every_pair_of_assigned_regions(self):
        starts = [row["start"] for row in states.rows(states.DATA / "postcodes.csv")]

        assert all(price(a, b, Package()) is not None for a in starts for b in starts)

    @in_turn(
        ("package", "amount"),
        [
            (Package(), 3000), (Package(weight_g=0), 3000), (Package(weight_g=1), 3000), (Package(weight_g=1000), 3000),
            (Package(weight_g=1001), 3200), (Package(weight_g=2000), 3200), (Package(weight_g=30_000), 3000 + 29 * 200),
            # Cubed: 30 000 cm³ are 5 kg, the threshold, and 30 030 cm³ are 5005 g.
            (Package(None, 30, 100, 10), 3000), (Package(None, 30, 91, 11), 3000 + 5 * 200),
            (Package(4000, 30, 91, 11), 3000 + 5 * 200), (Package(7000, 30, 91, 11), 3000 + 6 * 200),
            (Package(None, None, 91, 11), 3000), (Package(None, 30, None, 11), 3000),
            (Package(None, 999, 91, None), 3000),
            # Cubed 6 kg exactly, and one cm³ more.
            (Package(None, 30, 40, 30), 3000 + 5 * 200), (Package(None, 1, 1, 36_001), 3000 + 6 * 200),
            (Package(declared_centavos=5000), 3000), (Package(declared_centavos=5001), 3001),
        ],
    )  # fmt: skip  # a list of cases
    def test_is_charged_by_steps_of_weight_and_by_declared_value(self, package, amount):
        assert freight.charges(package, RATE, Parameters()).price.amount == amount

    @given(
        parameters=st.builds(
            Parameters,
            **{name: st.integers(*limits) for name, limits in _RANGES.items() if name != "max_weight_g"},
            max_weight_g=st.just(_RANGES["max_weight_g"][1]),
        ),
        package=st.builds(Package, st.none() | st.integers(0, 30_000), SIDES, SIDES, SIDES, st.integers(0, 2**63)),
    )
    @example(replace(Parameters(), gris_bp=1), Package(declared_centavos=14_000))  # 1.4
    @example(replace(Parameters(), gris_bp=1), Package(declared_centavos=15_000))  # 1.5
    @example(replace(Parameters(), ad_valorem_bp=3333), Package(declared_centavos=2**63))  # more than a float holds
    def test_is_the_sum_of_its_parts_each_rounded_up(self, parameters, package):
        found = freight.charges(package, RATE, parameters)

        sides = (package.width_cm, package.height_cm, package.length_cm)
        cubed = 0 if None in sides else up(Fraction(prod(sides) * 1000, parameters.cubic_divisor_cm3_per_kg))
        real = parameters.default_weight_g if package.weight_g is None else package.weight_g
        charged = max(real, cubed) if cubed > parameters.cubic_threshold_g else real
        steps = max(up(Fraction(charged, parameters.weight_rounding_g)), 1)
        carriage = max(3000 + (steps - 1) * 200, parameters.minimum_charge_centavos)
        insured = max(package.declared_centavos - parameters.ad_valorem_free_centavos, 0)
        ad_valorem = up(Fraction(insured * parameters.ad_valorem_bp, 10_000))
        gris = up(Fraction(package.declared_centavos * parameters.gris_bp, 10_000))
        assert found.price.amount == carriage + ad_valorem + gris
        assert {type(part) for part in astuple(found)} == {int}

    def test_takes_the_larger_weight_without_a_threshold(self):
        package = Package(1000, 10, 10, 61)

        assert freight.charges(package, RATE, Parameters(cubic_threshold_g=0)).price.amount == 3200

    def test_adds_the_handling_time_to_the_deadline(self):
        assert freight.charges(Package(), RATE, Parameters(handling_days=2)).price.deadline == 6

    @pytest.mark.parametrize("package", [Package(weight_g=30_001), Package(30_001, 1, 1, 1)])
    def test_is_refused_over_the_maximum_weight(self, package):
        with pytest.raises(TooHeavy, match="30 kg"):
            freight.charges(package, RATE, Parameters())

    def test_is_not_refused_for_the_cubed_weight(self):
        assert freight.charges(Package(30_000, 999, 999, 999), RATE, Parameters()).price.amount > 3000 + 29 * 200


def item(kilograms, quantity, sides):
    return {"dimensions": f"{'x'.join(map(str, sides))},{kilograms}", "quantity": quantity}


class TestPackageOfAnOrder:
    @given(
        st.lists(
            st.builds(
                item,
                st.sampled_from(["0.3333", "0.0001", "1.5"]) | st.decimals("0.0001", 30, places=4),
                st.integers(1, 99),
                st.tuples(*[st.integers(1, 99)] * 3),
            ),
            min_size=1,
            max_size=4,
        ),
        st.integers(1, 99),
        st.decimals(0, 10_000, places=4),
    )
    @example([item("0.3333", 3, (1, 1, 1))], 1, Decimal("0.01"))  # 999.9 g: 1000, and not 1002
    @example([item("0.0004", 1, (1, 1, 1))] * 3, 1, Decimal(0))  # 1.2 g
    @example([item("1", 1, (1, 2, 3)), item("1", 1, (9, 9, 9)), item("1", 1, (3, 2, 1))], 7, Decimal("150.0001"))
    def test_rounds_the_part_of_a_volume_up_once_and_has_the_sides_of_the_largest_item(self, items, volumes, declared):
        order = Order(items=items, stated_volumes=volumes, cost=declared)

        package = order.package

        each = [(*one["dimensions"].split(","), one["quantity"]) for one in items]
        total = sum((Fraction(kilograms) * quantity for _sides, kilograms, quantity in each), Fraction(0))
        assert Fraction(order.weight) == total
        assert package.weight_g == up(total * 1000 / volumes)
        assert package.declared_centavos == up(Fraction(declared) * 100 / volumes)
        assert kilograms(next(order.weights)) == kilograms(Decimal(package.weight_g) / 1000)  # on the label
        sides = [tuple(map(int, text.split("x"))) for text, _kilograms, _quantity in each]
        own = (package.width_cm or 0, package.height_cm or 0, package.length_cm or 0)
        assert own in sides
        assert prod(own) == max(map(prod, sides))


class TestZone:
    @in_turn(
        ("origin", "destination", "zone"),
        [
            ("SP", "SP", Zone.LOCAL), ("SP", "sp", Zone.STATE), ("sp", "SP", Zone.STATE), ("sp", "sp", Zone.STATE),
            ("AC", "SP", Zone.REMOTE), ("SP", "AC", Zone.REMOTE), ("AC", "AM", Zone.REMOTE), ("sp", "ac", Zone.REMOTE),
            ("AC", "AC", Zone.LOCAL), ("ac", "AC", Zone.STATE), ("SP", "RJ", Zone.REGIONAL), ("SP", "BA", Zone.MID),
        ],
    )  # fmt: skip  # a list of cases
    def test_of_two_states(self, origin, destination, zone):
        regions = [
            Region(code.upper(), Kind.CAPITAL if code.isupper() else Kind.INTERIOR, "")
            for code in (origin, destination)
        ]

        assert freight.zone(*regions, remote_states=Parameters().remote_states) is zone
