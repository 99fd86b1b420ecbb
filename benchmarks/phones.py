"""`python -m benchmarks.phones`: phones of drivers that send positions over HTTP, as the driver's app does.

Reads one JSON object from standard input: `url`, `sessions` (one for each phone), `seconds`, `pause` (seconds between
the batches of a phone), `size` (positions in a batch). Prints one: `kept` positions, `statuses`, `milliseconds` of each
answer.
"""

import asyncio
import json
import sys
import time
from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp

_CSRF = "x" * 32
_METRES_PER_DEGREE = 111_000
_METRES_PER_SECOND = 8


class _Phones:
    """What all phones were answered."""

    def __init__(self, asked: dict[str, Any]) -> None:
        self.asked = asked
        self.kept = 0
        self.statuses: Counter[str] = Counter()
        self.milliseconds: list[float] = []

    async def drive(self, client: aiohttp.ClientSession, number: int) -> None:
        """One phone, from its own moment within the first pause, so that the batches are spread evenly."""
        pause, seconds = self.asked["pause"], self.asked["seconds"]
        begun = time.monotonic()
        due = pause * number / len(self.asked["sessions"])
        headers = {"Cookie": f"driver={self.asked['sessions'][number]}; csrftoken={_CSRF}", "X-CSRFToken": _CSRF}
        while due < seconds and time.monotonic() < begun + seconds:
            await asyncio.sleep(max(0.0, begun + due - time.monotonic()))
            body, sent = self._batch(due, number), time.monotonic()
            async with client.post(self.asked["url"], data=body, headers=headers) as answer:
                content = await answer.read()
                self.statuses[str(answer.status)] += 1
                if answer.ok:
                    self.kept += json.loads(content)["kept"]
            self.milliseconds.append(1000 * (time.monotonic() - sent))
            due += pause

    def _batch(self, due: float, number: int) -> str:
        """The positions since the last batch: a drive to the north."""
        now, size, pause = datetime.now(UTC), self.asked["size"], self.asked["pause"]
        ages = [pause * step / size for step in range(size)]
        return json.dumps({
            "sentAt": now.isoformat(),
            "positions": [
                {
                    "latitude": -23.6 + (due - age) * _METRES_PER_SECOND / _METRES_PER_DEGREE,
                    "longitude": -46.7 + number / 10_000,
                    "accuracy": 12.5,
                    "at": (now - timedelta(seconds=age)).isoformat(),
                }
                for age in ages
            ],
        })  # fmt: skip


async def main() -> None:
    phones = _Phones(json.load(sys.stdin))
    connector = aiohttp.TCPConnector(limit=len(phones.asked["sessions"]), keepalive_timeout=60)
    async with aiohttp.ClientSession(connector=connector) as client:
        await asyncio.gather(*(phones.drive(client, number) for number in range(len(phones.asked["sessions"]))))
    print(json.dumps({"kept": phones.kept, "statuses": phones.statuses, "milliseconds": phones.milliseconds}))


if __name__ == "__main__":
    asyncio.run(main())
