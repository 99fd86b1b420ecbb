"""Fifty open dispatch boards that are told of changes of routes and of positions."""

import asyncio
import random
import time
from contextlib import suppress

import aiohttp
import psutil
from asgiref.sync import sync_to_async
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from benchmarks import processes, report, seed, streams
from delivery.actions import deliveries, drivers
from delivery.models import Delivery
from panel.dispatch.board import MOST_CARDS
from tests.factories import BY, PICKUP, DriverFactory
from tests.ports import free_port

_BOARDS, _ROUTES = 50, 400
_SECONDS = 30
_SETTLING_SECONDS = 6
_UPDATES = "/panel/board/updates/live/"
# Changes a second, of different deliveries.
_RATES = (0.0, 2.0, 10.0)
# Positions a second, of different drivers.
_POSITION_RATES = (2.0, 10.0)
# Seconds, as in board.js and live.js.
_POSITIONS_PAUSE = 3
_FREE_PAUSE = 15
_EVERYTHING_PAUSE = 60


def run() -> None:
    """Print how long a change takes to reach the boards, and the CPU time of the web server for them."""
    seed.empty()
    User.objects.filter(username__startswith="board-").delete()
    sessions = [_session(number) for number in range(_BOARDS)]
    (token,) = seed.accounts(1, url="")
    routes = seed.deliveries([token], each=_ROUTES)
    rows = [[f"{rate:g} routes", *asyncio.run(_measure(sessions, routes, rate))] for rate in _RATES]
    seed.empty()
    (token,) = seed.accounts(1, url="")
    held = [_accept(delivery) for delivery in seed.deliveries([token], each=_ROUTES)]
    rows += [
        [f"{rate:g} positions", *asyncio.run(_measure(sessions, held, rate, moves=True))] for rate in _POSITION_RATES
    ]
    report.table(
        f"{_BOARDS} boards with {_ROUTES} routes for {_SECONDS} s, two web processes of three threads each, clients on "
        "the same cores. CPU: of both web processes, in shares of one core",
        ["changes a second", "p50, p99 to the message", "requests/s", "CPU"],
        rows,
    )


def _session(number: int) -> str:
    """The session of a dispatcher."""
    person = User.objects.create_user(f"board-{number}", is_staff=True)
    person.groups.add(Group.objects.get(name="Dispatchers"))
    client = Client()
    client.force_login(person)
    return client.cookies[settings.SESSION_COOKIE_NAME].value


