"""A real Valhalla server on loopback, from the wheel `pyvalhalla`, with a street graph made for it.

The streets of the tests are a grid of squares over the places of `tests.factories`. One street is one-way, to the east.
"""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from xml.etree import ElementTree as ET

from config.env import BASE_DIR
from delivery.geo.distance import Point
from tests.ports import free_port

FOLDER = BASE_DIR / ".venv" / "valhalla"
SOUTH_WEST, STEP = Point(-23.580, -46.672), 0.002  # degrees
ROWS, COLUMNS = 16, 18
ONE_WAY_ROW = 4
_START_SECONDS = 30


def crossing(row: int, column: int) -> Point:
    """Rows are counted from the south, columns from the west."""
    return Point(SOUTH_WEST.latitude + row * STEP, SOUTH_WEST.longitude + column * STEP)


@contextmanager
def server(folder: Path, openstreetmap: bytes) -> Iterator[str]:
    """Build the graph of these streets in this folder, start the server, and yield its URL."""
    subprocess.run(["make", "--silent", ".venv/valhalla/.ready"], cwd=BASE_DIR, check=True)  # noqa: S607
    configuration, url = _configure(folder)
    streets = folder / "streets.osm"
    streets.write_bytes(openstreetmap)
    programs = FOLDER / "valhalla" / "bin"
    with (folder / "log").open("wb") as log:
        subprocess.run(
            [programs / "valhalla_build_tiles", "--config", configuration, "--concurrency", "1", streets],
            check=True,
            stdout=log,
            stderr=log,
        )
        process = subprocess.Popen([programs / "valhalla_service", configuration, "1"], stdout=log, stderr=log)
    try:
        _wait_for(int(url.rpartition(":")[2]), process)
        yield url
    finally:
        process.kill()
        process.wait(10)


def _configure(folder: Path) -> tuple[Path, str]:
    """Valhalla's own default configuration, with all files in this folder."""
    script = FOLDER / "valhalla" / "valhalla_build_config.py"
    text = subprocess.run([sys.executable, script], check=True, capture_output=True, text=True).stdout
    values = json.loads(text)
    port = free_port()
    values["mjolnir"] |= {"tile_dir": str(folder / "tiles"), "tile_extract": "", "traffic_extract": ""}
    for part in ("loki", "thor", "odin", "meili"):
        values[part]["service"]["proxy"] = f"ipc://{folder}/{part}"
    values["httpd"]["service"] |= {
        "listen": f"tcp://127.0.0.1:{port}",
        "loopback": f"ipc://{folder}/loopback",
        "interrupt": f"ipc://{folder}/interrupt",
    }
    configuration = folder / "configuration.json"
    configuration.write_text(json.dumps(values))
    return configuration, f"http://127.0.0.1:{port}"


def grid() -> bytes:
    """The streets of the tests in the XML format of OpenStreetMap."""
    root = ET.Element("osm", version="0.6")
    for row in range(ROWS):
        for column in range(COLUMNS):
            place = crossing(row, column)
            ET.SubElement(
                root,
                "node",
                id=str(_node(row, column)),
                version="1",
                lat=f"{place.latitude:.7f}",
                lon=f"{place.longitude:.7f}",
            )
    for row in range(ROWS):
        one_way = {"oneway": "yes"} if row == ONE_WAY_ROW else {}
        _add_street(root, [_node(row, column) for column in range(COLUMNS)], one_way)
    for column in range(COLUMNS):
        _add_street(root, [_node(row, column) for row in range(ROWS)], {})
    return ET.tostring(root)


def _node(row: int, column: int) -> int:
    return row * COLUMNS + column + 1


def _add_street(root: ET.Element, nodes: list[int], tags: dict[str, str]) -> None:
    way = ET.SubElement(root, "way", id=str(len(root)), version="1")
    for node in nodes:
        ET.SubElement(way, "nd", ref=str(node))
    for key, value in {"highway": "residential", "maxspeed": "40", **tags}.items():
        ET.SubElement(way, "tag", k=key, v=value)


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + _START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise RuntimeError(f"Valhalla did not start within {_START_SECONDS} s")
