import json
import socket
import threading
import time
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from common.deadlines import BoundedCalls
from delivery import routing
from delivery.distance import Point
from delivery.routing import RoutingFailed

SAO_PAULO, RIO = Point(-23.550278, -46.633889), Point(-22.908333, -43.196389)


class TestGeodesic:
    def test_multiplies_each_leg_by_the_road_factor(self):
        plain = routing.geodesic(1.0)([SAO_PAULO, RIO, SAO_PAULO])
        longer = routing.geodesic(1.3)([SAO_PAULO, RIO])

        assert plain[0] == plain[1]
        assert float(longer[0]) == pytest.approx(float(plain[0]) * 1.3, abs=0.01)

    def test_is_zero_for_the_same_place(self):
        assert routing.geodesic(1.3)([RIO, RIO]) == [Decimal("0.00")]


class OsrmServer(HTTPServer):
    """A routing server on loopback.

    Records the paths of requests in `paths`. Responds with `status` and the JSON value `answer`, byte by byte, with
    `pause` seconds after each byte.
    """

    def __init__(self):
        self.paths: list[str] = []
        self.answer: object = {}
        self.status = 200
        self.pause = 0.0
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    server: OsrmServer

    def do_GET(self):
        self.server.paths.append(self.path)
        body = json.dumps(self.server.answer).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Location", "/elsewhere")  # used only by the test of redirects
        self.end_headers()
        for place in range(len(body)):
            self.wfile.write(body[place : place + 1])
            time.sleep(self.server.pause)

    def log_message(self, *args):
        pass


@pytest.fixture
def osrm_server():
    server = OsrmServer()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


class TestOsrm:
    def test_asks_for_longitude_first_and_reads_each_leg(self, osrm_server):
        osrm_server.answer = {
            "code": "Ok",
            "routes": [{"legs": [{"distance": 1234.4}, {"distance": 5000}, {"distance": 125}]}],
        }

        legs = routing.osrm(osrm_server.url)([SAO_PAULO, RIO, SAO_PAULO, RIO])

        assert legs == [Decimal("1.23"), Decimal("5.00"), Decimal("0.13")]  # 0.125 km is rounded half up
        assert osrm_server.paths[0].startswith("/route/v1/driving/-46.633889,-23.550278;-43.196389,-22.908333;")

    @pytest.mark.parametrize(
        ("status", "answer"),
        [
            (400, {"code": "NoRoute"}),
            (302, {"routes": [{"legs": [{"distance": 1234.4}]}]}),
            (200, {"routes": []}),
            (200, []),
            (200, {"routes": [{"legs": [{"distance": None}]}]}),
            (200, {"routes": [{"legs": [{"distance": float("nan")}]}]}),
            (200, {"routes": [{"legs": [{"distance": -1}]}]}),
            (200, {"routes": [{"legs": [{"distance": 1}, {"distance": 1}]}]}),
        ],
    )
    def test_fails_on_an_answer_without_a_distance_for_each_leg(self, osrm_server, status, answer):
        osrm_server.status, osrm_server.answer = status, answer

        with pytest.raises(RoutingFailed):
            routing.osrm(osrm_server.url)([SAO_PAULO, RIO])
        assert len(osrm_server.paths) == 1  # no redirect is followed

    def test_is_reached_without_the_proxy_of_the_environment(self, osrm_server, monkeypatch):
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        monkeypatch.setenv("no_proxy", "")
        osrm_server.answer = {"routes": [{"legs": [{"distance": 1000}]}]}

        assert routing.osrm(osrm_server.url)([SAO_PAULO, RIO]) == [Decimal("1.00")]

    def test_waits_two_seconds_for_an_answer_and_not_longer(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            provider = routing.osrm(f"http://127.0.0.1:{silent.getsockname()[1]}")

            with pytest.raises(RoutingFailed, match=r"no result after 2 s|timeout=2\)"):
                provider([SAO_PAULO, RIO])

    def test_fails_on_an_answer_slower_than_the_deadline(self, osrm_server, monkeypatch):
        monkeypatch.setattr(routing, "_calls", BoundedCalls(most=1, seconds=0.2))
        osrm_server.answer, osrm_server.pause = {"routes": [{"legs": [{"distance": 1234.4}]}]}, 0.02

        with pytest.raises(RoutingFailed, match="DeadlinePassed"):
            routing.osrm(osrm_server.url)([SAO_PAULO, RIO])

    def test_falls_back_to_the_geodesic_distance(self, caplog):
        provider = routing.provider(routing_url="http://127.0.0.1:9", road_factor=1.3)

        assert provider([SAO_PAULO, RIO]) == routing.geodesic(1.3)([SAO_PAULO, RIO])
        assert "Falling back to the geodesic distance" in caplog.text