class _Boards:
    """What the boards of one measurement have noticed."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.changed_at: dict[str, float] = {}
        self.delays: list[float] = []
        self.requests = 0

    async def load(self, session: aiohttp.ClientSession, path: str) -> None:
        self.requests += 1
        async with session.get(self.base + path) as answer:
            answer.raise_for_status()
            await answer.read()

    async def listen(self, session: aiohttp.ClientSession) -> None:
        """A board that loads what it is told of without content, and everything from time to time, as the page does."""
        changed: dict[str, str] = {}
        moved: set[str] = set()
        message = ""
        loading = [
            asyncio.ensure_future(each)
            for each in (
                self._load_changed(session, changed),
                self._load_moved(session, moved),
                self._load_regularly(session, "panel:board_routes", _EVERYTHING_PAUSE),
                self._load_regularly(session, "panel:board_positions", _FREE_PAUSE),
            )
        ]
        try:
            async with session.get(self.base + _UPDATES, headers={"Accept": "text/event-stream"}) as stream:
                async for line in stream.content:
                    now = time.monotonic()
                    name, _, text = line.decode().strip().partition(": ")
                    if name == "id":
                        message = text
                    texts, has_content = streams.told(text) if name == "data" else ([], False)
                    known = [key for text in texts if (key := text.removeprefix("delivery:")) in self.changed_at]
                    self.delays += [now - self.changed_at[key] for key in known]
                    if not has_content:
                        changed.update(dict.fromkeys(known, message))
                    moved.update(text.removeprefix("position:") for text in texts if text.startswith("position:"))
        finally:
            for each in loading:
                each.cancel()

    async def _load_changed(self, session: aiohttp.ClientSession, changed: dict[str, str]) -> None:
        """`changed`: ids of deliveries with the name of the message that told of them."""
        while True:
            await asyncio.sleep(0.01)
            if not changed:
                continue
            await asyncio.sleep(random.uniform(0, 0.3))  # noqa: S311  # nosec B311  # no secret
            ids = ",".join(f"{key}:{message}" for key, message in changed.items())
            changed.clear()
            await self.load(session, f"{reverse('panel:board_cards')}?ids={ids}")

    async def _load_regularly(self, session: aiohttp.ClientSession, page: str, pause: float) -> None:
        await asyncio.sleep(random.uniform(0, pause))  # noqa: S311  # nosec B311  # no secret
        while True:
            await self.load(session, reverse(page))
            await asyncio.sleep(pause)

    async def _load_moved(self, session: aiohttp.ClientSession, moved: set[str]) -> None:
        path = reverse("panel:board_positions")
        while True:
            await asyncio.sleep(0.1)
            if not moved:
                continue
            await asyncio.sleep(_POSITIONS_PAUSE * random.uniform(1, 1.33))  # noqa: S311  # nosec B311  # no secret
            is_some = len(moved) <= MOST_CARDS
            ids = ",".join(moved)
            moved.clear()
            await self.load(session, f"{path}?ids={ids}" if is_some else path)


async def _measure(sessions: list[str], routes: list[Delivery], rate: float, *, moves: bool = False) -> list[str]:
    port = free_port()
    with processes.web(port) as pid:
        boards = _Boards(f"http://127.0.0.1:{port}")
        clients = [_client(key) for key in sessions]
        tasks = [asyncio.ensure_future(boards.listen(client)) for client in clients]
        await asyncio.sleep(_SETTLING_SECONDS)
        boards.requests, boards.delays = 0, []
        before = _cpu(pid)
        await _change(boards, routes, rate, moves=moves)
        share = (_cpu(pid) - before) / _SECONDS
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        for client in clients:
            await client.close()
    return [_delays(boards.delays), f"{boards.requests / _SECONDS:.1f}", f"{100 * share:.1f} %"]


def _client(key: str) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        cookies={settings.SESSION_COOKIE_NAME: key},
        timeout=aiohttp.ClientTimeout(total=None, sock_read=60),
        read_bufsize=streams.MOST_BYTES,
    )


def _cpu(pid: int) -> float:
    """CPU seconds of a process and its children."""
    server = psutil.Process(pid)
    return sum(sum(each.cpu_times()[:2]) for each in (server, *server.children(recursive=True)))


async def _change(boards: _Boards, routes: list[Delivery], rate: float, *, moves: bool) -> None:
    """Change routes for _SECONDS: assign each to a driver, or move the driver. Each change is of a route of its own."""
    end = time.monotonic() + _SECONDS
    if not rate:
        await asyncio.sleep(_SECONDS)
        return
    for number in range(int(_SECONDS * rate)):
        due = end - _SECONDS + number / rate
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        if moves:
            await sync_to_async(_move)(routes[number % len(routes)], number)
            continue
        delivery = routes.pop()
        boards.changed_at[str(delivery.pk)] = time.monotonic()  # before the change, which takes about 20 ms
        await sync_to_async(_accept)(delivery)
    await asyncio.sleep(max(0.0, end - time.monotonic()))


def _accept(delivery: Delivery) -> Delivery:
    driver = DriverFactory.create(at_point=PICKUP)
    return deliveries.accept(delivery=delivery, driver=driver, by=BY, at=timezone.now())


def _move(delivery: Delivery, number: int) -> None:
    if delivery.driver is not None:
        point = PICKUP._replace(latitude=PICKUP.latitude + number % 100 / 10_000)
        drivers.set_position(driver=delivery.driver, point=point, by=BY, at=timezone.now())


def _delays(seconds: list[float]) -> str:
    if not seconds:
        return "-"
    return ", ".join(f"{1000 * report.percentile(seconds, share):.0f} ms" for share in (0.5, 0.99))
