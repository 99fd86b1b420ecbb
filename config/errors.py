"""Errors that no endpoint answers itself, each in the form of what was asked for: area A, area B or a page.

Pages are rendered here and not by `django.views.defaults`, whose CSRF check reads the body of the request that failed
and may fail itself.
"""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from config.limits import TooLong
from delivery.api import problems
from integration.api import answers

_AREA_A = "/api/"
_AREA_B = "/api/integration/"


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001  # named by Django
    if f"{request.path}/".startswith(_AREA_B):
        return answers.not_found(request)
    if f"{request.path}/".startswith(_AREA_A):
        return problems.not_found(request)
    return render(request, "404.html", status=404)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:  # noqa: ARG001  # named by Django
    """What Django itself refuses, such as a Host header that ALLOWED_HOSTS does not know."""
    if request.path.startswith(_AREA_B):
        return answers.bad_request(request)
    if request.path.startswith(_AREA_A):
        return problems.bad_request(request)
    return HttpResponse(render_to_string("400.html"), status=400)


def server_error(request: HttpRequest) -> HttpResponse:
    if request.path.startswith(_AREA_B):
        return answers.server_error(request)
    if request.path.startswith(_AREA_A):
        return problems.server_error(request)
    return HttpResponse(render_to_string("500.html"), status=500)


def late_body(request: HttpRequest) -> HttpResponse:
    """408: the body did not arrive in time."""
    if request.path.startswith(_AREA_B):
        return answers.late_body(request)
    if request.path.startswith(_AREA_A):
        return problems.late_body(request)
    return render(request, "408.html", status=408)


def tls_required(request: HttpRequest) -> HttpResponse:
    """403: a call of an API over plain HTTP."""
    if request.path.startswith(_AREA_B):
        return answers.tls_required(request)
    return problems.tls_required(request)


def busy(request: HttpRequest) -> HttpResponse:
    """503: too many large bodies at once."""
    if request.path.startswith(_AREA_B):
        response = answers.busy(request)
    elif request.path.startswith(_AREA_A):
        response = problems.busy(request)
    else:
        response = render(request, "503.html", status=503)
    response["Retry-After"] = "1"
    return response


def too_long(request: HttpRequest, limit: TooLong) -> HttpResponse:
    """414 or 431: the URL or a header is longer than a limit."""
    if request.path.startswith(_AREA_B):
        return answers.too_long(limit.portuguese, status=limit.status)
    if request.path.startswith(_AREA_A):
        return problems.too_long(request, limit.english, status=limit.status, code=limit.code)
    return render(request, "too_long.html", status=limit.status)
