"""The limit: aiohttp alone posts bodies and headers like those of a drain, as many at once, and keeps no books.

`python -m benchmarks.bare URL COUNT` takes the body from standard input. It prints requests per second, and the CPU
seconds of this process for one request.
"""

import asyncio
import sys
import time
from uuid import uuid4

import aiohttp

_AT_ONCE = 200


async def main(url: str, count: int, body: bytes) -> tuple[float, float]:
    headers = {
        "Authorization": "Bearer rota_live_" + "x" * 43,
        "Content-Type": "application/json",
        "User-Agent": "Rota-Webhooks/1",
        "webhook-timestamp": "1795219200",
        "webhook-signature": "v1," + "x" * 44,
        "webhook-sequence": "1",
    }
    ids = iter([str(uuid4()) for _number in range(count)])

    async def post(session: aiohttp.ClientSession) -> None:
        for webhook_id in ids:
            async with session.post(url, data=body, headers={**headers, "webhook-id": webhook_id}) as response:
                await response.read()

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        started, cpu = time.monotonic(), time.process_time()
        await asyncio.gather(*(post(session) for _number in range(_AT_ONCE)))
        return count / (time.monotonic() - started), (time.process_time() - cpu) / count


if __name__ == "__main__":
    print(*asyncio.run(main(sys.argv[1], int(sys.argv[2]), sys.stdin.buffer.read())))
