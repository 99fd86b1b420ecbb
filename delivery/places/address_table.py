"""Where an address is by the table of addresses that `manage.py addresses import` fills, and the street of a CEP.

The houses of a street stand in one row for each postcode and district. Rows of one name that lie side by side are one
street; a city may have several streets of one name.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from django.db.models import Case, Value, When

from common.brazil import states
from common.brazil.municipalities import plain
from common.brazil.states import Kind
from common.fields import any_of
from common.postgresql.compiled_queries import CompiledQuery, Parameter
from delivery.geo.distance import Point, metres
from delivery.places import address_words, street_names
from delivery.places.geocoding import Located, Precision
from delivery.places.models import AddressCity, AddressStreet
from delivery.places.packed_houses import UNITS, House
from delivery.places.street_names import StreetName

# Rows of one name in a city, or of one postcode. More of them are no one street.
_MOST_ROWS = 200
_MOST_CANDIDATES = 3
_MOST_CITIES = 50  # in which a street is searched whose city is not named
# Between the boxes of two rows of one street, in hundred-thousandths of a degree: about 500 m.
_GAP = 500
# A number is taken for one between two neighbours that are at most so far apart, or behind the last one at most so far.
_BETWEEN_M, _BEHIND = 2_000, 100
_BETWEEN_KILOMETRES_M, _BEHIND_KILOMETRES = 5_000, 1_000
# A postcode of a larger box is that of a whole town, whose middle is no address.
_LARGEST_POSTCODE_M = 5_000
# An address is refused if its postcode is farther than this from its street.
_FAR_M = 3_000
_PARTS = re.compile(r",(?!\d) ?| [-\u2013\u2014] ")  # `km 22,5` is one of them
_CITY_AND_STATE = re.compile(r"(.+?) ?[-/,(] ?([A-Za-z]{2})\)?")

Candidate = tuple[str, Point]


@dataclass(frozen=True)
class StreetOfPostcode:
    """What is known of a postcode. Empty where its addresses differ, or none is known."""

    street: str
    district: str
    city: str
    state: str


def is_filled() -> bool:
    return AddressCity.objects.exists()


def find(address: Mapping[str, str]) -> Located | list[Candidate]:
    """Where an address with the keys of the API is, or the places that may be meant, at most three."""
    located, candidates = _find(_Asked(address))
    return located or candidates


def search(text: str) -> list[Candidate]:
    """The places of what a person types: an address in one line, or a CEP."""
    postcode = states.WRITTEN_POSTCODE.search(text)
    line = text.replace(postcode[0], " ") if postcode else text
    parts = [part.strip(" ,-") for part in _PARTS.split(address_words.one_line(line))]
    first, *parts = [*filter(None, parts)] or [""]
    address = {"number" if postcode and first.isdecimal() else "street": first}
    address["zipcode"] = postcode[0] if postcode else ""
    for part in reversed(parts):
        name = "state" if states.state_named(part) else "city"
        if name == "city" and (address.get("city") or not AddressCity.objects.filter(plain_name=plain(part)).exists()):
            name = "number" if address_words.house_number(part) else "district"
        address.setdefault(name, part)
    _located, candidates = _find(_Asked(address, is_search=True))
    return candidates


def _find(asked: "_Asked") -> tuple[Located | None, list[Candidate]]:
    """The place, and how it or what may be meant is called."""
    area = _Street(_of_postcode(asked.postcode))
    cities = _cities(asked, area.rows)
    named, number = _streets(asked, cities)
    streets = [(street, street.place(number)) for street in named]
    is_area = bool(area.rows) and (not asked.city or area.rows[0].city in cities)
    of_area = Located(area.middle, Precision.POSTCODE) if is_area and not area.is_large else None
    if not asked.name.key and asked.number and is_area and area.has_one_name:
        streets, number = [(area, area.place(asked.number))], asked.number
    likely = streets if len(streets) == 1 else [each for each in streets if each[0].has(number)]
    (street, place), is_one = likely[0] if likely else (None, None), len(likely) == 1
    if is_one and street and place and not (of_area and metres(place.point, of_area.point) > _FAR_M):
        return place, [(street.label(number), place.point)]
    if of_area and place is None and (is_one or not streets):
        return of_area, [(area.label(0), of_area.point)]
    meant = [(street.label(number), place.point if place else street.middle) for street, place in likely or streets]
    return None, [*meant, *([(area.label(0), area.middle)] if area.rows else [])][:_MOST_CANDIDATES]


def street_of(postcode: str) -> StreetOfPostcode | None:
    """Of a postcode of eight digits. Of one that no address has, what its region tells; None without a region."""
    rows = _of_postcode(postcode)
    if not rows:
        region = states.region_of(postcode)
        capital = region.name if region and region.kind is Kind.CAPITAL else ""
        return StreetOfPostcode("", "", capital, region.state) if region else None
    cities = {row.city.plain_name: row.city for row in rows}
    districts = {plain(row.district): row.district for row in rows}
    city = next(iter(cities.values())) if len(cities) == 1 else None
    return StreetOfPostcode(
        street=rows[0].name if _Street(rows).has_one_name else "",
        district=next(iter(districts.values())) if len(districts) == 1 else "",
        city=city.name if city else "",
        state=rows[0].city.state,
    )


class _Asked:
    """What an address says, in the words of the table."""

    def __init__(self, address: Mapping[str, str], *, is_search: bool = False) -> None:
        self.is_search = is_search
        texts = {name: address_words.one_line(value or "") for name, value in address.items()}
        first, *others = _PARTS.split(address_words.known_words(texts.get("street", "")))
        number = texts.get("number", "")
        if not number:  # an address in one line
            number = next(filter(address_words.house_number, others), "")
        self.name = street_names.read(first)
        if self.name.metres is None:
            parts = (number, *_PARTS.split(texts.get("street", "")))
            kilometre = next((text for text in parts if street_names.kilometre(text) is not None), "")
            self.name = street_names.read(f"{first} {kilometre}"[: street_names.LONGEST])
        self.number = self.name.metres or _digits(address_words.house_number(number))
        self.district = plain(texts.get("district", ""))
        self.postcode = states.postcode_of(texts.get("zipcode", ""))
        city, state = texts.get("city", ""), states.state_named(texts.get("state", ""))
        if (both := _CITY_AND_STATE.fullmatch(city[: street_names.LONGEST])) and both[2].upper() in states.STATES:
            city, state = both[1], state or both[2].upper()
        region = states.region_of(self.postcode)
        self.city, self.state = plain(city), state or (region.state if region else "")

    @property
    def names(self) -> Iterator[tuple[StreetName, int]]:
        """The name and the number, and if there is no number, with the last word as the number: `Rua Augusta 900`."""
        if self.name.key:
            yield self.name, self.number
        first, _space, last = self.name.key.rpartition(" ")
        if first and last.isdigit() and not self.number:
            whole = self.name.whole.rpartition(" ")[0]
            yield StreetName(first, self.name.kind, whole), int(last)


class _Street:
    """Rows that are one street, or all of one postcode. `near` are those that fit the address best."""

    def __init__(
        self, rows: Sequence[AddressStreet], near: Sequence[AddressStreet] = (), *, is_road: bool = False
    ) -> None:
        self.rows, self._near, self._is_road = rows, near or rows, is_road
        self._between_m = _BETWEEN_KILOMETRES_M if is_road else _BETWEEN_M
        self._behind = _BEHIND_KILOMETRES if is_road else _BEHIND

    @cached_property
    def _houses(self) -> list[House]:
        """Those that fit best come first among houses of one number."""
        rows = [*self._near, *(row for row in self.rows if row not in self._near)]
        return sorted((house for row in rows for house in row.each_house()), key=lambda house: house.number)

    def has(self, number: int) -> bool:
        return number > 0 and any(house.number == number for house in self._houses)

    def place(self, number: int) -> Located | None:
        """Of the house with this number, or else between its neighbours. None where the street has none near it."""
        if not number:
            return Located(self.middle, Precision.STREET)
        before: House | None = None
        for house in self._houses:
            if house.number == number:
                return Located(house.point, Precision.ROOFTOP if house.is_exact else Precision.STREET)
            if house.number > number:
                return self._between(before, house, number)
            before = house if house.number else None
        return self._at_end(before, number)

    def _between(self, before: House | None, after: House, number: int) -> Located | None:
        if before is None:
            return self._at_end(after, number)
        if metres(before.point, after.point) > self._between_m:
            return None
        share = (number - before.number) / (after.number - before.number)
        start, end = before.point, after.point
        point = Point(*(round(a + share * (b - a), 5) for a, b in zip(start, end, strict=True)))
        return Located(point, Precision.STREET)

    def _at_end(self, last: House | None, number: int) -> Located | None:
        if last is None or abs(last.number - number) > self._behind:
            return None
        return Located(last.point, Precision.STREET)

    @property
    def middle(self) -> Point:
        """Of the houses that fit best, the one in the middle."""
        latitude = sum(row.south + row.north for row in self._near) / 2 / len(self._near)
        longitude = sum(row.west + row.east for row in self._near) / 2 / len(self._near)
        houses = (house for row in self._near for house in row.each_house())
        return min(houses, key=lambda house: abs(house.latitude - latitude) + abs(house.longitude - longitude)).point

    @property
    def is_large(self) -> bool:
        south, west = min(row.south for row in self.rows), min(row.west for row in self.rows)
        north, east = max(row.north for row in self.rows), max(row.east for row in self.rows)
        corners = Point(south / UNITS, west / UNITS), Point(north / UNITS, east / UNITS)
        return len(self.rows) >= _MOST_ROWS or metres(*corners) > _LARGEST_POSTCODE_M

    @property
    def has_one_name(self) -> bool:
        return len({street_names.read(row.name).whole for row in self.rows}) == 1

    def label(self, number: int) -> str:
        has_it = (row for row in self._near if any(house.number == number for house in row.each_house()))
        row = next(has_it, self._near[0])
        postcode = states.with_hyphen(row.postcode)
        of_house = str(number) if number and not self._is_road else ""
        return ", ".join(filter(None, (row.name, of_house, row.district, str(row.city), postcode)))


def _digits(number: str) -> int:
    """Of a number such as `500B`, whose house stands beside 500."""
    return int("".join(filter(str.isdecimal, number)) or 0)


_CITIES = CompiledQuery(lambda: AddressCity.objects.filter(plain_name=Parameter("name")).order_by("pk"))
_OF_POSTCODE = CompiledQuery(
    lambda: (
        AddressStreet.objects.filter(postcode=Parameter("postcode")).select_related("city").order_by("pk")[:_MOST_ROWS]
    )
)
_OF_NAME = CompiledQuery(
    lambda: (
        AddressStreet.objects.filter(any_of("city", Parameter("cities")), key=Parameter("key"))
        .select_related("city")
        .order_by(Case(When(postcode=Parameter("postcode"), then=Value(0)), default=Value(1)), "pk")[:_MOST_ROWS]
    )
)


def _cities(asked: _Asked, of_postcode: Sequence[AddressStreet]) -> list[AddressCity]:
    if not asked.city and asked.is_search and not asked.postcode:
        return list(AddressCity.objects.order_by("-addresses")[:_MOST_CITIES])
    if not asked.city:
        return _cities_of(asked.postcode, of_postcode)
    return [city for city in _CITIES.all(name=asked.city) if asked.state in ("", city.state)]


def _cities_of(postcode: str, rows: Sequence[AddressStreet]) -> list[AddressCity]:
    """Those with the postcode, or else with one of the same first five digits, of which few begin in two cities."""
    if not postcode:
        return []
    if 0 < len(rows) < _MOST_ROWS:  # all that have it
        return list({row.city: None for row in rows})
    area = postcode[:5]
    fits = (
        {"streets__postcode": postcode},
        {"streets__postcode__gte": f"{area}000", "streets__postcode__lte": f"{area}999"},
    )
    return next(filter(None, (list(AddressCity.objects.filter(**each).distinct()) for each in fits)), [])


def _of_postcode(postcode: str) -> list[AddressStreet]:
    return _OF_POSTCODE.all(postcode=postcode) if postcode else []


def _streets(asked: _Asked, cities: Sequence[AddressCity]) -> tuple[list[_Street], int]:
    """The streets of these cities that the address may mean, and its number."""
    if not cities:
        return [], 0
    for name, number in asked.names:
        rows = _OF_NAME.all(cities=[city.pk for city in cities], key=name.key, postcode=asked.postcode)
        if rows:
            return list(_side_by_side(*_narrowed(rows, name, asked), is_road=name.metres is not None)), number
    return [], 0


def _narrowed(
    rows: Sequence[AddressStreet], name: StreetName, asked: _Asked
) -> tuple[Sequence[AddressStreet], Sequence[AddressStreet]]:
    """Rows of the name that is asked for as exactly as it is known, and those of them that fit the address best."""
    rows = _those(rows, lambda row: street_names.read(row.name).whole == name.whole)
    rows = _those(rows, lambda row: street_names.read(row.name).kind == name.kind)
    best = _those(rows, lambda row: row.postcode == asked.postcode)
    return rows, _those(best, lambda row: plain(row.district) == asked.district)


def _those(rows: Sequence[AddressStreet], fits: Callable[[AddressStreet], bool]) -> Sequence[AddressStreet]:
    return [row for row in rows if fits(row)] or rows


def _side_by_side(rows: Sequence[AddressStreet], best: Sequence[AddressStreet], *, is_road: bool) -> Iterator[_Street]:
    """A street for each group of rows that lie side by side and have one of the best among them."""
    left = list(rows)
    for first in best:
        if first not in left:
            continue
        left.remove(first)
        group = [first]
        for row in group:  # which grows
            near = [other for other in left if is_road or _are_near(row, other)]
            group += near
            left = [other for other in left if other not in near]
        yield _Street(group, [row for row in best if row in group], is_road=is_road)


def _are_near(one: AddressStreet, other: AddressStreet) -> bool:
    return (
        one.south - _GAP <= other.north
        and other.south - _GAP <= one.north
        and one.west - _GAP <= other.east
        and other.west - _GAP <= one.east
    )
