"""The searches of Nominatim and Photon over HTTP, with answers in the form of their documentation."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

AUGUSTA = (-23.552, -46.65)
CITY = {"city": "São Paulo", "state": "São Paulo", "country": "Brasil"}


def nominatim(*, point=AUGUSTA, rank=30, kind="place", **address):
    """A place of Nominatim's jsonv2 with addressdetails. `rank` 30 is a house, 26 a street, 16 a city."""
    parts = {**CITY, **address}
    return {
        "place_id": 1, "lat": str(point[0]), "lon": str(point[1]), "place_rank": rank, "addresstype": kind,
        "type": "house", "display_name": ", ".join(parts.values()), "address": parts,
    }  # fmt: skip  # a place


def photon(*features):
    return {"type": "FeatureCollection", "features": list(features)}


def feature(kind="house", *, point=AUGUSTA, **properties):
    """A place of Photon."""
    return {
        "type": "Feature",
        "properties": {"type": kind, "countrycode": "BR", **CITY, **properties},
        "geometry": {"type": "Point", "coordinates": [point[1], point[0]]},
    }


HOUSE = nominatim(house_number="500", road="Rua Augusta", postcode="01304-000")
STREET = nominatim(rank=26, kind="road", road="Rua Augusta", postcode="01305-000")
POSTCODE = {**nominatim(rank=25, kind="postcode", postcode="01304-000"), "type": "postcode"}
ONLY_CITY = {**nominatim(rank=16, kind="city"), "type": "administrative"}


class Geocoder(ThreadingHTTPServer):
    """Answers at `path` with the value in `answers` whose key is in the query, else with `answer`; elsewhere with 404.

    `body`: these bytes instead. `pause`: after so many seconds; `drip`: with
    as many before each byte. Records the queries.
    """

    daemon_threads = True

    def __init__(self):
        self.path, self.status, self.pause, self.drip = "/search", 200, 0.0, 0.0
        self.answer: object = [HOUSE]
        self.answers: dict[str, object] = {}
        self.body: bytes | None = None
        self.queries: list[str] = []
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.ended = threading.Event()
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Geocoder

    def do_GET(self):
        server, parts = self.server, urlsplit(self.path)
        if parts.path != server.path:
            self.send_error(404)
            return
        parameters = {name: values[0] for name, values in parse_qs(parts.query).items()}
        server.requests.append((parts.query, dict(self.headers)))
        server.queries.append(parameters["q"])
        server.ended.wait(server.pause)
        answers = [answer for text, answer in server.answers.items() if text in parameters["q"]]
        body = server.body or json.dumps(next(iter(answers), server.answer)).encode()
        self.send_response(server.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Location", "/elsewhere")
        self.end_headers()
        size = 1 if server.drip else len(body)
        for start in range(0, len(body), size):
            self.wfile.write(body[start : start + size])
            server.ended.wait(server.drip)

    def log_message(self, *args):
        pass
