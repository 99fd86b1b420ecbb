"""Error bodies of area A, as RFC 9457 problem details.

Besides the RFC's members each body has `code` (stable, listed in docs/integrators.md) and `retryable`. A 422 for
invalid fields adds `errors`, a list of `{pointer, code, detail}` where `pointer` is a JSON Pointer.
"""

from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from rest_framework import exceptions, status
from rest_framework.response import Response

from delivery.errors import DeliveryError

CONTENT_TYPE = "application/problem+json"
_INVALID_TITLE = "The request has invalid fields"
_UNKNOWN_ERROR = "The request failed unexpectedly. Name the X-Request-Id header of this answer when you report it."
_UNKNOWN_EFFECT = "It may have taken effect: query the delivery, or look in the panel, before you repeat the request."


class InvalidQuery(exceptions.ValidationError):
    """Query parameters are invalid. `detail` holds lists of ErrorDetail by the name of the parameter."""


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler for area A. Returns None for an unexpected exception: Django logs it and answers 500."""
    path = context["request"].path
    if isinstance(error, InvalidQuery):
        body = problem(
            path,
            status=status.HTTP_422_UNPROCESSABLE_ENTITY,
            code="invalid_query",
            title="The request has invalid query parameters",
            detail="Each entry of 'errors' names a parameter.",
        )
        body["errors"] = list(_parameter_errors(error.detail))
    elif isinstance(error, exceptions.ValidationError):
        body = problem(
            path,
            status=status.HTTP_422_UNPROCESSABLE_ENTITY,
            code="invalid_payload",
            title=_INVALID_TITLE,
            detail="Each entry of 'errors' names a field by its JSON Pointer.",
        )
        body["errors"] = list(_field_errors(error.detail))
    elif isinstance(error, DeliveryError):
        return refusal(path, error)
    elif isinstance(error, exceptions.APIException):
        body = problem(
            path,
            status=error.status_code,
            code=str(error.default_code),
            title=HTTPStatus(error.status_code).phrase,
            detail=str(error.detail),
        )
    else:
        return None
    return Response(body, status=body["status"], content_type=CONTENT_TYPE)


def refusal(path: str, error: DeliveryError) -> Response:
    """The answer to a call that the domain refused."""
    body = problem(
        path, status=error.status, code=error.code, title=error.title, detail=str(error), retryable=error.retryable
    )
    return Response(body, status=error.status, headers=_headers(error), content_type=CONTENT_TYPE)


def problem(path: str, *, status: int, code: str, title: str, detail: str, retryable: bool = False) -> dict[str, Any]:
    """The body of a problem; `path` becomes `instance`."""
    return {
        "type": f"urn:rota:problem:{code}",
        "title": title,
        "status": status,
        "detail": detail,
        "instance": path,
        "code": code,
        "retryable": retryable,
    }


def not_found(request: HttpRequest) -> HttpResponse:
    """404: no endpoint has this path."""
    body = problem(
        request.path,
        status=404,
        code="no_such_path",
        title="No such path",
        detail="No endpoint has this path. Paths are in lower case, without double slashes and trailing slashes.",
    )
    return JsonResponse(body, status=404, content_type=CONTENT_TYPE)


def bad_request(request: HttpRequest) -> HttpResponse:
    """400: Django refused the request before it reached an endpoint."""
    body = problem(
        request.path,
        status=400,
        code="bad_request",
        title="Bad request",
        detail="The Host header names no host of this service, or the request is otherwise malformed.",
    )
    return JsonResponse(body, status=400, content_type=CONTENT_TYPE)


def too_long(request: HttpRequest, detail: str, *, status: int, code: str) -> HttpResponse:
    """414 or 431: the URL or a header exceeds the limits of `config.limits`."""
    body = problem(request.path, status=status, code=code, title="The request is too large", detail=detail)
    return JsonResponse(body, status=status, content_type=CONTENT_TYPE)


def server_error(request: HttpRequest) -> HttpResponse:
    """500: an unexpected exception.

    It may have been raised after a commit, so the body claims nothing about the effect of the request.
    """
    is_read = request.method in ("GET", "HEAD")
    body = problem(
        request.path,
        status=500,
        code="server_error",
        title="An error on our side",
        detail=_UNKNOWN_ERROR if is_read else f"{_UNKNOWN_ERROR} {_UNKNOWN_EFFECT}",
        retryable=is_read,
    )
    return JsonResponse(body, status=500, content_type=CONTENT_TYPE)


def late_body(request: HttpRequest) -> HttpResponse:
    """408: the body did not arrive in time."""
    body = problem(
        request.path,
        status=408,
        code="late_body",
        title="The body did not arrive in time",
        detail="Nothing was changed. Send the body without pauses, on a connection of its own.",
        retryable=True,
    )
    return JsonResponse(body, status=408, content_type=CONTENT_TYPE)


def tls_required(request: HttpRequest) -> HttpResponse:
    """403: a call over plain HTTP."""
    body = problem(
        request.path,
        status=403,
        code="tls_required",
        title="This API is served over https only",
        detail="Nothing was changed. Replace the token: it was sent over the network unencrypted.",
    )
    return JsonResponse(body, status=403, content_type=CONTENT_TYPE)


def busy(request: HttpRequest) -> HttpResponse:
    """503: this process is receiving as many large bodies as it may."""
    body = problem(
        request.path,
        status=503,
        code="busy",
        title="Too many large requests at once",
        detail="Nothing was changed. Try again after the seconds in Retry-After.",
        retryable=True,
    )
    return JsonResponse(body, status=503, content_type=CONTENT_TYPE)


def _headers(error: DeliveryError) -> dict[str, str]:
    headers = {}
    if error.status == status.HTTP_401_UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Bearer realm="rota"'
    if error.retry_after:
        headers["Retry-After"] = str(error.retry_after)
    return headers


def _parameter_errors(detail: Any) -> Iterator[dict[str, str]]:
    for name, errors in detail.items():
        for error in errors:
            yield {"parameter": name, "code": error.code, "detail": str(error)}


def _field_errors(detail: Any, pointer: str = "#") -> Iterator[dict[str, str]]:
    """DRF's nested errors as a flat list; each `pointer` is a JSON Pointer (RFC 6901) in its URI fragment form."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            is_of_object = name == "non_field_errors"
            escaped = str(name).replace("~", "~0").replace("/", "~1")
            yield from _field_errors(inner, pointer if is_of_object else f"{pointer}/{escaped}")
    elif isinstance(detail, list):
        for index, inner in enumerate(detail):
            is_leaf = isinstance(inner, exceptions.ErrorDetail)
            yield from _field_errors(inner, pointer if is_leaf else f"{pointer}/{index}")
    else:
        yield {"pointer": pointer, "code": getattr(detail, "code", "invalid"), "detail": str(detail)}
