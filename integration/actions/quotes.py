"""What a shipment costs between two postcodes."""

from dataclasses import dataclass

from integration import freight, postcodes
from integration.freight import Package, Price
from integration.models import FreightParameter, FreightRate
from integration.postcodes import Region


@dataclass(frozen=True)
class Quote:
    """A price and the two regions it is for."""

    origin: Region
    destination: Region
    price: Price


def quote(*, origin: str, destination: str, package: Package) -> Quote:
    """Price by the tariff in force now. Raises NoCoverage for a postcode or way that it does not serve, or TooHeavy."""
    start, end = postcodes.region(origin), postcodes.region(destination)
    terms = FreightParameter.objects.all().terms()
    zone = freight.zone(start, end, remote=terms.remote_ufs)
    row = FreightRate.objects.all().between(start, end, zone=zone, service=terms.quote_service)
    return Quote(start, end, freight.price(package, row.rate if row else None, terms))
