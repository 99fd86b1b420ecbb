"""The RSGI entry point in a real granian server: which parts of a request reach Django."""

import json
import os
import select
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from http.client import HTTPConnection

import pytest
from django.urls import reverse

from config.server.rsgi import MAX_BODY_BYTES, MAX_BODY_BYTES_OF, NOT_ASCII
from delivery import photos
from tests.config.server.stream_client import granian


@pytest.fixture(scope="module")
def server():
    with granian("tests.config.server.echo_server:application", os.environ) as started:
        yield started


@pytest.fixture
def send(server):
    """Sends bytes and returns the status and the answer's body, read until the server closes the connection."""

    def do(*parts, shut=False):
        with socket.create_connection(("127.0.0.1", server[0]), timeout=20) as connection:
            with suppress(BrokenPipeError):  # refused before all of it was sent
                for part in parts:
                    connection.sendall(part)
            if shut:
                connection.shutdown(socket.SHUT_WR)
            received = b"".join(iter(lambda: connection.recv(65536), b""))
        head, _blank, body = received.partition(b"\r\n\r\n")
        return int(head.split(b" ")[1]) if head else None, body

    return do


def request(*lines, method="POST", path="/"):
    head = [f"{method} {path} HTTP/1.1", "Host: rota.example", "Connection: close", *lines, "", ""]
    return "\r\n".join(head).encode()


def slowly(server, path, *, length, parts):
    """Send parts of 500 bytes, four a second, of a body of `length` bytes. Returns what the server has seen."""
    with socket.create_connection(("127.0.0.1", server[0]), timeout=20) as connection:
        connection.sendall(request(f"Content-Length: {length}", path=path))
        with suppress(BrokenPipeError, ConnectionResetError):  # refused before all of it was sent
            for _part in range(parts):
                connection.sendall(b"x" * 500)
                time.sleep(0.25)
        received = b"".join(iter(lambda: connection.recv(65536), b""))
    return json.loads(received.partition(b"\r\n\r\n")[2])


class TestEnviron:
    def test_drops_headers_with_an_underscore_in_their_name(self, send):
        _status, body = send(request("X_Forwarded_For: 6.6.6.6", "X-Forwarded-For: 192.0.2.1", "Content_Length: 9"))

        seen = json.loads(body)
        assert seen["HTTP_X_FORWARDED_FOR"] == "192.0.2.1"
        assert seen["CONTENT_LENGTH"] == "0"

    def test_is_that_of_wsgi(self, send, server):
        """Repeated headers are joined; path and query are bytes in latin-1."""
        headers = ("X-A: 1", "X-A: 2", "Cookie: a=1", "Cookie: b=2")

        _status, body = send(request(*headers, path="/caf%C3%A9/%2F?q=%C3%A9", method="GET"))

        seen = json.loads(body)
        assert seen.pop("PATH_INFO").encode("latin-1").decode() == "/café//"
        assert seen == {
            "REQUEST_METHOD": "GET", "SCRIPT_NAME": "", "QUERY_STRING": "q=%C3%A9", "SERVER_NAME": "127.0.0.1",
            "SERVER_PORT": str(server[0]), "SERVER_PROTOCOL": "HTTP/1.1", "REMOTE_ADDR": "127.0.0.1",
            "wsgi.url_scheme": "http", "HTTP_HOST": "rota.example", "HTTP_CONNECTION": "close", "HTTP_X_A": "1,2",
            "HTTP_COOKIE": "a=1; b=2", "CONTENT_LENGTH": "0", "body_bytes": 0,
        }  # fmt: skip  # a table

    @pytest.mark.parametrize("value", ["n\xba-1".encode("latin-1"), "nº-1".encode()])
    def test_marks_values_that_are_not_ascii(self, send, value):
        _status, body = send(request("X-Other: a").replace(b"X-Other: a", b"X-Other: a\r\nIdempotency-Key: " + value))

        seen = json.loads(body)
        assert (seen["HTTP_IDEMPOTENCY_KEY"], seen["HTTP_X_OTHER"]) == (NOT_ASCII, "a")

    @pytest.mark.parametrize(("version", "host"), [("1.1", ""), ("1.0", None)])
    def test_has_an_empty_host_where_http_demands_one(self, send, version, host):
        _status, body = send(
            request(method="GET").replace(b"Host: rota.example\r\n", b"").replace(b"1.1", version.encode())
        )

        assert json.loads(body).get("HTTP_HOST") == host


