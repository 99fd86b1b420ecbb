"""Drivers with the calls of their app: they accept offers and make the moves, and repeat what was not answered."""

import random
import time
from collections import Counter
from datetime import UTC, datetime
from functools import partial
from typing import Any, Self
from uuid import uuid4

import requests
from django.utils import timezone

from delivery.drivers import devices as driver_devices
from delivery.models import Driver
from tests.factories import BY, PICKUP, DriverFactory
from tests.faults.calls import new_session
from tests.faults.threads import Threads
from tests.faults.waiting import DEADLINE_SECONDS, until

_PAUSE_SECONDS = 0.3
_REPORT_SECONDS = 5  # between positions
_PLACE = {"latitude": PICKUP.latitude, "longitude": PICKUP.longitude, "accuracy": 10}


class Drivers(Threads):
    """`count` drivers at work within a `with` block; at its end each closes the route that they have."""

    def __init__(self, base: str, count: int) -> None:
        self.counts: Counter[str] = Counter()
        # Moves that an answer called done: delivery, trigger, point.
        self.done: list[tuple[str, str, str]] = []
        self._count = count
        super().__init__([partial(self._work, _Phone(base, self)) for _number in range(count)])

    def __enter__(self) -> Self:
        """Returns once all are on duty."""
        super().__enter__()
        until(lambda: self.errors or self.counts["on duty"] == self._count, what="all on duty")
        return self

    def _work(self, phone: "_Phone") -> None:
        phone.begin()
        self.counts["on duty"] += 1
        while not self.stopping.wait(_PAUSE_SECONDS):
            phone.go_on(accepts=True)
        while phone.go_on(accepts=False):
            pass


class _Phone:
    def __init__(self, base: str, drivers: Drivers) -> None:
        self._driver = DriverFactory.create(on_duty=False)
        self._base, self._drivers = base, drivers
        self._choice = random.Random(str(self._driver.pk))  # noqa: S311  # which offer
        self._http = new_session()
        self._csrf = ""
        self._reported_at = 0.0

    def begin(self) -> None:
        """Log in and go on duty."""
        log_in(self._http, self._base, self._driver)
        self._csrf = self._call("GET", "state/")["csrf"]
        self._call("POST", "duty/", {"onDuty": True})

    def go_on(self, *, accepts: bool) -> bool:
        """The next move of the route, or an offer. Whether there is a route."""
        if time.monotonic() - self._reported_at > _REPORT_SECONDS:
            self._call("POST", "positions/", {"positions": [{**_PLACE, "at": _now()}]})
            self._reported_at = time.monotonic()
        state = self._call("GET", "state/")
        if state["route"] is None:
            if accepts and state["offers"]:
                self._accept(self._choice.choice(state["offers"][:3])["deliveryId"])
            return False
        self._move(state["route"])
        return True

    def _accept(self, delivery: str) -> None:
        answer = self._call("POST", f"offers/{delivery}/accept/", {})
        self._drivers.counts["accepted" if "code" not in answer else f"not accepted: {answer['code']}"] += 1

    def _move(self, route: dict[str, Any]) -> None:
        move: dict[str, Any] = {"id": str(uuid4()), "deliveryId": route["deliveryId"], "madeAt": _now()}
        match route["status"]:
            case "ACCEPTED":
                move["trigger"] = "collect"
            case "COLLECTED":
                ahead = [point["label"] for point in route["points"][1:] if point["status"] == "COLLECTED"]
                if not ahead:  # a cancellation was committed between two statements of the answer; the next one has it
                    return
                move |= {"trigger": "deliver", "point": ahead[0], "receivedBy": "Ana"}
            case _returning:
                move["trigger"] = "return"
        (outcome,) = self._call("POST", "moves/", {"moves": [move]})["outcomes"]
        self._drivers.counts[f"{move['trigger']}: {outcome['code'] or 'done'}"] += 1
        if outcome["done"]:
            self._drivers.done.append((move["deliveryId"], move["trigger"], move.get("point", "")))

    def _call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """The same call, until it is answered by something else than 503."""
        while True:
            json = {**body, "sentAt": _now()} if body is not None else None
            headers = {"X-CSRFToken": self._csrf}
            try:
                answer = self._http.request(
                    method, f"{self._base}/driver/{path}", json=json, headers=headers, timeout=DEADLINE_SECONDS
                )
            except requests.RequestException:
                self._drivers.counts["calls without an answer"] += 1
            else:
                if answer.status_code not in {502, 503}:
                    assert answer.status_code in {200, 404, 409, 410, 422}, answer.text[:500]
                    return dict(answer.json())
                self._drivers.counts["calls answered by 503"] += 1
            time.sleep(0.5)


def log_in(session: requests.Session, base: str, driver: Driver) -> None:
    """By a new link, as with its button."""
    link = f"{base}/driver/in/{driver_devices.issue_link(driver=driver, by=BY, at=timezone.now())}/"
    session.get(link, timeout=DEADLINE_SECONDS).raise_for_status()
    form = {"csrfmiddlewaretoken": session.cookies["csrftoken"]}
    session.post(link, data=form, timeout=DEADLINE_SECONDS).raise_for_status()


def _now() -> str:
    return datetime.now(UTC).isoformat()
