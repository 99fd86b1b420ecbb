"""Freight between two postcodes."""

from dataclasses import dataclass

from integration import freight, postcodes
from integration.errors import NoCoverage
from integration.freight import Package, Parameters, Price, Rate, Service
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
    rate = _rates(start, end, parameters).get(parameters.quote_service)
    return Quote(start, end, freight.price(package, rate, parameters))


def services(*, origin: str, destination: str, package: Package) -> dict[Service, Price]:
    """The price of every service that the tariff has between two postcodes, in the order of `Service`.

    Raises NoCoverage if there is none, and otherwise what `quote` raises.
    """
    start, end = postcodes.region(origin), postcodes.region(destination)
    parameters = FreightParameters.current()
    rates = _rates(start, end, parameters)
    if not rates:
        raise NoCoverage("Região sem cobertura: não há tarifa para este trecho")
    return {service: freight.price(package, rates[service], parameters) for service in Service if service in rates}


def _rates(start: Region, end: Region, parameters: Parameters) -> dict[Service, Rate]:
    zone = freight.zone(start, end, remote_states=parameters.remote_states)
    return {Service(row.service): row.rate for row in FreightRate.between(start, end, zone=zone)}
