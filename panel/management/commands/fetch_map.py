from argparse import ArgumentParser
from typing import Any

from django.conf import settings

from common.commands import JSONCommand
from common.ground.extract import Box, Extracted, Limits, extract
from common.ground.pmtiles_format import ArchiveError
from common.ground.sources import opened
from delivery.distance import Point

_MOST_LENGTH = 100


class Command(JSONCommand):
    help = (
        "Copy the vector tiles of a region, which the maps then show, from a PMTiles archive to MAP_FILE. "
        'Prints {"file","tiles","bytes"}.'
    )
    in_transaction = False
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", help="a .pmtiles file, or an https URL of one that is read by ranges")
        parser.add_argument("--box", required=True, metavar="MIN_LNG,MIN_LAT,MAX_LNG,MAX_LAT", help="in degrees")
        parser.add_argument("--max-zoom", type=int, default=15, help="the most detailed zoom level (default 15)")
        parser.add_argument("--max-mb", type=int, default=4096, help="the most MiB of tiles (default 4096)")
        parser.add_argument("--minutes", type=float, default=60, help="the most time (default 60)")

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        limits = Limits(options["max_zoom"], options["max_mb"] * 2**20, options["minutes"] * 60)
        target = settings.MAP_FILE
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            box = _box(options["box"])
            with opened(options["source"]) as read:
                done: Extracted = extract(read, box, target, limits=limits, progress=self._show)
        except ArchiveError as error:
            self._refuse("no_map", str(error))
        return {"file": str(target), "tiles": done.tiles, "bytes": done.total_bytes}

    def _show(self, done: int, total: int) -> None:
        if self.stderr.isatty():
            self.stderr.write(f"\r{100 * done // total} % of {total / 2**20:,.0f} MiB", ending="")


def _box(text: str) -> Box:
    """Raises ArchiveError."""
    try:
        west, south, east, north = (float(part) for part in text[:_MOST_LENGTH].split(","))
    except ValueError as error:
        raise ArchiveError("--box has four numbers: MIN_LNG,MIN_LAT,MAX_LNG,MAX_LAT.") from error
    is_on_earth = Point(south, west).is_on_earth and Point(north, east).is_on_earth
    if not (is_on_earth and west < east and south < north):
        raise ArchiveError(
            "--box is west, south, east, north in degrees: longitudes before latitudes, the smaller ones first."
        )
    return Box(west, south, east, north)
