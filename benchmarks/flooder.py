"""`python -m benchmarks.flooder URL CONNECTIONS PER_SECOND`: calls URL with the token in TOKEN until SIGTERM.

PER_SECOND 0: each connection calls again as soon as it is answered. Prints the number of answers by status, as JSON.
"""

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from contextlib import suppress

import aiohttp


async def main(url: str, connections: int, per_second: int) -> None:
    statuses: Counter[str] = Counter()
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    pause = connections / per_second if per_second else 0
    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}"}
    connector = aiohttp.TCPConnector(limit=connections)
    async with aiohttp.ClientSession(connector=connector, headers=headers) as session:

        async def call(number: int) -> None:
            await asyncio.sleep(pause * number / connections)
            while not stopped.is_set():
                async with session.get(url) as answer:
                    await answer.read()
                    statuses[str(answer.status)] += 1
                await asyncio.sleep(pause)

        calls = [asyncio.create_task(call(number)) for number in range(connections)]
        await stopped.wait()
        for task in calls:
            task.cancel()
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*calls)
    print(json.dumps(statuses))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
