"""Where deliveries are served: boxes of coordinates. Pure, and imported by the settings."""

from typing import NamedTuple


class Box(NamedTuple):
    """Decimal degrees; the edges belong to it."""

    south: float
    west: float
    north: float
    east: float

    def contains(self, latitude: float, longitude: float) -> bool:
        return self.south <= latitude <= self.north and self.west <= longitude <= self.east


# The mainland and the islands Fernando de Noronha, São Pedro e São Paulo, and Trindade.
BRAZIL = Box(south=-33.76, west=-74.0, north=5.28, east=-28.8)


def parse(text: str) -> list[Box]:
    """Boxes from "south,west,north,east; …" in decimal degrees; Brazil from an empty text. Raises ValueError."""
    if not text:
        return [BRAZIL]
    boxes = [Box(*map(float, part.split(",", 3))) for part in text.split(";")]
    for box in boxes:
        if not (-90 <= box.south < box.north <= 90 and -180 <= box.west < box.east <= 180):  # noqa: PLR2004  # degrees
            raise ValueError(f"{box} is not south, west, north, east")
    return boxes


def serves(boxes: list[Box], latitude: float, longitude: float) -> bool:
    return any(box.contains(latitude, longitude) for box in boxes)


def is_swapped(boxes: list[Box], latitude: float, longitude: float) -> bool:
    """Whether the place is outside, and the other way round it is inside."""
    return not serves(boxes, latitude, longitude) and serves(boxes, longitude, latitude)
