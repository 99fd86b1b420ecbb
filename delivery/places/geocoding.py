"""Addresses to coordinates by a server with the search of Nominatim or Photon, and coordinates in what people paste."""

import json
import re
import time
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, partial
from http import HTTPStatus
from typing import Any

import requests
from urllib3.exceptions import HTTPError

from common.brazil import states
from common.brazil.municipalities import plain
from common.workers.deadlines import BoundedCalls, DeadlinePassed, TooManyCalls
from delivery.geo.distance import Point, metres
from delivery.places import address_words

_SECONDS = 2
# After so many failures in a row of an account, or failures of so many accounts, the server is not asked for so many
# seconds, by the account or by all.
_MOST_FAILURES = 3
_REST_SECONDS = 10  # as the Retry-After of errors.GeocoderUnavailable
_ALL = object()  # stands for all accounts
_MOST_FOUND = 5
LONGEST = 400  # characters of a query and of a text of the server
_LONGEST_LINK = 2000
_LARGEST_ANSWER = 256 * 1024
_READ_AT_ONCE = 16 * 1024
_SAME_PLACE_M = 500
# The timeout of requests applies to connecting and to each read. This deadline applies to the whole call.
# An account has half of the places, which are two requests for three drop-offs.
_calls = BoundedCalls(most=12, seconds=_SECONDS, each=6)
# Of Nominatim: ranks of houses and of what stands at one point, and of streets.
_HOUSE, _STREETS = 30, (26, 27)
# Keys with the name of a city, and of what cities are in.
_CITIES = ("city", "town", "village", "municipality")
_LARGER = ("state", "country")
# Of an address, what is asked beside street and number.
_OTHERS = ("district", "city", "state", "zipcode")

# The place of a Google Maps link, the middle of its map, and coordinates as other maps write them. The first that is
# found counts: a link's place is more exact than its middle.
_PLACE = re.compile(r"!3d(-?\d{1,3}(?:\.\d{1,20})?)!4d(-?\d{1,3}(?:\.\d{1,20})?)")
_PAIR = re.compile(r"(-?\d{1,3}(?:\.\d{1,20})?)(?:, ?|%2C|/|;| )(?=(-?\d{1,3}(?:\.\d{1,20})?))")


class GeocodingFailed(Exception):
    """The server did not answer in time with places, or is not asked after failures. The message says why."""


class Precision(StrEnum):
    """How exactly an address was located: at its house, in its street, or in the area of its postcode."""

    ROOFTOP = "rooftop"
    STREET = "street"
    POSTCODE = "postcode"


@dataclass(frozen=True)
class Found:
    """A place with its address as the server writes it.

    `number` is None if the server tells no parts of addresses, and empty if the place is no house. `within`: the city
    and its parts that the place is in, as `plain` has them; none if the city is unknown.
    """

    label: str
    point: Point
    is_house: bool = False
    is_street: bool = False
    is_postcode: bool = False
    street: str = ""
    number: str | None = None
    postcode: str = ""
    within: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Located:
    """Where an address is."""

    point: Point
    precision: Precision


def point_in(text: str) -> Point | None:
    """The coordinates in a text: `-23.56, -46.65`, or a link to a place of Google Maps, OpenStreetMap or another map.

    None if it contains none, such as a shortened link.
    """
    if len(text) > _LONGEST_LINK:
        return None
    is_link = "://" in text or text.startswith("geo:")
    for pattern in (_PLACE, _PAIR):
        for found in pattern.finditer(text):
            # A link contains other pairs of numbers, such as the version of something: a coordinate has a fraction.
            if is_link and not ("." in found[1] and "." in found[2]):
                continue
            point = Point(float(found[1]), float(found[2]))
            if point.is_on_earth:
                return point
    return None


def search(url: str, query: str, *, language: str, account: Hashable) -> list[Found]:
    """The places that the server at `url` knows for an address or a CEP, at most five, the best first.

    `account`: for whom it is asked. Raises GeocodingFailed without an answer within two seconds.
    """
    asked = address_words.known_words(query[:LONGEST])
    (found,) = search_all(url, [asked], language=language, account=account)
    return found


def search_all(url: str, queries: Sequence[str], *, language: str, account: Hashable) -> list[list[Found]]:
    """What `search` finds for each query, asked at the same time."""
    return _server(url).search([_clean(query) for query in queries], language, account)


def asked_of(address: Mapping[str, str]) -> dict[str, str]:
    """What the geocoder is asked for an address with the keys of the API; what it finds depends on nothing else."""
    others = {name: address_words.one_line(address.get(name) or "") for name in _OTHERS}
    street = address_words.known_words(address.get("street") or "")
    return {"street": street, "number": address_words.house_number(address.get("number") or ""), **others}


