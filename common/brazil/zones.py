"""The time zones of Brazil: that of a place, and how people are told of it.

The lines between them are rounded to a tenth of a degree (11 km). Near one of them the state of the address decides.
"""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from datetime import datetime, tzinfo
from string import digits
from typing import Any, Protocol
from zoneinfo import ZoneInfo

from django.utils import timezone
from django.utils.translation import gettext as _

from common.brazil.states import STATES, may_lie_in, region_of, state_named

# Of Brazil. Their clocks differ, or have differed in years with a summer time.
ZONES = [
    ("America/Noronha", "Fernando de Noronha"), ("America/Sao_Paulo", "Brasília, São Paulo"),
    ("America/Bahia", "Salvador"), ("America/Maceio", "Maceió, Aracaju"), ("America/Recife", "Recife"),
    ("America/Fortaleza", "Fortaleza"), ("America/Belem", "Belém"), ("America/Araguaina", "Palmas"),
    ("America/Santarem", "Santarém"), ("America/Campo_Grande", "Campo Grande"), ("America/Cuiaba", "Cuiabá"),
    ("America/Porto_Velho", "Porto Velho"), ("America/Manaus", "Manaus"), ("America/Boa_Vista", "Boa Vista"),
    ("America/Eirunepe", "Eirunepé"), ("America/Rio_Branco", "Rio Branco"),
]  # fmt: skip  # a table
_CITIES = {zone: cities.partition(",")[0] for zone, cities in ZONES}
# Latitudes and longitudes of a line from south to north, between two of which it is straight. West of the first line
# clocks are an hour behind those of Brasília, west of the second one two hours.
_Line = Sequence[tuple[float, float]]
_AMAZON: _Line = (
    (-24.1, -54.2), (-23.5, -54.0), (-23.4, -53.8), (-22.9, -53.5), (-22.5, -53.0), (-22.1, -52.4), (-21.5, -52.0),
    (-20.9, -51.6), (-20.5, -51.4), (-20.1, -51.0), (-19.3, -51.1), (-18.9, -52.1), (-18.5, -52.9), (-18.1, -53.1),
    (-17.4, -53.2), (-17.0, -53.0), (-16.5, -52.6), (-16.1, -52.4), (-15.7, -51.8), (-15.3, -51.7), (-15.0, -51.2),
    (-14.5, -51.0), (-13.5, -50.7), (-13.0, -50.5), (-12.7, -50.6), (-10.6, -50.6), (-9.9, -50.3), (-9.3, -56.8),
    (-8.7, -57.6), (-7.9, -57.8), (-7.3, -58.2), (-6.9, -58.4), (-6.7, -58.5), (-6.4, -58.2), (-2.3, -56.4),
    (-2.1, -56.1), (-1.9, -57.0), (-1.7, -57.3), (-1.3, -58.0), (-0.8, -58.6), (-0.2, -58.9), (5.3, -58.9),
)  # fmt: skip  # a table
_ACRE: _Line = ((-11.2, -66.4), (-10.0, -66.4), (-9.9, -66.6), (-9.7, -67.1), (-9.6, -67.5), (-4.2, -69.9))
_POSTCODES_OF_NORONHA = "53990"
_ATLANTIC_LONGITUDE = -34.3  # east of it are islands only


class Place(Protocol):
    """What is somewhere, such as a stop."""

    @property
    def zone(self) -> tzinfo: ...


def of_place(latitude: float, longitude: float, address: Mapping[str, Any] | None = None) -> ZoneInfo:
    """The zone of decimal degrees in Brazil, with the state that the address names where they may lie in it."""
    state = _state(address or {})
    if longitude > _ATLANTIC_LONGITUDE:
        return ZoneInfo("America/Noronha")
    if state and may_lie_in(state, latitude, longitude):
        is_far_west = state == "AM" and _is_west(latitude, longitude, _ACRE)
        return ZoneInfo("America/Eirunepe" if is_far_west else STATES[state].zone)
    if _is_west(latitude, longitude, _ACRE):
        return ZoneInfo("America/Rio_Branco")
    return ZoneInfo("America/Manaus" if _is_west(latitude, longitude, _AMAZON) else "America/Sao_Paulo")


def of_address(address: Mapping[str, Any]) -> ZoneInfo:
    """The zone of most of the state of an address without coordinates; that of the installation without a state."""
    if _postcode(address).startswith(_POSTCODES_OF_NORONHA):
        return ZoneInfo("America/Noronha")
    state = _state(address)
    return ZoneInfo(STATES[state].zone if state else timezone.get_default_timezone_name())


def _state(address: Mapping[str, Any]) -> str:
    """The code of the state that an address names, or else of its postcode; empty without any."""
    region = region_of(_postcode(address))
    return state_named(str(address.get("state") or "")) or (region.state if region else "")


def _postcode(address: Mapping[str, Any]) -> str:
    text = str(address.get("zipcode") or address.get("zipCode") or "")
    return "".join(sign for sign in text if sign in digits)


def _is_west(latitude: float, longitude: float, line: _Line) -> bool:
    """Whether a place is west of a line, at a latitude that the line reaches."""
    index = bisect_right(line, (latitude, longitude))
    if not 0 < index < len(line):
        return False
    (south, begin), (north, end) = line[index - 1], line[index]
    return longitude < begin + (end - begin) * (latitude - south) / (north - south)


def name(zone: tzinfo, *, at: datetime) -> str:
    """Whose time it is, such as `Manaus time`; empty where the clocks of the installation show the same at `at`."""
    if at.astimezone(zone).utcoffset() == at.astimezone(timezone.get_default_timezone()).utcoffset():
        return ""
    return called(zone)


def called(zone: tzinfo | None = None) -> str:
    """Whose time it is, such as `Manaus time`, for what is read without a frame that says so. None: the active zone."""
    return _("%(city)s time") % {"city": city(zone or timezone.get_current_timezone())}


def by_clocks() -> str:
    """In which zone a moment without an offset is read, for who types one: the active one."""
    return _("By the clocks of %(zone)s.") % {"zone": city(timezone.get_current_timezone())}


def city(zone: tzinfo) -> str:
    """The city that a zone is called by."""
    return _CITIES.get(str(zone), str(zone).rpartition("/")[2].replace("_", " "))
