"""The region of a postcode, or area B's refusal of one that has none. Pure."""

from common.brazil.states import Region, region_of, with_hyphen
from integration.errors import NoCoverage


def region(postcode: str) -> Region:
    """Region of a postcode, however it is written. Raises NoCoverage unless it is within an assigned range."""
    found = region_of(postcode)
    if found is None:
        raise NoCoverage(f"CEP {with_hyphen(postcode)} sem cobertura")
    return found
