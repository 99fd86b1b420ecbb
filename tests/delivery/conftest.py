import threading

import pytest

from tests.delivery.geo.routing_server import RoutingServer


@pytest.fixture
def routing_server():
    server = RoutingServer()
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()
