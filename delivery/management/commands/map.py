from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.conf import settings

from common import clock
from common.commands import JSONCommand
from delivery.actions import moves
from delivery.streets import copying, tiles
from delivery.streets.copying import Progress

_MEGABYTE = 1_000_000
_LEAST_KM, _MOST_KM = 1, 100
_ATTRIBUTION = "© OpenStreetMap contributors, Open Database License: https://www.openstreetmap.org/copyright"


class Command(JSONCommand):
    help = (
        "Copy the streets of a place, or of several, from a map on the web into the map file of this server. Says how "
        "large they are before it begins, and goes on where an earlier run was interrupted. Prints "
        '{"file","from","tiles","bytes"}, or {"error","detail"} with exit status 1; then the map file is as it was.'
    )
    in_transaction = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("what", choices=["fetch"])
        parser.add_argument("--around", required=True, action="append", metavar="LAT,LNG", help="may be repeated")
        parser.add_argument("--km", type=_km, default=15.0, help="how far around it, 1 to 100; 15 without it")
        parser.add_argument(
            "--from", dest="url", metavar="URL", help="a file of PMTiles; without it the newest map of Protomaps"
        )

    def run(self, options: dict[str, Any]) -> dict[str, Any]:
        boxes = [tiles.box(moves.parse_point(text), km=options["km"]) for text in options["around"]]
        copied = copying.copy(
            boxes,
            sources=[options["url"]] if options["url"] else copying.default_sources(clock.now()),
            to=settings.MAP_FILE,
            tell=self._tell,
            allow_loopback=settings.WEBHOOK_ALLOW_LOOPBACK,
        )
        return {
            "file": str(settings.MAP_FILE), "from": copied.source, "tiles": copied.tiles, "bytes": copied.total
        }  # fmt: skip  # a table

    _is_told = False

    def _tell(self, progress: Progress) -> None:
        if not self._is_told:
            self._is_told = True
            size = f"{progress.tiles:,} tiles, {progress.total / _MEGABYTE:,.1f} MB"
            self.stderr.write(f"{size}, from {progress.source}\n{_ATTRIBUTION}")
        self.stderr.write(f"{progress.done / _MEGABYTE:,.1f} MB, {100 * progress.done // progress.total} %")


def _km(text: str) -> float:
    km = float(text)
    if not _LEAST_KM <= km <= _MOST_KM:
        raise ArgumentTypeError(f"{_LEAST_KM} to {_MOST_KM} kilometres")
    return km
