"""What drivers do in the simulated day: duty, offers, the way, moves in and out of order, breaks."""

import asyncio
from collections.abc import Callable
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async

from benchmarks.day_phones import Phone, Tally, now, report_of
from delivery.geo.distance import Point, metres
from delivery.models import DropoffOptions
from delivery.models.stop import LABELS

# The day is compressed: drivers move at 720 km/h, below the limit of the position filter in this benchmark.
METRES_A_SECOND = 200.0
_STEP_SECONDS = 3.0  # between positions
_LATER, _TOO_EARLY, _FAILS, _BREAK = 0.15, 0.05, 0.05, 0.1  # shares of routes, or of stops
_MISTYPED = 0.1  # share of PINs
_BREAK_SECONDS = 3.0
_LONGEST_WAIT_SECONDS = 10.0
_CHOICES = 3  # a driver takes one of the nearest offers, so several drivers want the same ones


def _pin(delivery: str, label: str) -> str:
    """What the receiver tells the driver."""
    return DropoffOptions.objects.get(stop__delivery=UUID(delivery), stop__index=LABELS.index(label)).pin


class Worker:
    """One driver at work until the day is over."""

    def __init__(self, phone: Phone, place: Point, *, tally: Tally, is_over: Callable[[], bool]) -> None:
        self._phone, self._place, self._tally, self._is_over = phone, place, tally, is_over
        self._choice = phone.choice

    async def work(self) -> None:
        await self._phone.set_duty(on=True)
        await self._report_place()
        while not self._is_over():
            state = await self._phone.state()
            if state["route"] is not None:
                await self._take_on(state["route"])
            elif self._choice.random() < _BREAK:
                await self._rest()
            elif state["offers"]:
                offers = state["offers"][:_CHOICES]
                await self._phone.accept(self._choice.choice(offers)["deliveryId"])
            else:
                await self._stay()
        await self._phone.set_duty(on=False)

    async def _take_on(self, route: dict[str, Any]) -> None:
        """The next moves of the route. What is refused is found in the state that follows."""
        delivery = route["deliveryId"]
        match route["status"]:
            case "ACCEPTED":
                await self._collect(route)
            case "COLLECTED":
                stops = [point for point in route["points"][1:] if point["status"] == "COLLECTED"]
                if len(stops) > 1 and self._choice.random() < _LATER:
                    await self._without_signal(delivery, stops)
                else:
                    await self._drive_to(stops[0])
                    await self._phone.move([await self._closing(delivery, stops[0])])
            case _returning:
                await self._drive_to(route["points"][0])
                await self._phone.move([report_of(delivery, "return")])

    async def _collect(self, route: dict[str, Any]) -> None:
        await self._drive_to(route["points"][0])
        collect = report_of(route["deliveryId"], "collect")
        if self._choice.random() < _TOO_EARLY:
            # The report of the first stop arrives before that of the pickup, and is refused. Its outcome stays so.
            early = await self._closing(route["deliveryId"], route["points"][1])
            self._tally.count["reports out of order"] += 1
            await self._phone.move([early, collect])
            await self._phone.move([early])
        else:
            await self._phone.move([collect])

    async def _without_signal(self, delivery: str, stops: list[dict[str, Any]]) -> None:
        """Close all stops without a connection; then send the positions and all moves at once, some of them again."""
        moves, positions = [], []
        for stop in stops:
            positions += await self._drive_to(stop, reports=False)
            moves.append(await self._closing(delivery, stop))
        self._tally.count["moves made without signal"] += len(moves)
        await self._phone.report_positions(positions)
        await self._phone.move(moves)
        await self._phone.move(moves[::-1])

    async def _closing(self, delivery: str, stop: dict[str, Any]) -> dict[str, Any]:
        """With the proof that the stop asks for. A PIN is mistyped now and then, so that the move is refused."""
        label = stop["label"]
        if self._choice.random() < _FAILS:
            return report_of(delivery, "fail", point=label, reason="Nobody is at home")
        proof: dict[str, Any] = {"receivedBy": "Ana"}
        if stop["needsPhoto"]:
            proof["photos"] = [await self._phone.upload_photo(delivery, label)]
        if stop["needsPin"]:
            is_mistyped = self._choice.random() < _MISTYPED
            proof["pin"] = "none" if is_mistyped else await sync_to_async(_pin)(delivery, label)
        return report_of(delivery, "deliver", point=label) | proof

    async def _drive_to(self, point: dict[str, Any], *, reports: bool = True) -> list[dict[str, Any]]:
        """The positions on the way, which are reported at once if it `reports`."""
        end = Point(point["coordinates"]["latitude"], point["coordinates"]["longitude"])
        positions = []
        while (left := metres(self._place, end)) > 1:
            share = min(METRES_A_SECOND * _STEP_SECONDS / left, 1)
            await asyncio.sleep(_STEP_SECONDS)
            self._place = Point(
                self._place.latitude + (end.latitude - self._place.latitude) * share,
                self._place.longitude + (end.longitude - self._place.longitude) * share,
            )
            positions.append(self._position())
            if reports:
                await self._phone.report_positions(positions[-1:])
        return positions

    def _position(self) -> dict[str, Any]:
        return {"latitude": self._place.latitude, "longitude": self._place.longitude, "accuracy": 10, "at": now()}

    async def _report_place(self) -> None:
        await self._phone.report_positions([self._position()])

    async def _stay(self) -> None:
        """Without a stream of updates the app asks every ten seconds."""
        await asyncio.sleep(self._choice.uniform(1, _LONGEST_WAIT_SECONDS))
        await self._report_place()

    async def _rest(self) -> None:
        """Off duty for a while. A position that the phone reports then is refused."""
        await self._phone.set_duty(on=False)
        await asyncio.sleep(_BREAK_SECONDS)
        code = await self._phone.report_positions([self._position()])
        self._tally.count[f"positions off duty: {code or 'KEPT'}"] += 1
        await self._phone.set_duty(on=True)
