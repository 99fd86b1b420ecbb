"""The ground of the maps: drawn from a map file, or of pictures from openstreetmap.org."""

import base64
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import expect

from tests.delivery.receivers.links import delivery as on_the_way
from tests.delivery.receivers.links import path_of
from tests.factories import PICKUP, DeliveryFactory
from tests.panel import archives

# Remembers the names that are written on canvases.
LISTEN = """
window.written = [];
const write = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
  written.push(text);
  write.call(this, text, ...place);
};
"""
# Reads copies: of a canvas that is read several times Chromium warns in the console.
COLOURS = """(wanted) => {
  const found = new Set();
  for (const canvas of document.querySelectorAll("canvas.leaflet-tile-loaded")) {
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    for (let at = 0; at < data.length; at += 4) found.add(data.slice(at, at + 3).join());
  }
  return wanted.every((colour) => found.has(colour));
}"""
# Presses until level 19 is reached. Leaflet ignores what comes while it zooms.
NEAREST = """() => {
  const nearer = document.querySelector(".leaflet-control-zoom-in");
  nearer.click();
  return nearer.classList.contains("leaflet-disabled");
}"""
LAND, WATER, PARK, ROAD = "226,223,218", "128,222,234", "156,211,180", "255,255,255"


@pytest.fixture
def map_file(map_file):
    """As far as the board is zoomed out."""
    archives.write(map_file, *PICKUP, zooms=range(16), around=4)
    return map_file


class TestGround:
    def test_shows_streets_places_water_and_parks(self, member, shop, map_file, site):
        delivery, addresses = DeliveryFactory.create(token=shop, stops=2), []
        member.page.on("request", lambda request: addresses.append(request.url))
        member.page.add_init_script(LISTEN)

        page = member.go(f"/panel/accounts/{shop.integrator.pk}/live/deliveries/{delivery.pk}/")

        for name in ("Rua ", "Bairro "):
            page.wait_for_function("name => written.some((text) => text.startsWith(name))", arg=name)
        page.wait_for_function(COLOURS, arg=[LAND, WATER, PARK, ROAD])
        member.shoot("ground")
        assert page.locator(".leaflet-control-attribution").get_by_text("© OpenStreetMap").is_visible()
        assert [address for address in addresses if not address.startswith(f"{site}/")] == []
        assert member.complaints == []

    def test_is_empty_beyond_the_file(self, member, shop, map_file):
        archives.write(map_file, 40.0, 20.0, zooms=range(10, 14))
        delivery = DeliveryFactory.create(token=shop, stops=1)
        member.page.add_init_script(LISTEN)

        page = member.go(f"/panel/accounts/{shop.integrator.pk}/live/deliveries/{delivery.pk}/")

        page.locator("canvas.leaflet-tile-loaded").first.wait_for(state="attached")
        assert page.evaluate("written") == []
        assert member.complaints == []

    def test_is_sharp_where_the_map_is_nearer_than_the_tiles(self, dispatcher, shop, map_file):
        DeliveryFactory.create(token=shop, stops=1)
        page = dispatcher.go("/panel/board/")
        page.locator(".route").wait_for()  # to which the map has been fitted

        page.wait_for_function(NEAREST)
        page.wait_for_function(
            # Those of the levels before may still be there, enlarged.
            "() => [...document.querySelectorAll('canvas.leaflet-tile-loaded')]"
            ".some((canvas) => canvas.getBoundingClientRect().width === 256)"
        )
        page.wait_for_function(COLOURS, arg=[ROAD])
        assert dispatcher.complaints == []

    def test_is_of_the_new_file_when_it_is_replaced_under_an_open_page(self, dispatcher, shop, map_file):
        DeliveryFactory.create(token=shop, stops=1)
        page = dispatcher.go("/panel/board/")
        page.wait_for_function(COLOURS, arg=[LAND])
        archives.write(map_file.with_name("new"), *PICKUP, zooms=range(16), around=5)
        map_file.with_name("new").rename(map_file)

        page.wait_for_function(NEAREST)
        page.wait_for_function(COLOURS, arg=[ROAD])
        page.wait_for_function("() => !document.querySelector('canvas.leaflet-tile:not(.leaflet-tile-loaded)')")
        assert dispatcher.complaints == []


# A PNG of one pixel.
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


class TileServer(ThreadingHTTPServer):
    """Answers each request with a picture, and keeps the paths with their Referers."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str | None]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                server.asked.append((self.path, self.headers["Referer"]))
                self.send_response(200)
                self.send_header("Content-Type", "image/png")
                self.send_header("Content-Length", str(len(PICTURE)))
                self.end_headers()
                self.wfile.write(PICTURE)

            def log_message(self, *_arguments: object) -> None: ...

        super().__init__(("127.0.0.1", 0), Handler)


@pytest.fixture
def tile_server(settings) -> Iterator[TileServer]:
    with TileServer() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        settings.OPENSTREETMAP_TILE_URL = f"http://127.0.0.1:{server.server_port}/{{z}}/{{x}}/{{y}}.png"
        yield server
        server.shutdown()


def test_what_was_typed_stays_when_streets_are_switched_on(tab, people, tile_server):
    people("sofia", superuser=True)
    browser = tab()
    browser.log_in("sofia")
    page = browser.go("/panel/accounts/new/")
    page.fill("#id_name", "Padaria Sol")

    page.get_by_role("button", name="Show streets from openstreetmap.org…").click()
    dialog = page.get_by_role("dialog", name="Show streets from openstreetmap.org?")
    expect(dialog).to_contain_text("everybody of this installation")
    dialog.get_by_role("button", name="Show them to everybody").click()
    page.get_by_text("Streets are on.").wait_for()
    typed = page.input_value("#id_name")
    page.reload()
    page.locator("[data-pin] img.leaflet-tile-loaded").first.wait_for()

    assert typed == "Padaria Sol"
    assert browser.complaints == []


def test_streets_of_openstreetmap_are_shown_everywhere_once_confirmed(tab, people, tile_server, site):
    people("sofia", superuser=True)
    found = on_the_way(collected=True)
    browser = tab()
    browser.log_in("sofia")
    page = browser.go(path_of(found))
    page.locator(".ring").first.wait_for(state="attached")
    browser.go("/panel/board/")
    page.locator(".route").wait_for()
    assert tile_server.asked == []

    page.get_by_role("button", name="Show streets from openstreetmap.org…").click()
    dialog = page.get_by_role("dialog", name="Show streets from openstreetmap.org?")
    expect(dialog).to_contain_text("everybody of this installation")
    dialog.get_by_role("button", name="Show them to everybody").click()
    page.locator("img.leaflet-tile-loaded").first.wait_for()
    page.locator(".route").wait_for()
    link = page.locator(".leaflet-control-attribution a")
    expect(link).to_have_attribute("href", "https://www.openstreetmap.org/copyright")
    browser.shoot("openstreetmap")
    of_board = len(tile_server.asked)
    browser.go(path_of(found))
    expect(page.locator("img.leaflet-tile-loaded").first).to_be_attached()

    assert {referer for _path, referer in tile_server.asked} == {f"{site}/"}
    assert len(tile_server.asked) > of_board
    assert browser.complaints == []
