"""A small city in the table of addresses."""

from datetime import UTC, datetime

from common.brazil.municipalities import Municipality
from delivery.places import address_imports
from delivery.places.address_files import Address
from delivery.places.models import Form

AT = datetime(2026, 11, 28, 12, tzinfo=UTC)
SAO_PAULO = Municipality("SP", "São Paulo")


def houses(street, numbers, *, postcode="", district="", start=(-23.55, -46.65), city=SAO_PAULO, **changes):
    """Houses along a street that begins at `start` and leads north, one metre (0.00001 degrees) for each number."""
    return [
        Address(city, street, number, district, postcode, start[0] + number / 100_000, start[1], **changes)
        for number in numbers
    ]


def fill(*streets, form=Form.CNEFE):
    address_imports.fill([house for street in streets for house in street], form=form, at=AT)
