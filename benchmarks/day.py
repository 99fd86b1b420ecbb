"""CPU time of one whole delivery in this state and in an earlier commit, by what is done and by component.

A shop quotes and requests a delivery with three drop-offs and has an endpoint; a driver accepts, collects and delivers,
and the phone sends positions for 40 minutes; in the last five the shop reads the delivery and its driver's place ten
times, and a receiver keeps the page open. Everything is done over HTTP as the programs and pages do it, a step of five
seconds as soon as the one before is answered. The states take turns from step to step, so that what else the machine
does meets both alike. Beat does not run: its tasks cost the same without a delivery.
"""

import asyncio
import hashlib
import json
import secrets
import sys
from collections import defaultdict
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import aiohttp

from benchmarks import processes, report, states, streams
from benchmarks.states import State
from tests.factories import PICKUP, payload

_DELIVERIES = 10
_STEP = 5  # seconds of the day, as all below
_ACCEPTED, _ON_THE_ROAD = 60, 2400
_LEG = _ON_THE_ROAD // 4  # to the pickup, and between the stops
_END = _ACCEPTED + _ON_THE_ROAD
_WATCHED = _END - 300
_SECONDS = range(0, _END + _STEP, _STEP)
_EVERY_READ, _EVERY_PAGE = 30, 10  # the page's: delivery/static/tracking/tracking.js
_EVERY_STATE, _EVERY_CONFIRMED = 60, 600  # delivery/static/driver_app/updates.js
_EVERY_REPORT = 5  # unless the answer of a report says otherwise: delivery/static/driver_app/positions.js
# panel/static/panel/board.js
_EVERY_MOVED, _EVERY_FREE, _EVERYTHING = 5, 15, 60
_START = (PICKUP.latitude + 0.03, PICKUP.longitude)
# About six metres a second.
_PLACES = [_START, (PICKUP.latitude, PICKUP.longitude)] + [
    (PICKUP.latitude - 0.03 * number, PICKUP.longitude) for number in (1, 2, 3)
]
# How long the worker has for the webhooks of what changes a delivery.
_SETTLED_SECONDS = {"quote and request": 0.3, "accept, collect, deliver": 0.3}
# What the state's own Django executes: drivers with links to log in, and the session of somebody who dispatches.
_SET_UP = """
import json
from django.apps import apps
from django.conf import settings
from django.contrib.auth.models import Group, User
from django.test import Client
from django.utils import timezone
now = timezone.now()
for digest in {digests}:
    driver = apps.get_model("delivery.Driver").objects.create(name=digest[:8], vehicle_type="MOTORCYCLE")
    apps.get_model("delivery.DriverLogInLink").objects.create(
        driver=driver, digest=bytes.fromhex(digest), created_at=now, created_by="benchmark",
        expires_at=now + timezone.timedelta(hours=1),
    )
person = User.objects.create_user("board", is_staff=True)
person.groups.add(Group.objects.get(name="Dispatchers"))
client = Client()
client.force_login(person)
name = settings.SESSION_COOKIE_NAME
print(json.dumps([name, client.cookies[name].value]))
"""
_CPU = dict[str, float]


def run(arguments: Sequence[str]) -> int:
    """Print the tables of both states, without a board and with one that is open all day."""
    commit = states.commit_of(arguments)
    print(f"CPU time of one delivery at {states.current_commit()} beside {commit}", file=sys.stderr)
    for has_board in (False, True):
        with ExitStack() as stack:
            sink = stack.enter_context(processes.sink())
            pair = stack.enter_context(states.two(commit, is_production=False))
            asyncio.run(_measure([stack.enter_context(_day(each, sink.url)) for each in pair], has_board=has_board))
    return 0