def query_of(asked: Mapping[str, str]) -> str:
    """The address of `asked_of` as people write it."""
    street = " ".join(filter(None, (asked["street"], asked["number"])))
    return ", ".join(filter(None, (street, *(asked[name] for name in _OTHERS))))


def choose(found: Sequence[Found], address: Mapping[str, str]) -> Located | None:
    """The place that these results of `query_of` agree on. None if the best of them are places apart, or are too vague.

    A place counts if it has the address's street and city, as far as both are known, and may lie in its state.
    """
    graded = [(_precision(each, address), each) for each in found if _agrees(each, address)]
    for precision in Precision:
        places = [each for graded_as, each in graded if graded_as is precision]
        if places:
            wanted = states.postcode_of(address["zipcode"])
            exact = [each for each in places if wanted and states.postcode_of(each.postcode) == wanted]
            first, *others = [each.point for each in exact or places]
            agree = all(metres(first, other) <= _SAME_PLACE_M for other in others)
            return Located(Point(round(first.latitude, 7), round(first.longitude, 7)), precision) if agree else None
    return None


def _precision(found: Found, address: Mapping[str, str]) -> Precision | None:
    if found.is_postcode:
        wanted = states.postcode_of(address["zipcode"])
        is_that = not wanted or not found.postcode or states.postcode_of(found.postcode) == wanted
        return Precision.POSTCODE if is_that else None
    if found.is_house:
        return Precision.ROOFTOP if _is_of_house(found.number, address) else Precision.STREET
    return Precision.STREET if found.is_street else None


def _is_of_house(number: str | None, address: Mapping[str, str]) -> bool:
    """Whether the number of a place, None if it is not told, is that of the address."""
    if number is None:
        return bool(address["number"])
    if address["number"]:
        return address_words.house_number(number) == address["number"]
    # Without a number of its own, the street's text may end in it. Streets have numbers in their names too.
    return plain(number) in _street_words(address)


def _agrees(found: Found, address: Mapping[str, str]) -> bool:
    """Whether the place is in the address's state, city and street, of which the last word counts: `Av. Paulista`."""
    region = states.region_of(address["zipcode"])
    state = states.state_named(address["state"]) or (region.state if region else "")
    if state and not states.may_lie_in(state, found.point.latitude, found.point.longitude):
        return False
    city, street = plain(address["city"]), plain(found.street).split()
    if city and found.within and city not in found.within:
        return False
    return not address["street"] or not street or street[-1] in _street_words(address)


def _street_words(address: Mapping[str, str]) -> list[str]:
    return plain(f"{address['street']} {address['number']}").split()


class _Server:
    """The server at one URL, as this process knows it: which of the searches it has, and whether it fails."""

    def __init__(self, url: str) -> None:
        self._url, self._path = url.rstrip("/"), "/search"
        # Failures in a row by account, and the accounts of all failures since the last success.
        self._failures: Counter[Hashable] = Counter()
        self._failed: set[Hashable] = set()
        self._rests_until: dict[Hashable, float] = {}  # by account, and of all

    def search(self, queries: Sequence[str], language: str, account: Hashable) -> list[list[Found]]:
        asked = [query for query in queries if query]
        if not asked:
            return [[] for _query in queries]
        if time.monotonic() < max(self._rests_until.get(each, 0) for each in (account, _ALL)):
            raise GeocodingFailed(f"it has failed and is not asked for {_REST_SECONDS} s")
        try:
            found = iter(_calls.run_all([partial(self._ask, query, language) for query in asked], account=account))
        except TooManyCalls as error:
            raise GeocodingFailed(f"TooManyCalls {error}") from error
        except (GeocodingFailed, DeadlinePassed) as error:
            self._count_failure(account)
            raise GeocodingFailed(str(error)) from error
        self._failed = set()
        self._failures.pop(account, None)
        return [next(found) if query else [] for query in queries]

    def _count_failure(self, account: Hashable) -> None:
        """One account's addresses may fail alone. Once several accounts' do, the server is what fails."""
        self._failures[account] += 1
        self._failed = {*self._failed, account}
        rests_until = time.monotonic() + _REST_SECONDS
        if self._failures[account] >= _MOST_FAILURES:
            self._rests_until[account] = rests_until
        if len(self._failed) >= _MOST_FAILURES:
            self._rests_until[_ALL] = rests_until

    def _ask(self, query: str, language: str) -> list[Found]:
        path = self._path
        try:
            status, body = self._get(path, query, language)
            if status == HTTPStatus.NOT_FOUND and path == "/search":
                path = "/api"
                status, body = self._get(path, query, language)
        except (requests.RequestException, HTTPError) as error:  # its text has the URL, and so the address
            raise GeocodingFailed(type(error).__name__) from error
        if status == HTTPStatus.BAD_REQUEST:  # it cannot read the text, which says nothing about its state
            return []
        if status != HTTPStatus.OK:
            raise GeocodingFailed(f"status {status}")
        try:
            found = [place for place in _read(json.loads(body)) if place.point.is_on_earth]
        except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError) as error:
            raise GeocodingFailed(f"no list of places: {type(error).__name__}") from error
        self._path = path
        return found

    def _get(self, path: str, query: str, language: str) -> tuple[int, bytes]:
        """Status and body. Raises GeocodingFailed for a body that is too large or slow.

        Sources: Nominatim, GET /search with format=jsonv2; Photon, GET /api, which refuses parameters that it does not
        know.
        """
        ends_at = time.monotonic() + _SECONDS
        parameters = {"q": query, "limit": str(_MOST_FOUND)}
        if path == "/search":
            parameters |= {"format": "jsonv2", "countrycodes": "br", "addressdetails": "1"}
        with _session().get(
            f"{self._url}{path}",
            params=parameters,
            headers={"Accept-Language": language},
            timeout=_SECONDS,
            stream=True,
            allow_redirects=False,  # addresses go to the configured server only
        ) as response:
            body = bytearray()
            while chunk := response.raw.read1(_READ_AT_ONCE):
                body += chunk
                if len(body) > _LARGEST_ANSWER or time.monotonic() > ends_at:
                    raise GeocodingFailed(f"{len(body)} bytes are too many, or too slow")
        return response.status_code, bytes(body)


