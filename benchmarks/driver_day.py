"""A day of 300 drivers and 2,000 routes, compressed to a few minutes, through the driver's HTTP surface.

The web server, the worker and beat run as in operation. Afterwards `benchmarks.day_checks` examines the database.
"""

import asyncio
import random
import time
from typing import Any

import aiohttp
from asgiref.sync import sync_to_async
from django.utils import timezone

from benchmarks import day_checks, processes, report, seed
from benchmarks.day_drivers import Worker
from benchmarks.day_phones import Phone, Tally
from config.processes import commands
from delivery import lifecycle
from delivery.actions import driver_devices
from delivery.geo.distance import Point
from delivery.models import Delivery, Driver, PickupPoint, Token, VehicleType
from tests.factories import BY, PICKUP, DriverFactory, PickupPointFactory, TariffFactory, payload

_ACCOUNTS, _PICKUP_POINTS = 10, 4
_REQUESTS_A_SECOND = 10.0
_CARS, _RETURNS, _CANCELLED = 0.2, 0.1, 0.02  # shares of routes
_PHOTOS, _PINS = 0.1, 0.2  # shares of stops that ask for them
_CANCELLED_AFTER_SECONDS = 20.0
_LONGEST_SECONDS = 3600
_SEED = 14
_TOWN = 0.008  # degrees from PICKUP in each direction: about 900 m
_PORT = 8075
_LOG_INS = 8  # at the same time; all are from one address


def run(drivers: int = 300, routes: int = 2000) -> None:
    seed.empty()
    Driver.objects.all().delete()
    choice = random.Random(_SEED)  # noqa: S311  # a simulation
    tally = Tally()
    with processes.sink() as sink:
        tokens = _accounts(sink.url, choice)
        people = [(driver, _link(driver)) for driver in _drivers(drivers, choice)]
        web = [*commands(_PORT)["web"][:-1], "benchmarks.rsgi_of_fast_drivers:application"]
        with processes.server(web, _PORT), processes.worker(processes=2, beat=True):
            started = time.monotonic()
            asyncio.run(_Day(tokens, routes, choice, tally).go(people))
            seconds = time.monotonic() - started
            _wait_for_workers()
    _print(tally, f"{routes:,} routes of {drivers:,} drivers in {seconds:.0f} s")
    findings = day_checks.examine(tally)
    rows = [(finding.what, f"{finding.examined:,}", f"{finding.broken:,}") for finding in findings]
    report.table("True after the day", ["what", "examined", "broken"], rows)
    day_checks.refuse(findings)
    seed.empty()


def _accounts(url: str, choice: random.Random) -> list[Token]:
    tokens = seed.accounts(_ACCOUNTS, url=url)
    for vehicle in VehicleType.values:
        TariffFactory.create(vehicle_type=vehicle)
    for token in tokens:
        for _number in range(_PICKUP_POINTS):
            place = _place(choice)
            PickupPointFactory.create(integrator=token.integrator, latitude=place.latitude, longitude=place.longitude)
    return tokens


def _drivers(count: int, choice: random.Random) -> list[Driver]:
    return [DriverFactory.create(on_duty=False, vehicle_type=_vehicle(choice)) for _number in range(count)]


def _link(driver: Driver) -> str:
    return driver_devices.issue_link(driver=driver, by=BY, at=timezone.now())


