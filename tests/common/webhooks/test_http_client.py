"""One HTTP request, with every kind of answer, and the event loop. Names are pointed at loopback."""

import asyncio
import errno
import socket
import threading
import time
from contextlib import closing
from typing import Any

import pytest

from common.webhooks import http_client
from common.webhooks.http_client import Request

HEADERS = {
    "Authorization": "Bearer secret",
    "Content-Type": "application/json",
    "webhook-signature": "v1,c2lnbmF0dXJl",
}
SECRETS = ("secret", "c2lnbmF0dXJl")  # pragma: allowlist secret  # of a test


def send(url, *, times=1, allow_loopback=True):
    """The result of the request, or the results of several in a row."""

    async def sent():
        async with http_client.open_session(allow_loopback=allow_loopback) as session:
            results = [
                await http_client.send(session, Request(url, HEADERS, b"{}", secrets=SECRETS)) for _time in range(times)
            ]
        return results if times > 1 else results[0]

    loop = asyncio.new_event_loop()  # closing it does not wait for look-ups that hang, as asyncio.run would
    try:
        return loop.run_until_complete(sent())
    finally:
        loop.close()


def answer_and_stall(server, size):
    """Send `size` bytes of a longer body, then nothing until the client disconnects."""
    connection, _address = server.accept()
    with connection:
        connection.recv(65536)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n" + b"x" * size)
        connection.recv(1)


class Response:
    """An answer whose body is read in these parts. Of a socket it would depend on the moment which parts there are."""

    def __init__(self, parts):
        self.content, self.parts = self, parts

    def at_eof(self):
        return False

    async def iter_any(self):
        for part in self.parts:
            yield part

    def close(self):
        pass


class TestSend:
    def test_stores_the_first_4_kib_of_an_answer(self, sink):
        sink.answers = [(200, {}, b"x" * 1_000_000)]

        result = send(sink.url)

        assert (result.status_code, len(result.response_start)) == (200, 4096)

    def test_reads_at_most_64_kib_of_an_answer(self, monkeypatch):
        monkeypatch.setattr(http_client, "TOTAL_SECONDS", 2)

        with socket.create_server(("127.0.0.1", 0)) as server:
            threading.Thread(target=answer_and_stall, args=(server, 80 * 1024), daemon=True).start()
            result = send(f"http://127.0.0.1:{server.getsockname()[1]}/")

        assert (result.status_code, result.error, len(result.response_start)) == (200, "", 4096)

    def test_keeps_a_nul_out_of_what_is_stored(self, sink):
        sink.answers = [(200, {}, b"a\0b\xff")]

        assert send(sink.url).response_start == "a\ufffdb\ufffd"

    def test_keeps_the_token_and_the_signature_out_of_what_is_stored(self, sink):
        answer = b'{"you sent": "Bearer secret, v1,c2lnbmF0dXJl"}'
        sink.answers = [(200, {}, answer), (200, {}, b"x" * 4090 + b"secret")]

        echoed, cut = send(sink.url).response_start, send(sink.url).response_start

        assert echoed == '{"you sent": "Bearer [secret], v1,[secret]"}'
        assert cut.endswith("[secre")

    def test_keeps_a_token_out_that_arrives_in_two_parts(self):
        """The first part is as long as what is stored, and ends within the token."""
        response: Any = Response([b"x" * 4092 + b"secret"[:4], b"secret"[4:]])

        result = asyncio.run(http_client._read_start(response, Request("", HEADERS, b"{}", secrets=SECRETS)))

        assert result == "x" * 4092 + "[sec"

    def test_does_not_decompress_the_answer(self, sink):
        sink.answers = [(200, {"Content-Encoding": "gzip"}, b"not gzip at all")]

        assert send(sink.url).response_start == "not gzip at all"

    def test_connects_to_no_private_address(self, sink):
        result = send(sink.url.replace("127.0.0.1", "localhost"), allow_loopback=False)

        assert (result.error, result.status_code, sink.received) == ("address_refused", None, [])

    def test_ignores_netrc_and_proxies(self, sink, monkeypatch, tmp_path):
        (tmp_path / ".netrc").write_text("machine 127.0.0.1 login thief password thief\n")
        monkeypatch.setenv("HOME", str(tmp_path))
        monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")

        assert send(sink.url).succeeded
        assert sink.received[0][0]["authorization"] == "Bearer secret"

    def test_ends_at_its_deadline(self, monkeypatch):
        monkeypatch.setattr(http_client, "TOTAL_SECONDS", 0.3)

        with socket.create_server(("127.0.0.1", 0)) as silent:
            started = time.monotonic()
            result = send(f"http://127.0.0.1:{silent.getsockname()[1]}/")

        assert (result.error, result.milliseconds >= 300) == ("timeout", True)
        assert time.monotonic() - started < 5

    def test_looks_a_name_up_that_hangs_once_at_a_time_and_does_not_wait_for_it(self, monkeypatch):
        looked_up: list[str] = []
        release = threading.Event()

        def hang(host, *args, **kwargs):
            looked_up.append(host)
            release.wait(30)

        monkeypatch.setattr(http_client, "TOTAL_SECONDS", 0.3)
        monkeypatch.setattr(socket, "getaddrinfo", hang)

        started = time.monotonic()

        errors = [result.error for result in send("https://slow.example/", times=3)]
        took = time.monotonic() - started
        release.set()

        assert (errors, looked_up) == (["timeout"] * 3, ["slow.example"])
        assert took < 5

    @pytest.mark.parametrize("status", [301, 302, 400, 401, 404, 500, 503])
    def test_takes_only_2xx_for_a_success_and_follows_no_redirect(self, sink, status):
        sink.answers = [(status, {"Location": sink.url}, b"no")]

        result = send(sink.url)

        assert (result.succeeded, result.status_code, result.response_start) == (False, status, "no")
        assert len(sink.received) == 1

    def test_does_not_take_a_shortage_of_this_machine_for_a_failure_of_the_endpoint(self, monkeypatch):
        def no_file_handles(*_args, **_kwargs):
            raise OSError(errno.EMFILE, "Too many open files")

        monkeypatch.setattr(http_client, "guarded_socket", no_file_handles)

        result = send("http://127.0.0.1:9/")

        assert (result.error, result.was_sent) == ("local_shortage", False)

    @pytest.mark.parametrize(("url", "error"), [("http://127.0.0.1:9/", "connect"), ("http://", "invalid_url")])
    def test_names_the_class_of_the_error(self, url, error):
        assert send(url).error == error


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
        with closing(http_client.new_event_loop()) as loop:
            found = loop.run_until_complete(look_up())

        assert found == FOUND
