"""Regions of postcodes, and the price of a shipment by the tariff in the database."""

import csv
from bisect import bisect_right
from decimal import ROUND_CEILING
from pathlib import Path
from typing import NamedTuple

from integration_bodies import QuoteIn
from integration_errors import Refused
from integration_tables import FreightParameters, FreightRate

_ROOT = Path(__file__).parents[2]


class Region(NamedTuple):
    state: str
    kind: str
    name: str


def _rows(file: str) -> list[dict[str, str]]:
    with (_ROOT / file).open(encoding="utf-8", newline="") as table:
        return list(csv.DictReader(table))


_RANGES = sorted(
    (row["start"], row["end"], Region(row["uf"], row["kind"], row["name"]))
    for row in _rows("common/data/postcodes.csv")
)
_STARTS = [start for start, _end, _region in _RANGES]
_MACRO_REGIONS = {row["uf"]: row["macro_region"] for row in _rows("common/data/states.csv")}
_ZONES = {
    (row["origin_macro_region"], row["dest_macro_region"]): row["zone_if_different_uf"]
    for row in _rows("integration/data/zones.csv")
}


def region(postcode: str) -> Region:
    index = bisect_right(_STARTS, postcode) - 1
    if index < 0 or postcode > _RANGES[index][1]:
        raise Refused(400, f"CEP {postcode} sem cobertura")
    return _RANGES[index][2]


def zone(origin: Region, destination: Region, parameters: FreightParameters) -> str:
    if origin.state == destination.state:
        return "local" if origin.kind == destination.kind == "capital" else "state"
    if {origin.state, destination.state} & set(parameters.remote_states):
        return "remote"
    return _ZONES[_MACRO_REGIONS[origin.state], _MACRO_REGIONS[destination.state]]


def amount(body: QuoteIn, rate: FreightRate, parameters: FreightParameters) -> int:
    """The price in centavos."""
    declared = body.declared_amount or 0
    steps = max(_divide_up(_charged_grams(body, parameters), parameters.weight_rounding_g), 1)
    freight = rate.base_centavos + (steps - 1) * rate.extra_kg_centavos
    insured = max(declared - parameters.ad_valorem_free_centavos, 0)
    insurance = _divide_up(insured * parameters.ad_valorem_bp, 10_000)
    risk = _divide_up(declared * parameters.gris_bp, 10_000)
    return max(freight, parameters.minimum_charge_centavos) + insurance + risk


def _charged_grams(body: QuoteIn, parameters: FreightParameters) -> int:
    weight = parameters.default_weight_g
    if body.weight is not None:
        weight = int((body.weight * 1000).to_integral_value(ROUND_CEILING))
    if weight > parameters.max_weight_g:
        raise Refused(400, "Peso acima do limite: sem cobertura")
    cubed = 0
    if body.width and body.height and body.length:
        volume = int(body.width) * int(body.height) * int(body.length)
        cubed = _divide_up(volume * 1000, parameters.cubic_divisor_cm3_per_kg)
    return max(weight, cubed) if cubed > parameters.cubic_threshold_g else weight


def _divide_up(number: int, divisor: int) -> int:
    return -(-number // divisor)
