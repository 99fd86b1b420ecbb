"""The HTTP interface of a routing engine or of a search for places, with answers as its documentation shows them."""

import json
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class RoutingServer(ThreadingHTTPServer):
    """Responds with `status` and the JSON value `answer`, at once or with `pause` seconds after each byte.

    Records the paths of requests in `paths`, their headers in `headers`, and their bodies in `bodies`.
    """

    def __init__(self):
        self.paths: list[str] = []
        self.headers: list[dict[str, str]] = []
        self.bodies: list[object] = []
        self.answer: object = {}
        self.status = 200
        self.pause = 0.0
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}/"


def osrm_answer(*legs, beside=0.0, line=""):
    """`legs`: metres and seconds of each. `beside`: metres from each point to the road. `line`: an encoded one."""
    return {
        "code": "Ok",
        "routes": [{"legs": [{"distance": metres, "duration": time} for metres, time in legs], "geometry": line}],
        "waypoints": [{"distance": beside} for _point in range(len(legs) + 1)],
    }


def valhalla_answer(*legs):
    """`legs`: kilometres, seconds, and the shape of each, an encoded polyline."""
    summaries = [{"summary": {"length": length, "time": seconds}, "shape": shape} for length, seconds, shape in legs]
    return {"trip": {"status": 0, "units": "kilometers", "legs": summaries}}


def encoded(*points):
    """The polyline of these points, with six places."""
    text, before = "", (0, 0)
    for point in points:
        now = round(point[0] * 1e6), round(point[1] * 1e6)
        for old, new in zip(before, now, strict=True):
            number = (new - old) << 1 if new >= old else ~((new - old) << 1)
            while number >= 0x20:
                text += chr((0x20 | number & 0x1F) + 63)
                number >>= 5
            text += chr(number + 63)
        before = now
    return text


class _Handler(BaseHTTPRequestHandler):
    server: RoutingServer

    def do_GET(self):
        self.server.paths.append(self.path)
        self.server.headers.append(dict(self.headers))
        body = json.dumps(self.server.answer).encode()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Location", "/elsewhere")  # used only by the test of redirects
        self.end_headers()
        size = 1 if self.server.pause else len(body)
        for start in range(0, len(body), size):
            self.wfile.write(body[start : start + size])
            time.sleep(self.server.pause)

    def do_POST(self):
        self.server.bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.do_GET()

    def log_message(self, *args):
        pass
