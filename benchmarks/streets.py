"""A town's streets for simulated drives: squares of uneven size, avenues with traffic lights, one-way streets, gaps."""

import heapq
import random
from itertools import count, pairwise
from typing import NamedTuple
from xml.etree import ElementTree as ET

from delivery.geo.distance import Point, metres

_SIZE = 40  # crossings from north to south, and from west to east
_BLOCK = 0.0014  # degrees between crossings: about 150 m
_UNEVEN = 0.25  # of a block, by which crossings are out of line
_AVENUE_EVERY = 5
_GAPS, _ONE_WAY = 0.07, 0.3  # shares of the blocks of streets that do not exist, and of streets that are one-way
_SOUTH_WEST = Point(-23.60, -46.68)
AVENUE_KMH, STREET_KMH = 50, 30

Crossing = tuple[int, int]


class Block(NamedTuple):
    """A piece of street from one crossing to the next, in one direction."""

    end: Crossing
    metres: float
    kmh: float  # what is allowed
    has_light: bool  # at its end


class Streets:
    """Drawn by `random`, so the same seed gives the same town."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311  # a simulation
        self.places = {(row, column): self._place(row, column) for row in range(_SIZE) for column in range(_SIZE)}
        self.blocks: dict[Crossing, list[Block]] = {crossing: [] for crossing in self.places}
        for line in range(_SIZE):
            is_avenue = line % _AVENUE_EVERY == 0
            direction = 0 if is_avenue or self._random.random() > _ONE_WAY else self._random.choice((-1, 1))
            self._add([(line, step) for step in range(_SIZE)], is_avenue=is_avenue, direction=direction)
            self._add([(step, line) for step in range(_SIZE)], is_avenue=is_avenue, direction=direction)

    def crossing(self, choice: random.Random) -> Crossing:
        """One from which and to which there is a way."""
        while True:
            found = choice.choice(list(self.places))
            if self.way((0, 0), found) and self.way(found, (0, 0)):
                return found

    def crossing_near(self, start: Crossing, choice: random.Random, *, blocks: int) -> Crossing:
        """Another one, at most so many blocks away in each direction."""
        while True:
            row, column = (each + choice.randint(-blocks, blocks) for each in start)
            found = (row, column)
            if found in self.places and found != start and self.way(start, found) and self.way(found, start):
                return found

    def way(self, start: Crossing, end: Crossing) -> list[Block]:
        """The way that is fastest with free streets; empty if there is none."""
        numbers = count()  # decides between equals
        waiting: list[tuple[float, int, Crossing]] = [(0.0, next(numbers), start)]
        came: dict[Crossing, tuple[float, Crossing, Block | None]] = {start: (0.0, start, None)}
        while waiting:
            seconds, _number, here = heapq.heappop(waiting)
            if here == end:
                break
            for block in self.blocks[here]:
                then = seconds + block.metres / block.kmh * 3.6
                if block.end not in came or then < came[block.end][0]:
                    came[block.end] = (then, here, block)
                    heapq.heappush(waiting, (then, next(numbers), block.end))
        found: list[Block] = []
        while end in came and (last := came[end][2]) is not None:
            found.append(last)
            end = came[end][1]
        return found[::-1]

    def openstreetmap(self) -> bytes:
        """In the XML format of OpenStreetMap, for routing engines."""
        root = ET.Element("osm", version="0.6")
        numbers = {crossing: str(number) for number, crossing in enumerate(self.places, start=1)}
        lights = {block.end for blocks in self.blocks.values() for block in blocks if block.has_light}
        for crossing, place in self.places.items():
            node = ET.SubElement(
                root, "node", id=numbers[crossing], version="1", lat=f"{place[0]:.7f}", lon=f"{place[1]:.7f}"
            )
            if crossing in lights:
                ET.SubElement(node, "tag", k="highway", v="traffic_signals")
        for start, blocks in self.blocks.items():
            for block in blocks:
                street = ET.SubElement(root, "way", id=str(len(root)), version="1")
                ET.SubElement(street, "nd", ref=numbers[start])
                ET.SubElement(street, "nd", ref=numbers[block.end])
                kind = "secondary" if block.kmh == AVENUE_KMH else "residential"
                for key, value in {"highway": kind, "maxspeed": f"{block.kmh:g}", "oneway": "yes"}.items():
                    ET.SubElement(street, "tag", k=key, v=value)
        return ET.tostring(root)

    def _place(self, row: int, column: int) -> Point:
        north, east = (self._random.uniform(-_UNEVEN, _UNEVEN) for _axis in range(2))
        return Point(_SOUTH_WEST.latitude + (row + north) * _BLOCK, _SOUTH_WEST.longitude + (column + east) * _BLOCK)

    def _add(self, line: list[Crossing], *, is_avenue: bool, direction: int) -> None:
        kmh = AVENUE_KMH if is_avenue else STREET_KMH
        for start, end in pairwise(line):
            if not is_avenue and self._random.random() < _GAPS:
                continue
            length = metres(self.places[start], self.places[end])
            for here, there, way in ((start, end, 1), (end, start, -1)):
                if direction in (0, way):
                    self.blocks[here].append(Block(there, length, kmh, has_light=_crosses_avenue(there)))


def _crosses_avenue(crossing: Crossing) -> bool:
    return any(number % _AVENUE_EVERY == 0 for number in crossing)
