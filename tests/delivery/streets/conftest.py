from collections.abc import Iterator

import pytest

from tests.delivery.streets.range_server import RangeServer
from tests.panel import archives

# São Paulo, around which the map on the server has more tiles than are copied.
PLACE = (-23.55, -46.63)


@pytest.fixture(scope="session")
def world(tmp_path_factory) -> bytes:
    path = tmp_path_factory.mktemp("map") / "world.pmtiles"
    archives.write(path, *PLACE, zooms=range(15), around=6)
    return path.read_bytes()


@pytest.fixture
def server(world) -> Iterator[RangeServer]:
    with RangeServer(world) as server:
        server.start()
        yield server
        server.shutdown()


@pytest.fixture
def map_file(tmp_path, settings):
    settings.MAP_FILE = tmp_path / "data" / "map.pmtiles"
    return settings.MAP_FILE
