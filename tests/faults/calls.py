"""Calls of both APIs and of pages at a steady pace, as shops, sellers and people make them."""

import itertools
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from uuid import uuid4

import psycopg
import requests
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from delivery.models import Token
from dev import embedded
from integration.models import Seller
from tests.factories import payload
from tests.faults.threads import Threads
from tests.faults.waiting import DEADLINE_SECONDS, until
from tests.integration.factories import key_of, order_body

# After a call without an answer, so that a server that takes long to start leaves few to repeat.
_NO_SERVER_SECONDS = 0.5
_PAGES = ("overview", "deliveries", "events")
_MADE = """
SELECT (SELECT count(*) FROM delivery_stop WHERE external_id = key)
     + (SELECT count(*) FROM integration_order WHERE code = key)
FROM unnest(%s::text[]) AS key
"""


@dataclass(frozen=True)
class Request:
    """One that can be made again: `key` is the Idempotency-Key, and the externalId or the orderId."""

    kind: str
    method: str
    path: str
    headers: dict[str, str]
    body: dict[str, Any] | None = None
    key: str = ""


@dataclass(frozen=True)
class Answer:
    """Of one attempt. `status` 0: none came. `begun` is on the monotonic clock. `body` is that of JSON only."""

    request: Request
    begun: float
    seconds: float
    status: int
    headers: dict[str, str] = field(default_factory=dict, repr=False)
    body: str = field(default="", repr=False)

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def ended(self) -> float:
        return self.begun + self.seconds

    @property
    def is_good(self) -> bool:
        return 200 <= self.status < 300


class Callers:
    """What is called: deliveries and quotes of `shop`, orders of `seller`, pages of a member of the shop."""

    def __init__(self, shop: Token, seller: Seller) -> None:
        self._bearer = {"Authorization": f"Bearer {shop.clear_text}"}
        self._basic = {"Authorization": f"Basic {key_of(seller)}"}
        self._account = shop.integrator.pk
        member = User.objects.create_user(f"member-{uuid4()}")
        shop.integrator.members.add(member)
        client = Client()
        client.force_login(member)
        session = client.cookies["sessionid"].value
        self._cookie = {"Cookie": f"sessionid={session}; __Host-sessionid={session}"}  # the latter in production
        self._makers: list[Callable[[], Request]] = [
            self.delivery,
            self._quote,
            self._order,
            self._orders,
            *(partial(self._page, page) for page in _PAGES),
        ]

    def requests(self) -> Iterator[Request]:
        """Each kind in turn, for ever."""
        for make in itertools.cycle(self._makers):
            yield make()

    def delivery(self) -> Request:
        """Of a new delivery."""
        key, body = uuid4().hex, payload(stops=1)
        body["dropoffs"][0]["externalId"] = key
        headers = {**self._bearer, "Idempotency-Key": key}
        return Request("delivery", "POST", "/api/request-delivery", headers, body, key)

    def _quote(self) -> Request:
        return Request("quote", "POST", "/api/quotation-delivery", self._bearer, payload(stops=2))

    def _order(self) -> Request:
        key = uuid4().hex
        body = order_body(orderId=key, trackingCode=None, invoice=None)
        headers = {**self._basic, "Idempotency-Key": key}
        return Request("order", "POST", "/api/integration/orders", headers, body, key)

    def _orders(self) -> Request:
        return Request("orders", "GET", "/api/integration/orders", self._basic)

    def cancellation(self, delivery: str) -> Request:
        body = {"reason": "The customer changed their mind"}
        return Request("cancellation", "POST", f"/api/cancel-delivery/{delivery}", self._bearer, body)

    def _page(self, page: str) -> Request:
        path = reverse(f"panel:{page}", kwargs={"account": self._account, "environment": "live"})
        return Request("page", "GET", path, self._cookie)


