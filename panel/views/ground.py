"""Tiles of the ground of the maps, from the map file."""

from django.http import HttpRequest, HttpResponse

from common.ground import pages
from panel.views.base import LoggedInView


class Tile(LoggedInView):
    def get(self, request: HttpRequest, version: str, z: int, x: int, y: int) -> HttpResponse:
        return pages.tile(version, z, x, y)
