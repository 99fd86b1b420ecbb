"""The map file, which maps of the panel are drawn from."""

from django.http import HttpRequest, HttpResponse

from common import map_file
from panel.views.base import LoggedInView


class MapFile(LoggedInView):
    def get(self, request: HttpRequest, version: str) -> HttpResponse:
        return map_file.answer(request, version)
