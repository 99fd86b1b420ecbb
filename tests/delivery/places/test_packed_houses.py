from hypothesis import given
from hypothesis import strategies as st

from delivery.places.packed_houses import House, pack, unpack

HOUSES = st.lists(
    st.builds(
        House,
        number=st.integers(0, 9_999_999),
        latitude=st.integers(-9_000_000, 9_000_000),
        longitude=st.integers(-18_000_000, 18_000_000),
        is_exact=st.booleans(),
    ),
    max_size=20,
)


class TestPackedHouses:
    @given(HOUSES)
    def test_are_unpacked_as_they_were(self, houses):
        in_order = sorted(houses)

        assert list(unpack(pack(in_order))) == in_order

    def test_take_a_few_bytes_each(self):
        street = [House(2 * n, -2_355_310 + 7 * n, -4_665_290 - 7 * n, True) for n in range(1, 201)]

        assert len(pack(street)) < 4 * len(street)