class TestBody:
    def test_is_whole_when_its_length_is_declared(self, send):
        status, body = send(request("Content-Length: 300000"), b"x" * 100_000, b"y" * 200_000)

        assert (status, json.loads(body)["body_bytes"]) == (200, 300_000)

    def test_is_whole_when_it_comes_in_chunks(self, send):
        status, body = send(request("Transfer-Encoding: chunked"), b"3\r\nabc\r\n", b"4\r\ndefg\r\n0\r\n\r\n")

        seen = json.loads(body)
        assert (status, seen["body_bytes"], seen["CONTENT_LENGTH"]) == (200, 7, "7")

    def test_is_read_for_a_get_too(self, send):
        _status, body = send(request("Content-Length: 3", method="GET"), b"abc")

        assert json.loads(body)["body_bytes"] == 3

    def test_is_cut_where_no_endpoint_takes_more(self, send):
        _status, body = send(request(f"Content-Length: {MAX_BODY_BYTES + 1}"), b"x" * (MAX_BODY_BYTES + 1))

        assert json.loads(body)["body_bytes"] == MAX_BODY_BYTES

    @pytest.mark.parametrize(
        ("length", "sent", "header"),
        [
            (MAX_BODY_BYTES, MAX_BODY_BYTES, None),
            (MAX_BODY_BYTES + 1, MAX_BODY_BYTES + 1, "close"),
            pytest.param(10, 3, "close", id="late"),
        ],
    )
    def test_that_is_not_read_to_its_end_closes_the_connection_and_says_so(self, server, length, sent, header):
        connection = HTTPConnection("127.0.0.1", server[0], timeout=20)
        with closing(connection):
            connection.putrequest("POST", "/")
            connection.putheader("Content-Length", str(length))
            connection.endheaders(b"x" * sent)

            assert connection.getresponse().getheader("Connection") == header

    def test_of_a_photo_may_be_longer(self, send):
        size = MAX_BODY_BYTES + 300_000

        _status, body = send(request(f"Content-Length: {size}", path="/driver/photos/"), b"x" * size)

        assert json.loads(body)["body_bytes"] == size

    def test_of_a_photo_is_read_up_to_the_byte_that_is_too_much(self):
        assert MAX_BODY_BYTES_OF[reverse("driver_app:photos")] == photos.MOST_BYTES + 1

    def test_is_refused_while_other_large_bodies_occupy_the_memory(self, send, server):
        with socket.create_connection(("127.0.0.1", server[0]), timeout=20) as other:
            other.sendall(request("Content-Length: 4000000") + b"x" * 3_000_000)

            def unread():
                return json.loads(send(request("Content-Length: 4000000"), b"x" * 4_000_000)[1]).get("rota.unread_body")

            end = time.monotonic() + 20
            while unread() != "busy":  # one of these may be read before the other one
                assert time.monotonic() < end
        assert json.loads(send(request("Content-Length: 4000000"), b"x" * 4_000_000)[1])["body_bytes"] == 4_000_000

    def test_occupies_the_memory_until_the_request_is_answered(self, send, server):
        with socket.create_connection(("127.0.0.1", server[0]), timeout=20) as slow:
            slow.sendall(request("Content-Length: 4000000", path="/slow") + b"x" * 4_000_000)

            _status, body = send(request("Content-Length: 4000000"), b"x" * 4_000_000)

        assert json.loads(body).get("rota.unread_body") == "busy"

    def test_reaches_nobody_when_the_client_goes_away(self, send):
        status, _body = send(request("Content-Length: 10"), b"abc", shut=True)

        assert status == 400

    @pytest.mark.parametrize(
        "chunks",
        [
            b"", b"3\r\nabc\r\n", b"3\r\nab", b"3\r\nabc\r\n0\r\n", b"3\r\nabc\r\nzz\r\n", b"3\r\nabcd\r\n0\r\n\r\n",
            b"3\r\nabc\r\n-1\r\n\r\n", b"3\r\nabc\r\nfffffffffffffffff\r\n",
        ],
        ids=[
            "nothing", "no last chunk", "half a chunk", "no end", "no number", "longer than said", "negative",
            "too large",
        ],
    )  # fmt: skip  # a table
    def test_reaches_nobody_when_its_chunks_are_incomplete(self, send, chunks):
        status, body = send(request("Transfer-Encoding: chunked"), chunks, shut=True)

        assert (status, body) == (400, b"")

    def test_may_be_empty_in_chunks_but_have_no_trailers(self, send):
        empty, trailers = (
            send(request("Transfer-Encoding: chunked"), b"0\r\n" + end) for end in (b"\r\n", b"X-A: 1\r\n\r\n")
        )

        assert (empty[0], json.loads(empty[1])["body_bytes"]) == (200, 0)
        assert trailers == (400, b"")

    def test_reaches_nobody_when_its_chunks_end_beside_a_declared_length(self, send):
        status, body = send(request("Transfer-Encoding: chunked", "Content-Length: 3"), b"3\r\nabc\r\n", shut=True)

        assert (status, body) == (400, b"")

    @pytest.mark.parametrize("start", [b"", b"abc"])
    def test_is_late_when_it_stalls(self, send, start):
        _status, body = send(request("Content-Length: 10"), start)

        seen = json.loads(body)
        assert (seen["rota.unread_body"], seen["body_bytes"]) == ("late", 0)

    def test_is_late_when_its_chunks_stall(self, send):
        _status, body = send(request("Transfer-Encoding: chunked"), b"3\r\nabc\r\n")

        assert json.loads(body)["rota.unread_body"] == "late"

    def test_has_more_time_while_it_arrives(self, server):
        with socket.create_connection(("127.0.0.1", server[0]), timeout=20) as connection:
            connection.sendall(request("Content-Length: 163840"))
            for _part in range(10):  # deadline: 0.5 s, plus 1 s for every 16 KiB received
                connection.sendall(b"x" * 16_384)
                time.sleep(0.1)
            answer = b"".join(iter(lambda: connection.recv(65536), b""))

        assert json.loads(answer.partition(b"\r\n\r\n")[2])["body_bytes"] == 163_840

    @pytest.mark.parametrize(("path", "seen"), [("/driver/photos/", 6_000), ("/", "late")])
    def test_of_a_photo_may_come_at_16_kbit_a_second(self, server, path, seen):
        """Deadline: 0.5 s, plus 1 s for every 1,500 bytes received, or every 16 KiB elsewhere."""
        answer = slowly(server, path, length=6_000, parts=12)  # 500 bytes each quarter of a second

        assert answer.get("rota.unread_body", answer["body_bytes"]) == seen

    def test_of_a_photo_has_a_limit_of_time_in_all(self, server):
        """Of 3 s here, instead of 4.5 s by its rate."""
        started = time.monotonic()

        answer = slowly(server, "/driver/photos/", length=1_000_000, parts=12)

        assert answer["rota.unread_body"] == "late"
        assert time.monotonic() - started < 4.4

    @pytest.mark.parametrize("lengths", [("1", "2"), ("-1",), ("a",)])
    def test_has_one_length(self, send, lengths):
        status, _body = send(request(*(f"Content-Length: {length}" for length in lengths)), b"abc")

        assert status == 400