_server = cache(_Server)


def _read(answer: Any) -> Iterator[Found]:
    """The places of an answer: Nominatim's is a list, Photon's a collection of GeoJSON."""
    if isinstance(answer, list):
        yield from map(_of_nominatim, answer[:_MOST_FOUND])
    else:
        yield from map(_of_photon, answer["features"][:_MOST_FOUND])


def _of_nominatim(row: Any) -> Found:
    parts, rank, kinds = row.get("address"), row.get("place_rank"), (row.get("addresstype"), row.get("type"))
    texts = _texts(parts or {})
    return Found(
        label=_clean(row["display_name"]),
        point=Point(float(row["lat"]), float(row["lon"])),
        is_house=rank == _HOUSE or "house" in kinds or "house_number" in texts,
        is_street=rank in _STREETS or "road" in kinds or "road" in texts,
        is_postcode="postcode" in kinds,
        street=texts.get("road", ""),
        number=None if parts is None else texts.get("house_number", ""),
        postcode=texts.get("postcode", ""),
        within=_within(texts),
    )


def _of_photon(feature: Any) -> Found:
    texts = _texts(feature["properties"])
    longitude, latitude = feature["geometry"]["coordinates"][:2]
    kind, name = texts.get("type"), texts.get("name", "")
    street = texts.get("street", name if kind == "street" else "")
    named = (
        " ".join(filter(None, (street or name, texts.get("housenumber")))),
        *(texts.get(key) for key in ("district", "city", "state", "postcode", "country")),
    )
    return Found(
        label=_clean(", ".join(filter(None, named))),
        point=Point(float(latitude), float(longitude)),
        is_house=kind == "house",
        is_street=bool(street),
        is_postcode="postcode" in (texts.get("osm_value"), kind),
        street=street,
        number=texts.get("housenumber", ""),
        postcode=texts.get("postcode", ""),
        within=_within(texts),
    )


def _within(texts: Mapping[str, str]) -> frozenset[str]:
    """The names of a city and its parts; none if the city is unknown."""
    if not any(key in texts for key in _CITIES):
        return frozenset()
    return frozenset(plain(text) for key, text in texts.items() if key not in _LARGER)


def _texts(parts: Mapping[str, Any]) -> dict[str, str]:
    return {key: _clean(value) for key, value in parts.items() if isinstance(value, str)}


def _clean(text: Any) -> str:
    """Text that JSON and PostgreSQL can hold, at most 400 characters of it."""
    return str(text)[:LONGEST].replace("\0", " ").encode(errors="replace").decode()


@cache
def _session() -> requests.Session:
    """The HTTP session of this process. Nominatim asks for a User-Agent that names the application."""
    session = requests.Session()
    session.trust_env = False
    session.headers.update({"User-Agent": "Rota", "Accept-Encoding": "identity"})
    return session
