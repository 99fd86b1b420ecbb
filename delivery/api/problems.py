"""Error bodies of area A, as RFC 9457 problem details.

Besides the RFC's members each body has `code` (stable, listed at /docs/error-codes) and `retryable`. A 422 for
invalid fields adds `errors` (`field_errors`).
"""

from http import HTTPStatus
from typing import Any, TypedDict

from django.http import HttpRequest, HttpResponse, JsonResponse
from rest_framework import exceptions, status
from rest_framework.response import Response

from common.errors import DomainError
from common.views import InvalidBody, InvalidQuery
from delivery.api import field_errors
from delivery.api.field_errors import FieldError

CONTENT_TYPE = "application/problem+json"
_WRONG_MEDIA_TYPE = "Send the body as JSON, with the header Content-Type: application/json."
_UNKNOWN_ERROR = "The request failed unexpectedly. Name the X-Request-Id header of this answer when you report it."
_UNKNOWN_EFFECT = "It may have taken effect: query the delivery, or look in the panel, before you repeat the request."


class Problem(TypedDict):
    """An error of immediate delivery (RFC 9457). `code` is stable; `retryable`: whether the same call may succeed."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: str
    retryable: bool


class InvalidProblem(Problem, total=False):
    """A problem with the places that are wrong."""

    errors: list[FieldError]


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler for area A. Returns None for an unexpected exception: Django logs it and answers 500."""
    path = context["request"].path
    if isinstance(error, InvalidBody):
        return _invalid_body(path, [*field_errors.of_body(error.detail), *map(field_errors.of_warning, error.warnings)])
    if isinstance(error, InvalidQuery):
        errors = [*field_errors.of_query(error.detail), *map(field_errors.of_unknown_parameter, error.unknown)]
        return _invalid(path, _shared_code(errors) or "invalid_query", "Query parameters are invalid", errors)
    if isinstance(error, DomainError):
        return refusal(path, error)
    if isinstance(error, exceptions.UnsupportedMediaType):
        error.detail = exceptions.ErrorDetail(_WRONG_MEDIA_TYPE)
    if isinstance(error, exceptions.APIException):
        title, code = HTTPStatus(error.status_code).phrase, str(error.default_code)
        return _answer(problem(path, status=error.status_code, code=code, title=title, detail=str(error.detail)))
    return None


def _invalid_body(path: str, errors: list[FieldError]) -> Response:
    return _invalid(path, _shared_code(errors) or "invalid_payload", "The request has invalid fields", errors)


def _shared_code(errors: list[FieldError]) -> str:
    """The code of all these errors if they share one that is a code of problems too, else an empty text."""
    codes = {error["code"] for error in errors}
    return codes.pop() if len(codes) == 1 and codes <= field_errors.CODES_OF_PROBLEMS else ""


def _invalid(path: str, code: str, title: str, errors: list[FieldError]) -> Response:
    """422 for what `errors` names."""
    detail = "Each entry of 'errors' says what is wrong in one place."
    return _answer({**problem(path, status=422, code=code, title=title, detail=detail), "errors": errors})


def _answer(body: Problem | InvalidProblem) -> Response:
    return Response(body, status=body["status"], content_type=CONTENT_TYPE)


def refusal(path: str, error: DomainError) -> Response:
    """The answer to a call that the domain refused."""
    body = problem(
        path, status=error.status, code=error.code, title=error.title, detail=str(error), retryable=error.retryable
    )
    return Response(body, status=error.status, headers=_headers(error), content_type=CONTENT_TYPE)


def problem(path: str, *, status: int, code: str, title: str, detail: str, retryable: bool = False) -> Problem:
    """The body of a problem; `path` becomes `instance`."""
    return {
        "type": f"/docs/errors/{code}",
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
        detail="Nothing was changed. If the call had a token, replace it: it was sent over the network unencrypted.",
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


def unavailable(request: HttpRequest) -> HttpResponse:
    """503: the database is away. A call that changes something may have taken effect."""
    can_repeat = request.method in ("GET", "HEAD") or "Idempotency-Key" in request.headers
    body = problem(
        request.path,
        status=503,
        code="unavailable",
        title="The service is not available for a moment",
        detail="Try again after the seconds in Retry-After." if can_repeat else _UNKNOWN_EFFECT,
        retryable=can_repeat,
    )
    return JsonResponse(body, status=503, content_type=CONTENT_TYPE)


def _headers(error: DomainError) -> dict[str, str]:
    headers = {}
    if error.status == status.HTTP_401_UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Bearer realm="rota"'
    if error.retry_after:
        headers["Retry-After"] = str(error.retry_after)
    return headers
