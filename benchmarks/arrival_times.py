"""How exact arrival times are: those of `delivery.geo.arrivals` beside those of simulated drives."""

import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from benchmarks import report
from benchmarks.drives import Drive, Drives
from benchmarks.streets import Streets
from delivery.geo import arrivals, routing
from delivery.geo.arrivals import Estimate, Known, Service
from delivery.geo.routing import PLAIN, TravelTimes
from delivery.models import Rules
from tests.delivery.geo import valhalla

_RULES = Rules()
_DRIVES = 100  # with each vehicle
_RENEWAL_SECONDS = 15
_LEAST_CHANGE = timedelta(minutes=1)  # a smaller one is not shown
_SEED = 20_261
_BEGIN = datetime(2026, 3, 2, 12, tzinfo=UTC)
# Groups of predictions by the minutes that are left.
_GROUPS = ((0, 5), (5, 15), (15, 30), (30, 120))


class _Prediction(NamedTuple):
    """In minutes. `error`: predicted later than it was."""

    left: float  # as predicted
    error: float
    is_within: bool


def run() -> None:
    streets = Streets(_SEED)
    with tempfile.TemporaryDirectory() as folder, valhalla.server(Path(folder), streets.openstreetmap()) as url:
        rows = []
        for engine, address in ((PLAIN, ""), ("valhalla", url)):
            for vehicle in ("MOTORCYCLE", "CAR"):
                predictions = list(_predictions(streets, vehicle, _times(engine, address)))
                rows += [(engine, vehicle, *cells) for cells in _rows(predictions)]
    report.table(
        f"Arrival times every {_RENEWAL_SECONDS} s of {_DRIVES} simulated drives with each vehicle, in minutes",
        [
            "times from",
            "vehicle",
            "time left",
            "predictions",
            "median error",
            "90 % below",
            "bias",
            "within the spread",
        ],
        rows,
    )


def _times(engine: str, url: str) -> TravelTimes:
    return TravelTimes(
        engine,
        lambda vehicle: routing.engine(engine, url=url, vehicle=vehicle),
        factor=_RULES.routing_time_factor,
        road_factor=_RULES.road_factor,
        kmh=_RULES.speed_kmh,
    )


def _predictions(streets: Streets, vehicle: str, times: TravelTimes) -> Iterator[_Prediction]:
    """What is shown every 15 s of each drive: estimates that were renewed then, as `delivery.actions.arrivals` does."""
    drives = Drives(streets, _SEED)
    for _number in range(_DRIVES):
        drive = drives.drive(vehicle)
        shown: list[Estimate] = []
        is_open: list[bool] = []
        for at in range(0, int(drive.arrivals[-1]), _RENEWAL_SECONDS):
            before, is_open = is_open, [at < drive.collected, *(departure > at for departure in drive.departures)]
            found = _estimates(drive, at, Known(drives.fix(drive, at), _moment_of(at)), times)
            if before != is_open or abs(found[0].at - shown[0].at) >= _LEAST_CHANGE:
                shown = found
            yield from _compare(drive, at, shown)


def _estimates(drive: Drive, at: float, known: Known, times: TravelTimes) -> list[Estimate]:
    way = arrivals.way(
        known,
        pickup=drive.pickup if at < drive.collected else None,
        stops=[stop for stop, departure in zip(drive.stops, drive.departures, strict=True) if departure > at],
        service=Service(_RULES.service_minutes_pickup, _RULES.service_minutes_stop),
    )
    return arrivals.estimates(way, times.of(way.points, vehicle=drive.vehicle).seconds)


def _compare(drive: Drive, at: float, shown: list[Estimate]) -> Iterator[_Prediction]:
    """Those of the stops that the driver has not reached yet."""
    for estimate, arrival in zip(reversed(shown), reversed(drive.arrivals), strict=False):
        if arrival > at:
            real = _moment_of(arrival)
            left, error = estimate.at - _moment_of(at), estimate.at - real
            yield _Prediction(_minutes(left), _minutes(error), estimate.earliest <= real <= estimate.latest)


def _minutes(length: timedelta) -> float:
    return length.total_seconds() / 60


def _rows(predictions: list[_Prediction]) -> Iterator[tuple[str, ...]]:
    for low, high in _GROUPS:
        group = [each for each in predictions if low <= each.left < high]
        yield (f"{low} to {high}", *_cells(group))
    yield ("all", *_cells(predictions))


def _cells(group: list[_Prediction]) -> tuple[str, ...]:
    errors = [abs(each.error) for each in group]
    bias = sum(each.error for each in group) / len(group)
    within = sum(each.is_within for each in group) / len(group)
    return (
        f"{len(group):,}",
        f"{report.percentile(errors, 0.5):.1f}",
        f"{report.percentile(errors, 0.9):.1f}",
        f"{bias:+.1f}",
        f"{within:.0%}",
    )


def _moment_of(seconds: float) -> datetime:
    return _BEGIN + timedelta(seconds=seconds)
