"""What is asked for by a quote or a request. Pure."""

import math
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import Any, TypedDict

from delivery.geo.distance import Point
from delivery.lifecycle import Mode, OnFailure
from delivery.windows import NO_WINDOW, Window, first_ready

_DIMENSIONS = 3
_CM3_PER_LITRE = 1000


class Package(TypedDict, total=False):
    """Item of `orderPackages` as it was sent. The specification names no units; weights are taken as kilograms."""

    description: str | None
    height: float | None
    width: float | None
    length: float | None
    weight: float | None
    quantity: int | None


@dataclass(frozen=True)
class Options:
    """What a drop-off asks for with the optional keys. `has_pin`: the receiver tells the driver a PIN.

    `on_failure` None: not sent.
    """

    instructions: str = ""
    email: str = ""
    needs_photo: bool = False
    has_pin: bool = False
    on_failure: OnFailure | None = None


@dataclass(frozen=True)
class Place:
    """A contact at an address. `address` holds the texts of `bodies.ADDRESS_TEXTS` by name."""

    point: Point
    address: dict[str, str]
    contact_name: str = ""
    contact_phone: str = ""
    external_id: str = ""
    options: Options = Options()
    window: Window = NO_WINDOW


@dataclass(frozen=True)
class DeliveryRequest:
    """A DeliveryRequest body after validation."""

    vehicle_type: str
    pickup: Place
    dropoffs: list[Place]
    mode: Mode = Mode.DEFAULT
    packages: list[Package] = field(default_factory=list)

    @property
    def points(self) -> list[Point]:
        """A, then the drop-offs; in mode REVERSE the way round, A being the end."""
        stops = [dropoff.point for dropoff in self.dropoffs]
        return [*stops, self.pickup.point] if self.mode is Mode.REVERSE else [self.pickup.point, *stops]

    @property
    def places(self) -> dict[str, Point]:
        """The points by where they are in the body."""
        stops = {f"dropoffs[{index}]": dropoff.point for index, dropoff in enumerate(self.dropoffs)}
        return {"pickup": self.pickup.point, **stops}

    @property
    def labels(self) -> str:
        """A letter for each of `points`."""
        labels = "ABCD"[: 1 + len(self.dropoffs)]
        return labels[1:] + labels[0] if self.mode is Mode.REVERSE else labels

    @property
    def windows(self) -> list[Window]:
        """Those of A and of the drop-offs."""
        return [place.window for place in (self.pickup, *self.dropoffs)]

    @property
    def ready(self) -> list[datetime | None]:
        """When the driver can begin at each of `points`. In mode REVERSE `pickupReadyAt` is about the first of them."""
        pickup, *dropoffs = self.windows
        is_reverse, stops = self.mode is Mode.REVERSE, [window.ready_at for window in dropoffs]
        first = first_ready(pickup, dropoffs, is_reverse=is_reverse)
        return [first, *stops[1:], None] if is_reverse else [first, *stops]

    @property
    def longest_side_cm(self) -> Decimal:
        """The longest side of any package; 0 if none is stated."""
        return max((side for item in self.packages for side in _sides_cm(item)), default=Decimal(0))

    @property
    def litres(self) -> Decimal:
        """Volume of all packages. One without all three sides counts as 0."""
        return sum((_litres(item) for item in self.packages), Decimal(0))

    @property
    def weight_kg(self) -> Decimal:
        """Weight of all packages. One without a weight counts as 0 kg, one without a quantity as a single one."""
        return sum(
            (Decimal(str(item.get("weight") or 0)) * (item.get("quantity") or 1) for item in self.packages), Decimal(0)
        )


def restored(found: dict[str, Any]) -> DeliveryRequest:
    """What `dataclasses.asdict` has taken apart and JSON has kept, with moments as text."""
    places = [_restored_place(place) for place in (found["pickup"], *found["dropoffs"])]
    return DeliveryRequest(**{**found, "mode": Mode(found["mode"]), "pickup": places[0], "dropoffs": places[1:]})


def _restored_place(found: dict[str, Any]) -> Place:
    options, window = found["options"], found["window"]
    on_failure = options["on_failure"] and OnFailure(options["on_failure"])
    moments = {name: text and datetime.fromisoformat(text) for name, text in window.items()}
    parts = {"options": Options(**{**options, "on_failure": on_failure}), "window": Window(**moments)}
    return Place(**{**found, "point": Point(*found["point"]), **parts})


def _sides_cm(item: Package) -> list[Decimal]:
    sides = (item.get("height"), item.get("width"), item.get("length"))
    return [Decimal(str(side)) for side in sides if side is not None]


def _litres(item: Package) -> Decimal:
    sides = _sides_cm(item)
    if len(sides) < _DIMENSIONS:
        return Decimal(0)
    return math.prod(sides, start=Decimal(item.get("quantity") or 1)) / _CM3_PER_LITRE
