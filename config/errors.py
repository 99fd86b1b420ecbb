"""Errors that no endpoint answers itself, each in the form of what was asked for: area A, area B or a page."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views import defaults

from config.limits import TooLong
from delivery.api import problems
from integration.api import answers

_AREA_A = "/api/"
_AREA_B = "/api/integration/"


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    if f"{request.path}/".startswith(_AREA_B):
        return answers.not_found(request)
    if f"{request.path}/".startswith(_AREA_A):
        return problems.not_found(request)
    return defaults.page_not_found(request, exception)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What Django itself refuses, such as a Host header that ALLOWED_HOSTS does not know."""
    if request.path.startswith(_AREA_B):
        return answers.bad_request(request)
    if request.path.startswith(_AREA_A):
        return problems.bad_request(request)
    return defaults.bad_request(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    if request.path.startswith(_AREA_B):
        return answers.server_error(request)
    if request.path.startswith(_AREA_A):
        return problems.server_error(request)
    return defaults.server_error(request)


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