class _Day:
    """A state at work, and what that has cost."""

    def __init__(self, state: State, pids: dict[str, int], drivers: list["_Delivery"], cookie: tuple[str, str]) -> None:
        self.state, self.pids, self.cookie = state, pids, cookie
        self.first, *self.deliveries = drivers  # the first is not measured
        self.spent: dict[str, _CPU] = defaultdict(lambda: dict.fromkeys(pids, 0.0))

    async def go_on(self, deliveries: "Sequence[_Delivery]", second: int) -> None:
        """One step of these deliveries, a kind of work after the other."""
        work: dict[str, list[Awaitable[None]]] = defaultdict(list)
        for delivery in deliveries:
            for kind, each in delivery.at(second):
                work[kind].append(each)
        for kind, alike in work.items():
            await self.spend(kind, alike)
        if second == 0:  # not part of the day: the shop has told the receiver
            for delivery in deliveries:
                await delivery.find_page()

    async def spend(self, kind: str, work: list[Awaitable[None]]) -> None:
        """Do this work at once, and add what it costs, with what it leaves to a worker, to what that kind has cost."""
        if not work:
            return
        before = self._cpu()
        await asyncio.gather(*work)
        await asyncio.sleep(_SETTLED_SECONDS.get(kind, 0))
        for name, seconds in self._cpu().items():
            self.spent[kind][name] += seconds - before[name]

    def _cpu(self) -> _CPU:
        return {name: processes.cpu_seconds(pid) for name, pid in self.pids.items()}


