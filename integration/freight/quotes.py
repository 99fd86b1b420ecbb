"""Freight between two postcodes."""

from dataclasses import dataclass

from common.brazil.states import Region
from integration import postcodes
from integration.errors import NoCoverage
from integration.freight import calculation as freight
from integration.freight.calculation import Charges, Package, Parameters, Price, Rate, Service, Zone
from integration.freight.models import FreightParameters, FreightRate


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
    parameters, _zone, rates = _tariff(start, end)
    return Quote(start, end, freight.charges(package, rates.get(parameters.quote_service), parameters).price)


def services(*, origin: str, destination: str, package: Package) -> dict[Service, Price]:
    """The price of every service that the tariff has between two postcodes, in the order of `Service`.

    Raises NoCoverage if there is none, or TooHeavy.
    """
    start, end = postcodes.region(origin), postcodes.region(destination)
    parameters, _zone, rates = _tariff(start, end)
    if not rates:
        raise NoCoverage("Região sem cobertura: não há tarifa para este trecho")
    return {
        service: freight.charges(package, rates[service], parameters).price for service in Service if service in rates
    }


def of_service(*, origin: str, destination: str, service: Service, package: Package) -> Price:
    """The price of one service between two postcodes. Raises NoCoverage if it is not offered there, or TooHeavy."""
    start, end = postcodes.region(origin), postcodes.region(destination)
    parameters, _zone, rates = _tariff(start, end)
    return freight.charges(package, rates.get(service), parameters).price


@dataclass(frozen=True)
class Explanation:
    """Why a freight costs what it costs. `charges` by service; None: the tariff has no rate for it."""

    origin: Region
    destination: Region
    zone: Zone
    parameters: Parameters
    charges: dict[Service, Charges | None]

    def rates(self) -> dict[str, FreightRate]:
        """The rows of the table that were used, by service."""
        rows = FreightRate.objects.filter(
            zone=self.zone, origin_kind=self.origin.kind, destination_kind=self.destination.kind
        )
        return {row.service: row for row in rows}


def explain(*, origin: str, destination: str, package: Package) -> Explanation:
    """The parts of the price of every service, by the functions that price quotes. Raises NoCoverage or TooHeavy."""
    start, end = postcodes.region(origin), postcodes.region(destination)
    parameters, zone, rates = _tariff(start, end)
    charges = {
        service: freight.charges(package, rates[service], parameters) if service in rates else None
        for service in Service
    }
    return Explanation(start, end, zone, parameters, charges)


def _tariff(start: Region, end: Region) -> tuple[Parameters, Zone, dict[Service, Rate]]:
    """The parameters in force, the zone of two regions, and the rate of each service that the tariff covers there."""
    parameters, rates = FreightParameters.current_with_rates(start, end)
    zone = freight.zone(start, end, remote_states=parameters.remote_states)
    return parameters, zone, {service: rate for (of_zone, service), rate in rates.items() if of_zone == zone}
