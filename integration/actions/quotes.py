"""Freight between two postcodes."""

from dataclasses import dataclass

from integration import freight, postcodes
from integration.freight import Package, Price
from integration.models import FreightParameters, FreightRate
from integration.postcodes import Region


@dataclass(frozen=True)
class Quote:
    """A price and the two regions it is for."""

    origin: Region
    destination: Region
    price: Price


def quote(*, origin: str, destination: str, package: Package) -> Quote:
    """Price by the tariff in force, between two postcodes of eight digits.

    Raises NoCoverage for a postcode that is not assigned or a pair of regions without a rate, TooHeavy over the maximum
    weight.
    """
    start, end = postcodes.region(origin), postcodes.region(destination)
    parameters = FreightParameters.current()
    zone = freight.zone(start, end, remote_states=parameters.remote_states)
    row = FreightRate.objects.all().between(start, end, zone=zone, service=parameters.quote_service)
    return Quote(start, end, freight.price(package, row.rate if row else None, parameters))