class _Delivery:
    """One, with its shop, its driver's phone and a receiver."""

    def __init__(self, base: str, token: str, link: str) -> None:
        self._base, self._token, self._link = base, token, link
        self._headers = {"Authorization": f"Bearer {token}"}
        self._client: aiohttp.ClientSession
        self._cookies = self._csrf = ""
        self._unsent: list[int] = []  # seconds of the day
        self._due = _ACCEPTED + _EVERY_REPORT
        self._route: str | None = None  # as the phone shows it
        self._confirmed = 0  # second of the day
        self._loaded = 0
        self._page = ""
        self._version = ""
        self.id = ""
        self.reports = 0

    async def open(self) -> None:
        """Log the driver in, who goes on duty."""
        # Cookies are sent by hand: a jar keeps none that are for HTTPS only.
        self._client = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar())
        page = f"{self._base}/driver/in/{self._link}/"
        async with self._client.get(page) as answer:
            answer.raise_for_status()
            (forgery,) = ((name, each.value) for name, each in answer.cookies.items() if name.endswith("csrftoken"))
        form, headers = {"csrfmiddlewaretoken": forgery[1]}, {"Cookie": "=".join(forgery)}
        async with self._client.post(page, data=form, headers=headers, allow_redirects=False) as answer:
            answer.raise_for_status()
            cookies = {name: each.value for name, each in answer.cookies.items()}
        self._cookies = "; ".join("=".join(each) for each in {forgery[0]: forgery[1], **cookies}.items())
        await self.load_state()
        await self._ask("POST", "duty/", {"onDuty": True})

    async def close(self) -> None:
        await self._client.close()

    def at(self, second: int) -> Iterator[tuple[str, Awaitable[None]]]:
        """What is done then, by kind."""
        if second == 0:
            yield "quote and request", self._request()
        if second == _ACCEPTED:
            yield "accept, collect, deliver", self._accept()
        if second > _ACCEPTED:
            self._unsent += range(second - _STEP + 1, second + 1)
            if second >= self._due:
                yield "positions", self._report(second)
            if second - self._loaded >= (_EVERY_CONFIRMED if second - self._confirmed < _EVERY_STATE else _EVERY_STATE):
                self._loaded = second
                yield "the phone's state", self.load_state()
            if (second - _ACCEPTED) % _LEG == 0:
                yield "accept, collect, deliver", self._move((second - _ACCEPTED) // _LEG)
        if _WATCHED < second <= _END and second % _EVERY_READ == 0:
            yield "ten reads", self._read("info" if second % (2 * _EVERY_READ) else "location")
        if _WATCHED < second < _END and second % _EVERY_PAGE == 0:
            yield "receiver's page", self._look()

    async def _request(self) -> None:
        body = payload(stops=3)
        for dropoff, (latitude, longitude) in zip(body["dropoffs"], _PLACES[2:], strict=True):
            dropoff["externalId"] = uuid4().hex
            dropoff["address"] |= {"latitude": latitude, "longitude": longitude}
        await self._call("POST", "/api/quotation-delivery", body)
        self.id = (await self._call("POST", "/api/request-delivery", body))["deliveryId"]

    async def _read(self, name: str) -> None:
        await self._call("GET", f"/api/{name}-delivery/{self.id}")

    async def find_page(self) -> None:
        """Learn the address of the last receiver's page."""
        detail = await self._call("GET", f"/api/deliveries/{self.id}")
        self._page = f"{self._base}{urlsplit(detail['orders'][-1]['trackingUrl']).path}"

    async def _look(self) -> None:
        headers = {"If-None-Match": self._version} if self._version else {}
        async with self._client.get(self._page, headers=headers) as answer:
            answer.raise_for_status()
            await answer.read()
            self._version = answer.headers.get("ETag", self._version)

    async def load_state(self) -> None:
        self._show(await self._ask("GET", "state/"))

    async def _accept(self) -> None:
        self._show(await self._ask("POST", f"offers/{self.id}/accept/", {}))

    async def _move(self, number: int) -> None:
        move = {"id": str(uuid4()), "deliveryId": self.id, "madeAt": _text(datetime.now(UTC))}
        move |= {"trigger": "deliver", "point": " ABCD"[number]} if number > 1 else {"trigger": "collect"}
        answer = await self._ask("POST", "moves/", {"moves": [move]})
        (outcome,) = answer["outcomes"]
        assert outcome["done"], outcome
        self._show(answer)

    def _show(self, state: dict[str, Any]) -> None:
        self._csrf = state["csrf"]
        self._route = (state["route"] or {}).get("version")

    async def _report(self, second: int) -> None:
        """Send the positions since the last report. The day ends now, so their moments lie behind."""
        now = datetime.now(UTC)
        positions = [_position(each, now - timedelta(seconds=_END - each)) for each in self._unsent]
        answer = await self._ask("POST", "positions/", {"positions": positions})
        assert answer["kept"] == len(positions), answer
        self._unsent = []
        self._due = second + answer.get("everySeconds", _EVERY_REPORT)
        if "routeVersion" in answer:
            if answer["routeVersion"] != self._route:
                await self.load_state()
            self._confirmed = second
        self.reports += 1

    async def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        sent = None if body is None else {**body, "sentAt": _text(datetime.now(UTC))}
        url = f"{self._base}/driver/{path}"
        headers = {"X-CSRFToken": self._csrf, "Cookie": self._cookies}
        async with self._client.request(method, url, json=sent, headers=headers) as answer:
            assert answer.ok, await answer.text()
            return await answer.json()

    async def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        async with self._client.request(method, self._base + path, json=body, headers=self._headers) as answer:
            assert answer.ok, await answer.text()
            return await answer.json()


class _Board:
    """A dispatch board, as its page loads it."""

    def __init__(self, base: str, cookie: tuple[str, str]) -> None:
        self._base, self._cookie = base, cookie

    async def open(self) -> None:
        self._client = aiohttp.ClientSession(
            headers={"Cookie": "=".join(self._cookie)},
            timeout=aiohttp.ClientTimeout(total=None),
            read_bufsize=streams.MOST_BYTES,
        )
        self._stream = await self._client.get(
            f"{self._base}/panel/board/updates/live/", headers={"Accept": "text/event-stream"}
        )
        assert self._stream.ok, self._stream.status
        self._reading = asyncio.ensure_future(self._listen())
        self._changed: dict[str, str] = {}
        self._moved: set[str] = set()

    async def close(self) -> None:
        self._reading.cancel()
        await self._client.close()

    async def _listen(self) -> None:
        message = ""
        async for line in self._stream.content:
            name, _colon, text = line.decode().strip().partition(": ")
            if name == "id":
                message = text
            ids, has_content = streams.told(text) if name == "data" else ([], False)
            for each in ids:
                kind, _colon, key = each.partition(":")
                if kind == "delivery" and not has_content:
                    self._changed[key] = message
                elif kind == "position":
                    self._moved.add(key)

    async def load(self, second: int) -> None:
        """What the page loads then."""
        if self._changed:
            ids = ",".join(f"{key}:{message}" for key, message in self._changed.items())
            self._changed.clear()
            await self._get(f"cards/?ids={ids}")
        if second % _EVERYTHING == 0:
            await self._get("routes/")
        if second % _EVERY_FREE == 0:
            await self._get("positions/")
        elif self._moved and second % _EVERY_MOVED == 0:
            await self._get(f"positions/?ids={','.join(self._moved)}")
            self._moved.clear()

    async def _get(self, path: str) -> None:
        async with self._client.get(f"{self._base}/panel/board/{path}") as answer:
            assert answer.ok, answer.status
            await answer.read()


@contextmanager
def _day(state: State, webhook: str) -> Iterator[_Day]:
    pickup = f"{PICKUP.latitude},{PICKUP.longitude}"
    shop = state.manage("create_integrator", "Shop", "--pickup", pickup, "--webhook-url", webhook)
    links = [f"rota_in_{secrets.token_urlsafe(32)}" for _delivery in range(1 + _DELIVERIES)]
    digests = [hashlib.sha256(link.encode()).hexdigest() for link in links]
    cookie = state.manage("shell", "--no-imports", "-c", _SET_UP.format(digests=json.dumps(digests)))
    with state.serving("web", "worker") as pids:
        yield _Day(state, pids, [_Delivery(state.base, shop["token"], link) for link in links], cookie)


async def _measure(days: Sequence[_Day], *, has_board: bool) -> None:
    boards = {day: _Board(day.state.base, day.cookie) for day in days if has_board}
    opened: list[_Delivery | _Board] = [
        *(each for day in days for each in (day.first, *day.deliveries)),
        *boards.values(),
    ]
    for each in opened:
        await each.open()
    print("Warming up", file=sys.stderr, flush=True)
    for day in days:
        for second in _SECONDS:
            await day.go_on([day.first], second)
        day.spent.clear()
    for second in _SECONDS:
        for day in days if second % (2 * _STEP) else reversed(days):
            await day.go_on(day.deliveries, second)
            if has_board:
                await day.spend("board", [boards[day].load(second)])
        if second % 300 == 0:
            print(f"Minute {second // 60} of {_END // 60}", file=sys.stderr, flush=True)
    for each in opened:
        await each.close()
    for day in days:
        _print(day, has_board=has_board)
    earlier, current = (sum(sum(each.values()) for each in day.spent.values()) for day in days)
    print(f"CPU time{' with a board' if has_board else ''}: {current / earlier:.2f} of the earlier state's\n")


def _print(day: _Day, *, has_board: bool) -> None:
    components = list(day.pids)
    kinds = sorted(day.spent, key=lambda kind: -sum(day.spent[kind].values()))
    rows = [(kind, [1000 * day.spent[kind][each] / _DELIVERIES for each in components]) for kind in kinds]
    rows.append(("all", [sum(column) for column in zip(*(cells for _kind, cells in rows), strict=True)]))
    reports = sum(each.reports for each in day.deliveries) / _DELIVERIES
    report.table(
        f"CPU ms of one of {_DELIVERIES} deliveries, {reports:.0f} reports of positions each"
        f"{', with one board open' if has_board else ''}: {day.state.name} state",
        ["", *components, "together"],
        [(kind, *(f"{each:,.1f}" for each in cells), f"{sum(cells):,.1f}") for kind, cells in rows],
    )


def _position(second: int, moment: datetime) -> dict[str, Any]:
    """The place of the driver at a second of the day."""
    leg, passed = divmod(second - _ACCEPTED, _LEG)
    (south, west), (north, east) = _PLACES[leg], _PLACES[min(leg + 1, len(_PLACES) - 1)]
    share = passed / _LEG
    at = _text(moment)
    return {
        "latitude": south + (north - south) * share,
        "longitude": west + (east - west) * share,
        "accuracy": 8,
        "at": at,
        "heardAt": at,
    }


def _text(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")
