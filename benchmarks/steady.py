"""Calls at a constant rate, however long the answers take. wrk makes the next call when it has an answer.

`python -m benchmarks.steady` takes the call as JSON from standard input, and prints the answers' milliseconds as JSON.
The time of an answer counts from the moment at which the call was due, also if all connections were in use then.
"""

import asyncio
import json
import re
import sys
from typing import Any

import uvloop

_CONNECTIONS = 64


async def main(call: dict[str, Any]) -> list[float]:
    """`per_second` and `seconds` say how many calls; `{fresh}` in the body stands for text that no other call has."""
    loop = asyncio.get_running_loop()
    free: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = asyncio.Queue()
    for _number in range(_CONNECTIONS):
        free.put_nowait(await asyncio.open_connection("127.0.0.1", call["port"]))
    milliseconds = []

    async def send(number: int, due: float) -> None:
        body = call["body"].replace("{fresh}", f"{call['fresh']}{number}").encode()
        connection = reader, writer = await free.get()
        writer.write(call["head"].encode() + b"Content-Length: %d\r\n\r\n" % len(body) + body)
        head = await reader.readuntil(b"\r\n\r\n")
        if not re.match(rb"HTTP/1.1 20[01] ", head):
            raise RuntimeError(head.decode())
        length = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
        assert length
        await reader.readexactly(int(length[1]))
        milliseconds.append(1000 * (loop.time() - due))
        free.put_nowait(connection)

    started = loop.time()
    async with asyncio.TaskGroup() as sending:
        for number in range(int(call["per_second"] * call["seconds"])):
            due = started + number / call["per_second"]
            await asyncio.sleep(due - loop.time())
            sending.create_task(send(number, due))
    return milliseconds


if __name__ == "__main__":
    print(json.dumps(uvloop.run(main(json.load(sys.stdin)))))
