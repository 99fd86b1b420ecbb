import threading

import pytest

from delivery.places import geocoding
from tests.delivery.geo.geocoder import Geocoder
from tests.delivery.geo.routing_server import RoutingServer


@pytest.fixture
def routing_server():
    server = RoutingServer()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def geocoder():
    """A server with the search of Nominatim, which finds the house Rua Augusta 500 in São Paulo."""
    geocoding._server.cache_clear()
    server = Geocoder()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.ended.set()
    server.shutdown()
    server.server_close()
