"""Addresses to coordinates by a server with the search of Nominatim, and coordinates in what people paste."""

import re
from dataclasses import dataclass
from functools import cache, partial
from http import HTTPStatus

import requests

from common.deadlines import BoundedCalls, DeadlinePassed, TooManyCalls
from delivery.geo.distance import Point

_SECONDS = 3
_MOST_FOUND = 5
_LONGEST_QUERY = 200
_LONGEST_LINK = 2000
_LARGEST_ANSWER = 256 * 1024
# The timeout of requests applies to connecting and to each read. This deadline applies to the whole call.
_calls = BoundedCalls(most=2, seconds=_SECONDS)

# The place of a Google Maps link, the middle of its map, and coordinates as other maps write them. The first that is
# found counts: a link's place is more exact than its middle.
_PLACE = re.compile(r"!3d(-?\d{1,3}(?:\.\d{1,20})?)!4d(-?\d{1,3}(?:\.\d{1,20})?)")
_PAIR = re.compile(r"(-?\d{1,3}(?:\.\d{1,20})?)(?:, ?|%2C|/|;| )(?=(-?\d{1,3}(?:\.\d{1,20})?))")


class GeocodingFailed(Exception):
    """The server did not answer in time with a list of places. The message says why."""


@dataclass(frozen=True)
class Found:
    """A place with its address as the server writes it."""

    label: str
    point: Point


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


def search(url: str, query: str, *, language: str) -> list[Found]:
    """The places in Brazil that the server at `url` knows for an address or a CEP, at most five, the best first.

    Raises GeocodingFailed without an answer within 3 s. Source: Nominatim's API, GET /search with format=jsonv2.
    """
    query = query.strip()[:_LONGEST_QUERY]
    if not query:
        return []
    try:
        response = _calls.run(partial(_get, url, query, language))
        if response.status_code != HTTPStatus.OK or len(response.content) > _LARGEST_ANSWER:
            raise GeocodingFailed(f"status {response.status_code}, {len(response.content)} bytes")
        found = [
            Found(str(row["display_name"])[:300], Point(float(row["lat"]), float(row["lon"])))
            for row in response.json()[:_MOST_FOUND]
        ]
    except requests.RequestException as error:  # its text has the URL, and so the address
        raise GeocodingFailed(type(error).__name__) from error
    except (ValueError, TypeError, LookupError) as error:
        raise GeocodingFailed(str(error)) from error
    except (DeadlinePassed, TooManyCalls) as error:
        raise GeocodingFailed(f"{type(error).__name__} {error}") from error
    return [place for place in found if place.point.is_on_earth]


def _get(url: str, query: str, language: str) -> requests.Response:
    return _session().get(
        f"{url.rstrip('/')}/search",
        params={"q": query, "format": "jsonv2", "limit": str(_MOST_FOUND), "countrycodes": "br"},
        headers={"Accept-Language": language},
        timeout=_SECONDS,
        allow_redirects=False,  # addresses go to the configured server only
    )


@cache
def _session() -> requests.Session:
    """The HTTP session of this process. Nominatim asks for a User-Agent that names the application."""
    session = requests.Session()
    session.trust_env = False
    session.headers["User-Agent"] = "Rota"
    return session
