"""Regions of postcodes, and the price of a shipment by the tariff in the database."""

import csv
from bisect import bisect_right
from collections.abc import Mapping
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple

from area_b_bodies import QuoteIn
from errors import in_area_b

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
    for row in _rows("common/brazil/data/postcodes.csv")
)
_STARTS = [start for start, _end, _region in _RANGES]
_MACRO_REGIONS = {row["uf"]: row["macro_region"] for row in _rows("common/brazil/data/states.csv")}
_ZONES = {
    (row["origin_macro_region"], row["dest_macro_region"]): row["zone_if_different_uf"]
    for row in _rows("integration/freight/data/zones.csv")
}


def region(postcode: str) -> Region:
    index = bisect_right(_STARTS, postcode) - 1
    if index < 0 or postcode > _RANGES[index][1]:
        raise in_area_b(400, f"CEP {postcode} sem cobertura")
    return _RANGES[index][2]


def zone(origin: Region, destination: Region) -> str:
    """The zone if neither state is remote."""
    if origin.state == destination.state:
        return "local" if origin.kind == destination.kind == "capital" else "state"
    return _ZONES[_MACRO_REGIONS[origin.state], _MACRO_REGIONS[destination.state]]


def amount(body: QuoteIn, rate: Mapping[str, Any]) -> int:
    """The price in centavos, by a row of the rate and the parameters."""
    declared = body.declared_amount or 0
    steps = max(_divide_up(_charged_grams(body, rate), rate["weight_rounding_g"]), 1)
    freight = rate["base_centavos"] + (steps - 1) * rate["extra_kg_centavos"]
    insured = max(declared - rate["ad_valorem_free_centavos"], 0)
    insurance = _divide_up(insured * rate["ad_valorem_bp"], 10_000)
    risk = _divide_up(declared * rate["gris_bp"], 10_000)
    return int(max(freight, rate["minimum_charge_centavos"]) + insurance + risk)


def _charged_grams(body: QuoteIn, rate: Mapping[str, Any]) -> int:
    weight = rate["default_weight_g"] if body.weight is None else ceil(body.weight * 1000)
    if weight > rate["max_weight_g"]:
        raise in_area_b(400, "Peso acima do limite: sem cobertura")
    cubed = 0
    if body.width and body.height and body.length:
        volume = int(body.width) * int(body.height) * int(body.length)
        cubed = _divide_up(volume * 1000, rate["cubic_divisor_cm3_per_kg"])
    return int(max(weight, cubed) if cubed > rate["cubic_threshold_g"] else weight)


def _divide_up(number: int, divisor: int) -> int:
    return -(-number // divisor)
