"""What pages show of stops beside the specification's fields."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from delivery import stop_details
from delivery.actions import receiver_links
from delivery.models import Stop
from delivery.stop_details import StopDetails


@dataclass(frozen=True)
class StopFacts:
    """A stop with its details. `link` is the address of the receiver's page, None when it has ended."""

    stop: Stop
    details: StopDetails
    link: str | None

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        details = self.details
        return not (
            self.link
            or details.arrival
            or details.instructions
            or details.pin
            or details.received_by
            or details.photos
            or details.needs_photo
        )


def of(stops: Sequence[Stop], *, at: datetime) -> list[StopFacts]:
    """In the order of `stops`. Links that do not exist yet are made."""
    details = stop_details.read(stops)
    links = receiver_links.addresses(stops, at=at)
    return [StopFacts(stop, details[stop.pk], links.get(stop.pk)) for stop in stops]
