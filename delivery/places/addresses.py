"""Addresses without coordinates: located by the geocoder, and remembered, or without one in the table of addresses."""

import json
import logging
from collections.abc import Hashable, Mapping
from datetime import datetime
from uuid import UUID

from django.conf import settings
from django.utils.crypto import salted_hmac

from delivery.errors import AddressNotLocated, GeocoderUnavailable
from delivery.geo.distance import Point
from delivery.places import address_table, geocoding
from delivery.places.geocoding import GeocodingFailed, Located
from delivery.places.models import KEPT, LocatedAddress

_LANGUAGE = "pt-BR"
_MOST_CANDIDATES = 3
_log = logging.getLogger(__name__)


def locate(*, addresses: Mapping[int, Mapping[str, str]], account: UUID, at: datetime) -> dict[int, Located]:
    """Where these addresses are, by their keys.

    Asks the geocoder for those that are not remembered; without one, the table of addresses for all.

    `account`: the id of the integrator who has sent them, because failures of one are not those of others.

    Raises AddressNotLocated, or GeocoderUnavailable without an answer within two seconds.
    """
    if not addresses:
        return {}
    if not settings.GEOCODER_URL:
        return _in_table(addresses)
    asked = {index: geocoding.asked_of(address) for index, address in addresses.items()}
    digests = {index: _digest(each) for index, each in asked.items()}
    remembered = LocatedAddress.objects.filter(digest__in=digests.values(), created_at__gt=at - KEPT)
    known = {bytes(row.digest): row.place for row in remembered}
    unknown = {digests[index]: each for index, each in asked.items() if digests[index] not in known}
    found = _search(unknown, account)
    chosen = {digest: geocoding.choose(found[digest], each) for digest, each in unknown.items()}
    located = {digest: place for digest, place in chosen.items() if place is not None}
    _remember(located, at=at)
    known |= located
    if missing := [index for index in addresses if digests[index] not in known]:
        raise AddressNotLocated(
            {
                index: [(each.label, each.point) for each in found[digests[index]][:_MOST_CANDIDATES]]
                for index in missing
            }
        )
    return {index: known[digest] for index, digest in digests.items()}


def can_locate() -> bool:
    """Whether there is anything that knows addresses."""
    return bool(settings.GEOCODER_URL) or address_table.is_filled()


def search(text: str, *, language: str, account: Hashable) -> list[tuple[str, Point]]:
    """The places of an address or a CEP as people type it, with their names, the best first.

    `account`: for whom it is asked. Raises GeocodingFailed.
    """
    if settings.GEOCODER_URL:
        found = geocoding.search(settings.GEOCODER_URL, text, language=language, account=account)
        return [(each.label, each.point) for each in found]
    return address_table.search(text[: geocoding.LONGEST])


def _in_table(addresses: Mapping[int, Mapping[str, str]]) -> dict[int, Located]:
    found = {index: address_table.find(address) for index, address in addresses.items()}
    if unclear := {index: each for index, each in found.items() if not isinstance(each, Located)}:
        raise AddressNotLocated(unclear)
    return {index: each for index, each in found.items() if isinstance(each, Located)}


def _search(asked: Mapping[bytes, Mapping[str, str]], account: UUID) -> dict[bytes, list[geocoding.Found]]:
    queries = list(map(geocoding.query_of, asked.values()))
    try:
        found = geocoding.search_all(settings.GEOCODER_URL, queries, language=_LANGUAGE, account=account)
    except GeocodingFailed as error:
        _log.warning("An address was not located. %s", error)
        raise GeocoderUnavailable from error
    return dict(zip(asked, found, strict=True))


def _remember(located: Mapping[bytes, Located], *, at: datetime) -> None:
    """Write the places, in the order of their digests, so that calls for the same addresses cannot deadlock."""
    LocatedAddress.objects.bulk_create(
        (
            LocatedAddress(
                digest=digest,
                latitude=place.point.latitude,
                longitude=place.point.longitude,
                precision=place.precision.value,
                created_at=at,
            )
            for digest, place in sorted(located.items())
        ),
        update_conflicts=True,
        unique_fields=["digest"],
        update_fields=["latitude", "longitude", "precision", "created_at"],
    )


def _digest(asked: Mapping[str, str]) -> bytes:
    """Of exactly what is asked: another spelling may be another place, and one account must not choose it for others.

    Keyed, so that the table does not tell whether an address is in it.
    """
    return salted_hmac("delivery.LocatedAddress", json.dumps(asked), algorithm="sha256").digest()