def call(session: requests.Session, base: str, request: Request) -> Answer:
    """Make the request once. Redirects are not followed."""
    begun = time.monotonic()
    try:
        response = session.request(
            request.method,
            base + request.path,
            headers=request.headers,
            json=request.body,
            timeout=DEADLINE_SECONDS,
            allow_redirects=False,
        )
    except requests.RequestException as error:
        return Answer(request, begun, time.monotonic() - begun, 0, body=repr(error))
    seconds = time.monotonic() - begun
    headers = {name.lower(): value for name, value in response.headers.items()}
    body = response.text if "json" in headers.get("content-type", "") else ""
    return Answer(request, begun, seconds, response.status_code, headers, body)


def new_session() -> requests.Session:
    session = requests.Session()
    session.trust_env = False
    return session


class Traffic(Threads):
    """Makes calls within a `with` block from `threads` threads, `per_second` together, to each of `bases` in turn."""

    def __init__(self, callers: Callers, bases: Sequence[str], *, per_second: float, threads: int = 6) -> None:
        self.answers: list[Answer] = []
        self._callers, self._bases = callers, bases
        self._pause = threads / per_second
        super().__init__([partial(self._call, number) for number in range(threads)])

    @property
    def refused(self) -> list[Answer]:
        return [answer for answer in self.answers if not answer.is_good]

    def since(self, moment: float) -> list[Answer]:
        """Those of requests that were made after it."""
        return [answer for answer in list(self.answers) if answer.begun > moment]

    def until_good(self, count: int) -> float:
        """Wait until `count` requests in a row that are made from now on are answered well. Returns the seconds."""
        now = time.monotonic()

        def is_over() -> bool:
            newest = self.since(now)[-count:]
            return len(newest) == count and all(answer.is_good for answer in newest)

        return until(is_over, what=f"{count} good answers in a row")

    def until_unanswered(self, count: int) -> None:
        """Wait until that many calls have got no answer, one of them a call that `repeat` makes again."""

        def is_over() -> bool:
            unanswered = [answer for answer in list(self.answers) if not answer.status]
            return len(unanswered) >= count and any(answer.request.key for answer in unanswered)

        until(is_over, what=f"{count} calls without an answer")

    def repeat(self, base: str, answers: Iterable[Answer]) -> list[Answer]:
        """Make those requests again that have a key, one after the other."""
        with new_session() as session:
            return [call(session, base, answer.request) for answer in answers if answer.request.key]

    def assert_repeatable(self, base: str, *, url: str = "") -> None:
        """What was refused says so and may be repeated at `base`; then every request has made exactly one.

        `url`: another database than that of these tests.
        """
        assert statuses(self.refused).keys() == {503}
        assert [answer for answer in self.refused if answer.headers.get("retry-after") != "5"] == []
        assert statuses(self.repeat(base, self.refused)).keys() == {201}
        assert made(self.answers, url=url).keys() == {1}

    def _call(self, number: int) -> None:
        wanted = itertools.islice(self._callers.requests(), number, None)
        bases = itertools.islice(itertools.cycle(self._bases), number % len(self._bases), None)
        with new_session() as session:
            for request, base in zip(wanted, bases, strict=False):
                answer = call(session, base, request)
                self.answers.append(answer)
                pause = self._pause if answer.status else max(self._pause, _NO_SERVER_SECONDS)
                if self.stopping.wait(max(0, answer.begun + pause - time.monotonic())):
                    return


def statuses(answers: Iterable[Answer]) -> Counter[int]:
    return Counter(answer.status for answer in answers)


def created(answers: Iterable[Answer]) -> list[str]:
    """The ids of the deliveries that were answered well, in order."""
    return [each.json["deliveryId"] for each in answers if each.request.kind == "delivery" and each.is_good]


def made(answers: Iterable[Answer], *, url: str = "") -> Counter[int]:
    """How many deliveries or orders the requests with a key have made: {1: 120} if each of 120 has made one.

    `url`: another database than that of these tests.
    """
    keys = {answer.request.key for answer in answers if answer.request.key}
    with psycopg.connect(url or embedded.postgres_url()) as connection:
        return Counter(count for (count,) in connection.execute(_MADE, [list(keys)]))
