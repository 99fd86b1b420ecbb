"""The hours of service that a test needs. Without it none are set, and no query reads them."""

from common.cached import Cached
from delivery.hours import actions, models
from delivery.hours.models import InForce, ServiceHours
from tests.factories import BY

WEEK = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
NONE = InForce()


def known(found: InForce = NONE) -> Cached[InForce]:
    """The cache of a process that knows these hours, and reads the rows again only once it has forgotten them."""
    cached = Cached(models._read, seconds=float("inf"))
    cached._value, cached._computed_at = found, 0
    return cached


def row(spans: str = "08:00-18:00", **values: object) -> ServiceHours:
    """Hours with these spans on every day, not saved."""
    return ServiceHours(**{**dict.fromkeys(WEEK, spans), **values})


def make(spans: str = "08:00-18:00", **values: object) -> ServiceHours:
    """Such hours, which this process knows from now on."""
    found = actions.save(hours=row(spans, **values), by=BY)
    ServiceHours.forget_in_force()
    return found
