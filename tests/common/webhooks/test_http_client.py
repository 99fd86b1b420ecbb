"""One HTTP request, with every kind of answer, and the event loop. Names are pointed at loopback."""

import asyncio
import errno
import socket
import threading
import time
from contextlib import closing, suppress
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


def answer_of(*parts):
    """The result of a request to a server that sends these bytes and ends the connection; a number: seconds to wait."""

    def answer(server):
        connection, _address = server.accept()
        with connection:
            connection.recv(65536)
            for part in parts:
                if isinstance(part, bytes):
                    connection.sendall(part)
                    time.sleep(0.02)  # so that the client reads it apart from the next part
                else:
                    connection.settimeout(part)
                    with suppress(TimeoutError):
                        connection.recv(1)

    with socket.create_server(("127.0.0.1", 0)) as server:
        answering = threading.Thread(target=answer, args=(server,))
        answering.start()
        result = send(f"http://127.0.0.1:{server.getsockname()[1]}/")
        answering.join()
    return result


def request_target(saved):
    """What stands in the request line of a request to a server on loopback, of a URL that ends in this."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        loop = threading.Thread(target=send, args=(f"http://127.0.0.1:{server.getsockname()[1]}{saved}",))
        loop.start()
        connection, _address = server.accept()
        with connection:
            line = connection.recv(65536).split(b"\r\n")[0]
            connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")
        loop.join()
    return line.decode().removeprefix("POST ").removesuffix(" HTTP/1.1")


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

        assert result == ("x" * 4092 + "[sec", "")

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


OK = b"HTTP/1.1 200 OK\r\n"
HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
LENGTH = b"Content-Length: 2\r\n"


class TestStatusLine:
    """The status line of an answer decides, whatever comes after it."""

    @pytest.mark.parametrize(
        "parts",
        [
            pytest.param((OK + LENGTH + b"Content-Security-Policy: " + b"a" * 9000 + b"\r\n\r\nok",), id="long header"),
            pytest.param((OK + LENGTH + b"Set-Cookie: c=v\r\n" * 150 + b"\r\nok",), id="150 headers"),
            pytest.param((b"HTTP/1.1 200 " + b"a" * 9000 + b"\r\n" + LENGTH + b"\r\nok",), id="long reason"),
            pytest.param((OK + LENGTH + b"\r\n", b"ok and more"), id="length too small"),
            pytest.param((OK + LENGTH + b"Content-Encoding: gzip\r\n\r\nok",), id="not in its encoding"),
        ],
    )
    def test_reads_what_is_unusual(self, parts):
        result = answer_of(*parts)

        assert (result.succeeded, result.status_code, result.error, result.response_start) == (True, 200, "", "ok")

    @pytest.mark.parametrize(
        ("parts", "read"),
        [
            pytest.param((OK,), "", id="no headers"),
            pytest.param((OK + b"Content-Le",), "", id="headers cut off"),
            pytest.param((OK + b"X: " + b"a" * 90_000 + b"\r\n\r\nok",), "", id="header too long"),
            pytest.param((OK + LENGTH + LENGTH + b"\r\nok",), "", id="length twice"),
            pytest.param((OK + b"Content-Length: two\r\n\r\nok",), "", id="length is no number"),
            pytest.param((OK + LENGTH + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",), "", id="length and chunks"),
            pytest.param((OK + LENGTH + b"no header\r\n\r\nok",), "", id="header without a colon"),
            pytest.param((OK + LENGTH + b"\r\nok and more",), "", id="length too small, in one part"),
            pytest.param((OK + b"Content-Length: 9\r\n\r\nok",), "ok", id="body cut off"),
            pytest.param((CHUNKED + b"2\r\nok\r\n",), "ok", id="chunks cut off"),
            pytest.param((CHUNKED, b"2\r\nok\r\n", b"no size\r\n", 20), "ok", id="malformed chunks"),
            pytest.param((HINTS + b"\r\n" + OK,), "", id="after an informational one"),
        ],
    )
    def test_stores_of_an_answer_what_can_be_read(self, parts, read):
        result = answer_of(*parts)

        assert (result.succeeded, result.status_code) == (True, 200)
        assert (result.error, result.response_start) == ("unread", read)
        assert result.milliseconds < 5000

    def test_takes_a_body_where_there_may_be_none(self):
        result = answer_of(b"HTTP/1.1 204 No Content\r\n" + LENGTH + b"\r\nok")

        assert (result.succeeded, result.status_code) == (True, 204)

    @pytest.mark.parametrize("parts", [(OK + b"X: a\r\n", 20), (OK + b"Content-Length: 9\r\n\r\nok", 20)])
    def test_waits_for_the_rest_until_the_deadline(self, parts, monkeypatch):
        monkeypatch.setattr(http_client, "TOTAL_SECONDS", 0.3)

        result = answer_of(*parts)

        assert (result.succeeded, result.error, result.milliseconds >= 300) == (True, "unread", True)

    def test_decides_for_a_failure_too(self):
        result = answer_of(b"HTTP/1.1 410 Gone\r\n" + LENGTH + LENGTH + b"\r\nno")

        assert (result.succeeded, result.status_code, result.error) == (False, 410, "unread")

    def test_is_that_of_each_answer_on_a_connection_that_is_used_again(self, sink, monkeypatch):
        sink.answers = [(200, {"Content-Length": "0"}, b""), (500, {"Content-Length": "x"}, b"")]
        monkeypatch.setattr(sink.RequestHandlerClass, "protocol_version", "HTTP/1.1")

        statuses = [result.status_code for result in send(sink.url, times=2)]

        assert statuses == [200, 500]

    @pytest.mark.parametrize("answer", [b"", b"HTTP/1.1 200 O", HINTS, b"200 OK\r\n"])
    def test_is_needed_for_a_success(self, answer):
        result = answer_of(answer)

        assert (result.succeeded, result.status_code, result.error) == (False, None, "protocol")


class TestCalledUrl:
    @pytest.mark.parametrize(
        "saved",
        [
            "/hook?sp=%2Ftriggers%2Fmanual%2Frun&sv=1.0&sig=a%2Bb%3D",
            "/hook?user=ana%40exemplo.invalid&t=%28x%29&q=%27",
            "/%41%3ab/%7Euser",
            "//a/../b/./c",
            "/hook?items[]=1&a=b+c&d=~",
            "/hook?",
            "/hook??a=?",
            '/{id}|"<>^`%',
        ],
    )
    def test_is_byte_for_byte_what_was_saved(self, saved):
        assert request_target(saved) == saved

    @pytest.mark.parametrize(
        ("saved", "called"),
        [
            ("", "/"),
            ("?a=b", "/?a=b"),
            ("/hook?a=b#part?c", "/hook?a=b"),
            ("/integração?é=%C3%A9", "/integra%C3%A7%C3%A3o?%C3%A9=%C3%A9"),
        ],
    )
    def test_has_what_no_request_can_do_without(self, saved, called):
        assert request_target(saved) == called

    def test_is_none_if_it_cannot_be_read(self):
        assert send("https://shop.example\N{ACCOUNT OF}.example/").error == "invalid_url"


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
