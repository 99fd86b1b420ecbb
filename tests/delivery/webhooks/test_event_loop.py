"""The sender's event loop."""

import asyncio
import socket
import threading
from contextlib import closing

from delivery.webhooks import dispatch

FOUND = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 443))]


class TestEventLoop:
    def test_looks_a_name_up_while_ten_others_hang(self, monkeypatch):
        released = threading.Event()

        def getaddrinfo(host, *_args, **_options):
            if host.startswith("hangs"):
                released.wait(20)
            return FOUND

        async def look_up():
            names = [f"hangs-{number}.example" for number in range(10)]
            hanging = [asyncio.create_task(loop.getaddrinfo(name, 443)) for name in names]
            try:
                return await asyncio.wait_for(loop.getaddrinfo("shop.example", 443, type=socket.SOCK_STREAM), 10)
            finally:
                released.set()
                await asyncio.gather(*hanging, return_exceptions=True)

        monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
        with closing(dispatch.new_event_loop()) as loop:
            found = loop.run_until_complete(look_up())

        assert found == FOUND
