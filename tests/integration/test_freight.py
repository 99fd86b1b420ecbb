from hypothesis import given
from hypothesis import strategies as st

from integration import defaults, freight, postcodes
from integration.errors import NoCoverage
from integration.freight import Package, Parameters, Rate

RATES = {
    (row["service"], row["zone"], row["origin_kind"], row["destination_kind"]): Rate(
        int(row["base_centavos"]), int(row["extra_kg_centavos"]), int(row["deadline_days"])
    )
    for row in defaults.rates()
}
POSTCODES = st.integers(0, 99_999_999).map("{:08d}".format)
SIDES = st.none() | st.integers(0, 999)


def price(origin, destination, package):
    """Price of a package by the default tariff, None without coverage."""
    try:
        start, end = postcodes.region(origin), postcodes.region(destination)
        zone = freight.zone(start, end, remote_states=Parameters().remote_states)
        return freight.price(package, RATES.get(("economy", zone, start.kind, end.kind)), Parameters())
    except NoCoverage:
        return None


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
        starts = [row["start"] for row in postcodes.rows("postcodes.csv")]

        assert all(price(a, b, Package()) is not None for a in starts for b in starts)
