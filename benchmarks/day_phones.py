"""Phones of the simulated day: HTTP clients of the driver's app over a network that loses and repeats calls."""

import asyncio
import random
import time
from collections import Counter, defaultdict
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import urlencode
from uuid import uuid4

import aiohttp

from tests.photos import photo

LOST, REPEATED = 0.05, 0.15  # shares of the calls
_TRIES = 40
_PHOTO = photo(size=(1600, 1200))  # as the app makes them
_PATIENCE = aiohttp.ClientTimeout(total=None, sock_read=60)


class Duty(NamedTuple):
    """From before the call that began it to after the one that ended it, on this machine's clock."""

    driver: str
    start: datetime
    end: datetime


class Tally:
    """What all phones have seen."""

    def __init__(self) -> None:
        self.seconds: dict[str, list[float]] = defaultdict(list)  # of each answered call, by kind
        self.count: Counter[str] = Counter()
        self.outcomes: dict[str, set[tuple[bool, str]]] = defaultdict(set)  # of each report, by its id
        self.kept_positions = 0
        self.duties: list[Duty] = []


class Phone:
    """One phone, logged in by a link. Calls whose answer is lost are made again, as the app does."""

    def __init__(
        self, base: str, driver: str, *, connector: aiohttp.TCPConnector, choice: random.Random, tally: Tally
    ) -> None:
        self.driver, self.choice, self._tally = driver, choice, tally
        self._base = base
        self._http = aiohttp.ClientSession(
            connector=connector,
            connector_owner=False,
            cookie_jar=aiohttp.CookieJar(unsafe=True),  # those of an address without a name
            timeout=_PATIENCE,
        )
        self._csrf = ""
        self._latest: dict[str, Any] | None = None
        self._duty_since: datetime | None = None

    async def log_in(self, token: str) -> None:
        """Open the link, look at the page, and press its button."""
        path = f"/driver/in/{token}/"
        async with self._http.get(self._base + path) as page:
            assert page.status == 200, page.status
        cookies = self._http.cookie_jar.filter_cookies(page.url)
        async with self._http.post(
            self._base + path, data={"csrfmiddlewaretoken": cookies["csrftoken"].value}, allow_redirects=False
        ) as answer:
            assert answer.status == 302, answer.status
        await self.state()

    async def close(self) -> None:
        await self._http.close()

    async def state(self) -> dict[str, Any]:
        """That of the latest answer, or of a new one if that was taken already."""
        if self._latest is None:
            status, body = await self._call("state", "GET", "state/")
            assert status == 200, body
        found, self._latest = self._latest, None
        assert found is not None
        self._csrf = found["csrf"]
        return found

    async def set_duty(self, *, on: bool) -> None:
        """Repeated until it is answered. It is unknown when a lost call took effect, so the whole time counts."""
        before = datetime.now(UTC)
        status, body = await self._call("duty", "POST", "duty/", {"onDuty": on}, may_be_lost=True)
        assert status == 200, body
        if on:
            self._duty_since = before
        elif self._duty_since is not None:
            self._tally.duties.append(Duty(self.driver, self._duty_since, datetime.now(UTC)))
            self._duty_since = None

    async def accept(self, delivery: str) -> tuple[int, dict[str, Any]]:
        status, body = await self._call("accept", "POST", f"offers/{delivery}/accept/", {}, may_be_lost=True)
        self._tally.count[f"accept: {'won' if status == 200 else body['code']}"] += 1  # HTTP
        return status, body

    async def move(self, moves: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The outcomes of these moves. Some are sent twice, one after the other or at the same time."""
        times = 2 if self.choice.random() < REPEATED else 1
        if times == 1 or self.choice.random() < 0.5:  # half of them
            answers = [await self._moves(moves) for _time in range(times)]
        else:
            answers = await asyncio.gather(*(self._moves(moves) for _time in range(times)))
        self._tally.count["reports sent again"] += times - 1
        return answers[-1]

    async def report_positions(self, positions: list[dict[str, Any]]) -> str:
        """The code of the refusal, or an empty string."""
        status, body = await self._call("positions", "POST", "positions/", {"positions": positions})
        self._tally.kept_positions += body.get("kept", 0)
        self._tally.count["positions dropped"] += sum(body.get("dropped", {}).values())
        return "" if status == 200 else body["code"]  # HTTP

    async def upload_photo(self, delivery: str, point: str) -> str:
        """The phone's id of a photo that it has taken at this point."""
        upload = str(uuid4())
        query = urlencode({"id": upload, "deliveryId": delivery, "point": point, "takenAt": now(), "sentAt": now()})
        while True:
            status, body = await self._call("photos", "POST", f"photos/?{query}", content=_PHOTO, may_be_lost=True)
            self._tally.count[f"photos: {body.get('code', 'kept')}"] += 1
            if status != 503:  # HTTP; otherwise the server is encoding as many as it can
                return upload
            await asyncio.sleep(self.choice.uniform(1, 3))

    async def _moves(self, moves: list[dict[str, Any]]) -> list[dict[str, Any]]:
        status, body = await self._call("moves", "POST", "moves/", {"moves": moves}, may_be_lost=True)
        assert status == 200, body
        for outcome in body["outcomes"]:
            self._tally.outcomes[outcome["id"]].add((outcome["done"], outcome["code"]))
        return list(body["outcomes"])

    async def _call(
        self,
        kind: str,
        method: str,
        path: str,
        body: Any = None,
        *,
        content: bytes | None = None,
        may_be_lost: bool = False,
    ) -> tuple[int, dict[str, Any]]:
        """Status and JSON. A call that may be lost is cut off now and then, at some moment, and made again."""
        for _try in range(_TRIES):
            started = time.monotonic()
            is_lost = may_be_lost and self.choice.random() < LOST
            json = {**body, "sentAt": now()} if body is not None else None
            try:
                async with (
                    asyncio.timeout(self.choice.uniform(0, 0.2) if is_lost else None),
                    self._http.request(
                        method,
                        f"{self._base}/driver/{path}",
                        json=json,
                        data=content,
                        headers={"X-CSRFToken": self._csrf},
                    ) as answer,
                ):
                    found = answer.status, await answer.json()
            except TimeoutError:
                self._tally.count["answers lost"] += 1
                continue
            self._tally.seconds[kind].append(time.monotonic() - started)
            if "offers" in found[1]:
                self._latest = found[1]
            return found
        raise RuntimeError(f"{path} was not answered")


def report_of(delivery: str, trigger: str, *, point: str = "", reason: str = "") -> dict[str, Any]:
    """A move as phones report it, with an id of its own."""
    move = {"id": str(uuid4()), "deliveryId": delivery, "trigger": trigger, "madeAt": now()}
    return move | ({"point": point} if point else {}) | ({"reason": reason} if reason else {})


def now() -> str:
    return datetime.now(UTC).isoformat()