class TestThreads:
    """The server has two."""

    def test_take_requests_as_they_arrive_whatever_their_headers_say(self, server):
        def connections(tokens):
            for token in tokens:
                connection = socket.create_connection(("127.0.0.1", server[0]), timeout=20)
                connection.sendall(request(f"Authorization: Bearer {token}", path="/pause"))
                yield connection

        first = [*connections(["shop"] * 10)]
        made_up = [*connections(range(30))]

        for connection in first:
            assert connection.recv(12) == b"HTTP/1.1 200"
        answered = select.select(made_up, [], [], 0)[0]
        for connection in first + made_up:
            connection.close()
        assert len(answered) < 15


class TestGathered:
    def test_are_answered_together_but_for_those_that_are_answered_by_themselves(self, send):
        queries = ["", "alone", ""]
        with ThreadPoolExecutor(len(queries)) as pool:
            sent = [
                pool.submit(send, request("Content-Length: 3", path=f"/together?{query}"), b"abc") for query in queries
            ]
            (first, alone, second) = (each.result() for each in sent)

        assert first[0] == second[0] == 202
        assert {first[1], second[1]} <= {b"1", b"2", b"3"}
        assert (alone[0], json.loads(alone[1])["body_bytes"]) == (200, 3)

    def test_are_each_answered_by_itself_where_one_is_at_fault(self, send):
        status, body = send(request("Content-Length: 3", path="/together?fault"), b"abc")

        assert (status, json.loads(body)["body_bytes"]) == (200, 3)


class TestServer:
    def test_keeps_its_threads_when_a_response_fails_to_close(self, send):
        statuses = [send(request(path="/late-fault"))[0] for _request in range(3)]  # more requests than threads

        assert statuses == [200, 200, 200]
        assert send(request())[0] == 200

    def test_answers_500_when_what_it_serves_raises(self, send, server):
        status, body = send(request(path="/fault"))

        assert (status, body) == (500, b"")
        assert send(request())[0] == 200

    def test_ends_on_sigterm_beside_a_stalled_client(self, server):
        port, process = server
        with socket.create_connection(("127.0.0.1", port), timeout=20) as stalled:
            stalled.sendall(request("Content-Length: 10"))

            process.send_signal(signal.SIGTERM)

            assert process.wait(15) == 0