class _Day:
    """Shops that request `routes` deliveries, and drivers who work until all of them have ended."""

    def __init__(self, tokens: list[Token], routes: int, choice: random.Random, tally: Tally) -> None:
        self._tokens, self._routes, self._choice, self._tally = tokens, routes, choice, tally
        self._base = f"http://127.0.0.1:{_PORT}"
        self._requested: list[str] = []
        self._over = asyncio.Event()
        self._log_ins = asyncio.Semaphore(_LOG_INS)

    async def go(self, drivers: list[tuple[Driver, str]]) -> None:
        """Raises TimeoutError if the day does not end."""
        connector = aiohttp.TCPConnector(limit=64)
        async with connector, asyncio.timeout(_LONGEST_SECONDS), asyncio.TaskGroup() as tasks:
            tasks.create_task(self._request_all())
            tasks.create_task(self._watch())
            for driver, link in drivers:
                own = random.Random(self._choice.random())  # noqa: S311  # a simulation
                phone = Phone(self._base, str(driver.pk), connector=connector, choice=own, tally=self._tally)
                tasks.create_task(self._work(phone, link, _place(own)))

    async def _work(self, phone: Phone, link: str, place: Point) -> None:
        try:
            async with self._log_ins:
                await phone.log_in(link)
            await Worker(phone, place, tally=self._tally, is_over=self._over.is_set).work()
        finally:
            await phone.close()

    async def _request_all(self) -> None:
        """Request all deliveries at a constant rate. Some are cancelled a little later."""
        points = {token.pk: await sync_to_async(_pickup_points)(token) for token in self._tokens}
        async with aiohttp.ClientSession(self._base) as http, asyncio.TaskGroup() as cancellations:
            for _number in range(self._routes):
                token = self._choice.choice(self._tokens)
                headers = {"Authorization": f"Bearer {token.clear_text}"}
                body = _body(self._choice.choice(points[token.pk]).point, self._choice)
                started = time.monotonic()
                async with http.post("/api/request-delivery", json=body, headers=headers) as answer:
                    assert answer.status == 201, await answer.text()
                    self._requested.append((await answer.json())["deliveryId"])
                self._tally.seconds["request-delivery"].append(time.monotonic() - started)
                if self._choice.random() < _CANCELLED:
                    wait = self._choice.uniform(0, _CANCELLED_AFTER_SECONDS)
                    cancellations.create_task(self._cancel(http, self._requested[-1], headers, wait))
                await asyncio.sleep(max(0.0, 1 / _REQUESTS_A_SECOND - (time.monotonic() - started)))

    async def _cancel(self, http: aiohttp.ClientSession, delivery: str, headers: dict[str, str], wait: float) -> None:
        await asyncio.sleep(wait)
        path = f"/api/cancel-delivery/{delivery}"
        async with http.post(path, json={"reason": "changed"}, headers=headers) as answer:
            self._tally.count[f"cancellations: {answer.status}"] += 1

    async def _watch(self) -> None:
        """Set `_over` once all deliveries have been requested and closed."""
        open_ = sync_to_async(Delivery.objects.exclude(route_status__in=lifecycle.CLOSED).exists)
        while len(self._requested) < self._routes or await open_():  # noqa: ASYNC110  # the database tells nobody
            await asyncio.sleep(1)
        self._over.set()


def _wait_for_workers() -> None:
    """Until the worker has sent the webhooks and deleted the arrival times of the last routes, for at most a minute."""
    end = time.monotonic() + 60
    while time.monotonic() < end and day_checks.workers_have_work():
        time.sleep(0.5)


def _pickup_points(token: Token) -> list[PickupPoint]:
    return list(token.integrator.pickup_points.all())


def _body(pickup: Point, choice: random.Random) -> dict[str, Any]:
    body = payload(
        stops=choice.randint(1, 3),
        vehicleType=_vehicle(choice),
        deliveryMode="RETURN" if choice.random() < _RETURNS else "DEFAULT",
    )
    places = [body["pickup"], *body["dropoffs"]]
    for place, point in zip(places, [pickup, *(_place(choice) for _stop in body["dropoffs"])], strict=True):
        place["address"] |= {"latitude": point.latitude, "longitude": point.longitude}
    for dropoff in body["dropoffs"]:
        dropoff["proof"] = {"photo": choice.random() < _PHOTOS, "pin": choice.random() < _PINS}
    return body


def _vehicle(choice: random.Random) -> str:
    return (VehicleType.CAR if choice.random() < _CARS else VehicleType.MOTORCYCLE).value


def _place(choice: random.Random) -> Point:
    north, east = (choice.uniform(-_TOWN, _TOWN) for _axis in range(2))
    return Point(PICKUP.latitude + north, PICKUP.longitude + east)


def _print(tally: Tally, title: str) -> None:
    report.table(
        title,
        ["call", "answered", "median ms", "95 % below"],
        [
            (kind, f"{len(times):,}", _milliseconds(times, 0.5), _milliseconds(times, 0.95))
            for kind, times in sorted(tally.seconds.items())
        ],
    )
    report.table(
        "What happened", ["what", "times"], [(what, f"{times:,}") for what, times in sorted(tally.count.items())]
    )


def _milliseconds(times: list[float], share: float) -> str:
    return f"{report.percentile(times, share) * 1000:,.0f}"
