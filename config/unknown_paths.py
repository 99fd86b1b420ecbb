"""404: no view has the path."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from config.areas import Area, area_of
from delivery.api import views as of_deliveries
from integration.api import unknown_paths as of_orders


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001  # named by Django
    """A page, or the error body of the API that the path belongs to. Also for an object that a page does not find."""
    match area_of(request.path):
        case Area.A:
            return of_deliveries.unknown_path(request)
        case Area.B:
            return of_orders.answer(request)
        case None:
            return render(request, "404.html", status=404)
