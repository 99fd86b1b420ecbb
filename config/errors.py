"""Errors that no endpoint answers itself: a page, or the error body of the API that the path belongs to.

Pages are rendered here and not by `django.views.defaults`, whose CSRF check reads the body of the request that failed
and may fail itself.
"""

import sys
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from common.api import paths
from common.api.views import HELP_LINK
from common.connections import is_unavailable
from config.areas import Area, area_of
from config.server.limits import TooLong
from delivery.api import problems, views
from integration.api import problems as order_problems
from integration.api import views as order_views

_Answer = Callable[[HttpRequest], HttpResponse]


def _answer(request: HttpRequest, of_a: _Answer, of_b: _Answer, page: _Answer) -> HttpResponse:
    match area_of(request.path):
        case Area.A:
            return of_a(request)
        case Area.B:
            return of_b(request)
        case None:
            return page(request)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001  # named by Django
    """What Django itself refuses, such as a Host header that ALLOWED_HOSTS does not know."""
    return _answer(
        request, problems.bad_request, order_problems.bad_request, lambda _request: render(None, "400.html", status=400)
    )


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001  # named by Django
    """404: no view has the path, or a page does not find its object."""
    response = _answer(request, views.unknown_path, order_views.unknown_path, _no_page)
    if area_of(request.path):
        response["Link"] = HELP_LINK
    return response


def _no_page(request: HttpRequest) -> HttpResponse:
    """A page, unless a program calls an endpoint without the beginning of its path."""
    meant = "" if "text/html" in request.headers.get("Accept", "") else paths.below_api(request.path)
    match area_of(meant) if meant else None:
        case Area.A:
            return problems.not_found(request, meant=meant)
        case Area.B:
            return order_problems.not_found(request, meant=meant)
        case None:
            return render(request, "404.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """What a view raised, while Django handles it: 503 if PostgreSQL was unavailable, else 500."""
    if not is_unavailable(sys.exc_info()[1]):
        return _answer(
            request,
            problems.server_error,
            order_problems.server_error,
            lambda _request: render(None, "500.html", status=500),
        )
    return away(request)


def away(request: HttpRequest) -> HttpResponse:
    """503: something that the call needs ended meanwhile."""
    response = _answer(
        request,
        problems.unavailable,
        order_problems.unavailable,
        lambda _request: render(None, "away.html", status=503),
    )
    response["Retry-After"] = "5"  # seconds
    return response


def heavy_call_running(request: HttpRequest) -> HttpResponse:
    """429: the caller has a heavy call under way, or too many wait."""
    response = _answer(
        request,
        problems.busy,  # area A declares no heavy call
        order_problems.heavy_call_running,
        lambda request: render(request, "heavy_call.html", status=429),
    )
    response["Retry-After"] = "5"  # seconds
    if request.method == "GET":
        response["Refresh"] = "5"  # a page tries again by itself
    return response


def late_body(request: HttpRequest) -> HttpResponse:
    """408: the body did not arrive in time."""
    return _answer(
        request, problems.late_body, order_problems.late_body, lambda request: render(request, "408.html", status=408)
    )


def tls_required(request: HttpRequest) -> HttpResponse:
    """403: a call of an API over plain HTTP."""
    is_of_orders = area_of(request.path) is Area.B
    return order_problems.tls_required(request) if is_of_orders else problems.tls_required(request)


def busy(request: HttpRequest) -> HttpResponse:
    """503: too many large bodies at once."""
    response = _answer(
        request, problems.busy, order_problems.busy, lambda request: render(request, "503.html", status=503)
    )
    response["Retry-After"] = "1"  # seconds
    return response


def too_long(request: HttpRequest, limit: TooLong) -> HttpResponse:
    """414 or 431: the URL or a header is longer than a limit."""
    match area_of(request.path):
        case Area.A:
            return problems.too_long(request, limit.english, status=limit.status, code=limit.code)
        case Area.B:
            return order_problems.failure(limit.portuguese, status=limit.status, code=limit.code)
        case None:
            return render(request, "too_long.html", status=limit.status)
