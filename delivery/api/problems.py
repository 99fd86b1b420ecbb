"""Error bodies of area A, as RFC 9457 problem details.

Besides the RFC's members each body has `code` (stable, listed at /docs/error-codes) and `retryable`. A 422 for
invalid fields adds `errors` (`FieldError`).
"""

from collections.abc import Iterator, Sequence
from http import HTTPStatus
from typing import Annotated, Any, NotRequired, TypedDict

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils import timezone
from rest_framework import exceptions, status
from rest_framework.response import Response

from common.api import paths
from common.api.json_body import Json, Moment, Uuid
from common.api.views import (
    UNKNOWN_KEY,
    InvalidBody,
    InvalidQuery,
    PayloadWarning,
    UnknownParameter,
    changes_nothing,
)
from common.errors import DomainError
from delivery.errors import AddressNotLocated, Closed, ExternalIdInUse

CONTENT_TYPE = "application/problem+json"
_WRONG_MEDIA_TYPE = "Send the body as JSON, with the header Content-Type: application/json."
_NO_PLACE = "No place was found for this address. Correct it, or send its latitude and longitude."
_SEVERAL_PLACES = (
    "This address is not one place on the map. Correct it, or send latitude and longitude: those of the candidate that "
    "is meant, if one is."
)
_EMPTY = " The body is empty: send a JSON object."
_HOW_TO_CANCEL = " To cancel a delivery, send POST /api/cancel-delivery/{deliveryId}."
_MOST_NAMED = 3  # unknown keys, in the detail of a problem
_UNKNOWN_ERROR = "The request failed unexpectedly. Name the X-Request-Id header of this answer when you report it."
_UNKNOWN_EFFECT = "It may have taken effect: query the delivery, or look in the panel, before you repeat the request."
# Codes of entries that a problem has as its own code if all its entries have it.
CODES_OF_PROBLEMS = frozenset({"unknown_key", "swapped_coordinates"})
# What warnings say, by code.
_WARNINGS = {
    "unknown_key": "This key is unknown and has no effect.",
    "missing_weight": "A package without a weight counts as 0 kg. Send it in kilograms.",
    "doubtful_measure": "Sides are in centimetres, and this one is shorter than one.",
    "doubtful_phone": "This does not look like a telephone number. Send it with its area code: +55 11 97777-0001.",
    "unknown_outcome": "This begins like an outcome of the simulated driver and is none, so everything is delivered.",
    "duplicate_external_id": "Another drop-off of this delivery has this externalId too. Give each its own.",
    "repeated_external_id": "Delivery %(delivery)s of the last 24 hours has this externalId in an order that has not "
    "failed. Request each order once, or send another externalId.",
    "missing_street": "Without a street the driver has the coordinates only. Send address.street.",
    "missing_number": "Without a number the driver has the street only. Send 'S/N' if the building has none.",
    "postcode_of_another_state": "zipcode, state and coordinates are not all of one state. Correct the wrong one.",
    "window_in_the_past": "This moment has passed, so it counts as now, %(now)s. 'Z' is UTC: a local time has its "
    "offset, such as -03:00.",
    "missing_external_id": "Without an externalId webhooks and lists have nothing of yours to tell this drop-off by. "
    "Send the number of your order.",
    "missing_contact": "The driver has nobody to ask for or to call here. Send contacts.name and contacts.phoneNumber.",
    "pickup_not_linked": "request-delivery refuses this pickup: no active pickup point of the account is within its "
    "radius. The panel lists them.",
    "different_coordinates": "The coordinates of 'address' are another place. Those of 'coordinates' are used.",
}


class Candidate(TypedDict):
    """A place that may be the address: as the map has it, and in decimal degrees."""

    text: str
    latitude: float
    longitude: float


class FieldError(TypedDict):
    """`pointer` is a JSON Pointer (RFC 6901) to a field of the body, in its URI fragment form; else `parameter`.

    `candidates` is there with the code `address_not_located` only.
    """

    pointer: NotRequired[str]
    parameter: NotRequired[str]
    code: str
    detail: str
    candidates: NotRequired[list[Candidate]]


class Problem(TypedDict):
    """An error of immediate delivery (RFC 9457). `code` is stable; `retryable`: whether the same call may succeed."""

    type: Annotated[str, Json("The page that explains the code.", format="uri-reference")]
    title: str
    status: int
    detail: str
    instance: str
    code: str
    retryable: bool


class InvalidProblem(Problem, total=False):
    """A problem with the places that are wrong, the delivery that has an externalId already, or when it opens."""

    errors: list[FieldError]
    deliveryId: Uuid
    opensAt: Moment | None


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler for area A. Returns None for an unexpected exception: Django logs it and answers 500."""
    path = context["request"].path
    if isinstance(error, InvalidBody):
        errors = [*_of_body(error.detail), *map(_of_warning, error.warnings)]
        about = _EMPTY if error.is_empty else _ignored(error.ignored)
        return _invalid(path, errors, code="invalid_payload", title="The request has invalid fields", about=about)
    if isinstance(error, InvalidQuery):
        errors = [*_of_query(error.detail, error.unknown)]
        return _invalid(path, errors, code="invalid_query", title="Query parameters are invalid")
    if isinstance(error, AddressNotLocated):
        return _invalid(path, [*_of_addresses(error)], code=error.code, title=error.title)
    if isinstance(error, DomainError):
        return refused(path, error)
    if isinstance(error, exceptions.MethodNotAllowed):
        hint = _HOW_TO_CANCEL if context["request"].method == "DELETE" and "deliver" in path else ""
        error.detail = exceptions.ErrorDetail(
            f"{error.detail} Allowed here: {', '.join(context['view'].allowed_methods)}.{hint}"
        )
    if isinstance(error, exceptions.UnsupportedMediaType):
        error.detail = exceptions.ErrorDetail(_WRONG_MEDIA_TYPE)
    if isinstance(error, exceptions.APIException):
        title, code = HTTPStatus(error.status_code).phrase, str(error.default_code)
        body = _problem(path, error.status_code, code, title, str(error.detail))
        return Response(body, status=error.status_code, content_type=CONTENT_TYPE)
    return None


def _of_body(detail: Any, pointer: str = "#") -> Iterator[FieldError]:
    """Errors of a body, from those of DRF, which are nested like the body."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            is_of_object = name == "non_field_errors"
            escaped = str(name).replace("~", "~0").replace("/", "~1")
            yield from _of_body(inner, pointer if is_of_object else f"{pointer}/{escaped}")
    elif isinstance(detail, list):
        for index, inner in enumerate(detail):
            is_leaf = isinstance(inner, exceptions.ErrorDetail)
            yield from _of_body(inner, pointer if is_leaf else f"{pointer}/{index}")
    else:
        yield {"pointer": pointer, "code": getattr(detail, "code", "invalid"), "detail": str(detail)}


def _of_query(detail: Any, unknown: list[UnknownParameter]) -> Iterator[FieldError]:
    """Errors of query parameters, from lists of ErrorDetail by the name of the parameter, and those without effect."""
    for name, errors in detail.items():
        for error in errors:
            yield {"parameter": name, "code": error.code, "detail": str(error)}
    for each in unknown:
        text = "This parameter is unknown and has no effect." + _hints(each)
        yield {"parameter": each.name, "code": "unknown_key", "detail": text}


def _of_addresses(error: AddressNotLocated) -> Iterator[FieldError]:
    for index, candidates in error.candidates.items():
        yield {
            "pointer": f"#/dropoffs/{index}/address",
            "code": error.code,
            "detail": _SEVERAL_PLACES if candidates else _NO_PLACE,
            "candidates": [
                {"text": text, "latitude": latitude, "longitude": longitude}
                for text, (latitude, longitude) in candidates
            ],
        }


def _of_warning(warning: PayloadWarning) -> FieldError:
    """A warning, which is an error for a caller that prefers strict handling."""
    detail = _WARNINGS[warning.code] % dict(warning.values) + _hints(warning)
    return {"pointer": warning.pointer, "code": warning.code, "detail": detail}


def _hints(of: PayloadWarning | UnknownParameter) -> str:
    nearest = f" Did you mean '{of.nearest}'?" if of.nearest else ""
    return nearest + (f" Known ones: {', '.join(of.known)}." if of.known else "")


def _ignored(warnings: Sequence[PayloadWarning]) -> str:
    """The unknown keys of a body, of which a required one may be a misspelling."""
    unknown = [each for each in warnings if each.code == UNKNOWN_KEY]
    named = [f"{each.pointer} ({each.nearest}?)" if each.nearest else each.pointer for each in unknown[:_MOST_NAMED]]
    more = f" and {len(unknown) - len(named)} more" if len(unknown) > len(named) else ""
    return f" Unknown keys, without effect: {', '.join(named)}{more}." if named else ""


def _invalid(path: str, errors: list[FieldError], *, code: str, title: str, about: str = "") -> Response:
    """422 for what `errors` names. Its code is that of the errors if they share one that is a code of problems too.

    `about`: a sentence about the whole body.
    """
    codes = {error["code"] for error in errors}
    if len(codes) == 1 and codes <= CODES_OF_PROBLEMS:
        (code,) = codes
    first, *others = errors
    place = first.get("pointer") or f"?{first.get('parameter', '')}"
    more = f" 'errors' has {len(others)} more." if others else ""
    body = _problem(path, 422, code, title, f"{place}: {first['detail']}{more}{about}")
    body["errors"] = errors
    return Response(body, status=422, content_type=CONTENT_TYPE)


def refused(path: str, error: DomainError) -> Response:
    """The answer to a call that the domain refused."""
    headers = {}
    if error.status == status.HTTP_401_UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Bearer realm="rota"'
    if error.retry_after:
        headers["Retry-After"] = str(error.retry_after)
    body = _problem(path, error.status, error.code, error.title, str(error), retryable=error.retryable)
    if error.fields:
        body["errors"] = [{"pointer": f"#/{name}", "code": error.code, "detail": str(error)} for name in error.fields]
    if isinstance(error, ExternalIdInUse):
        body["deliveryId"] = str(error.delivery_id)
    if isinstance(error, Closed):
        opens_at = error.opens_at
        body["opensAt"] = timezone.localtime(opens_at).isoformat(timespec="seconds") if opens_at else None
    return Response(body, status=error.status, headers=headers, content_type=CONTENT_TYPE)


def _problem(path: str, status: int, code: str, title: str, detail: str, *, retryable: bool = False) -> InvalidProblem:
    return {
        "type": f"{settings.PROBLEM_TYPES}{code}",
        "title": title,
        "status": status,
        "detail": detail,
        "instance": path,
        "code": code,
        "retryable": retryable,
    }


def _answer(
    request: HttpRequest, status: int, code: str, title: str, detail: str, *, retryable: bool = False
) -> HttpResponse:
    body = _problem(request.path, status, code, title, detail, retryable=retryable)
    return JsonResponse(body, status=status, content_type=CONTENT_TYPE)


def not_found(request: HttpRequest, *, meant: str = "") -> HttpResponse:
    """404: no endpoint has this path. `meant`: that of one which may be meant, if it is known."""
    meant, ends = meant or paths.nearest(request.path), paths.known_ends(request.path)
    hint = f" Did you mean {meant}?" if meant else f" Known ends of it: {', '.join(ends)}." if ends else ""
    detail = (
        f"No endpoint has this path.{hint} Paths are in lower case, without double slashes and trailing slashes; "
        f"{settings.SITE_URL}/docs/reference lists them."
    )
    return _answer(request, 404, "no_such_path", "No such path", detail)


def bad_request(request: HttpRequest) -> HttpResponse:
    """400: Django refused the request before it reached an endpoint."""
    detail = "The Host header names no host of this service, or the request is otherwise malformed."
    return _answer(request, 400, "bad_request", "Bad request", detail)


def too_long(request: HttpRequest, detail: str, *, status: int, code: str) -> HttpResponse:
    """414 or 431: the URL or a header exceeds the limits of `config.server.limits`."""
    return _answer(request, status, code, "The request is too large", detail)


def server_error(request: HttpRequest) -> HttpResponse:
    """500: an unexpected exception.

    It may have been raised after a commit, so the body claims nothing about the effect of the request.
    """
    can_repeat = changes_nothing(request)
    detail = _UNKNOWN_ERROR if can_repeat else f"{_UNKNOWN_ERROR} {_UNKNOWN_EFFECT}"
    return _answer(request, 500, "server_error", "An error on our side", detail, retryable=can_repeat)


def late_body(request: HttpRequest) -> HttpResponse:
    """408: the body did not arrive in time."""
    detail = "Nothing was changed. Send the body without pauses, on a connection of its own."
    return _answer(request, 408, "late_body", "The body did not arrive in time", detail, retryable=True)


def tls_required(request: HttpRequest) -> HttpResponse:
    """403: a call over plain HTTP."""
    detail = "Nothing was changed."
    if "Authorization" in request.headers:
        detail += " Replace the token: it was sent over the network unencrypted."
    return _answer(request, 403, "tls_required", "This API is served over https only", detail)


def busy(request: HttpRequest) -> HttpResponse:
    """503: this process is receiving as many large bodies as it may."""
    detail = "Nothing was changed. Try again after the seconds in Retry-After."
    return _answer(request, 503, "busy", "Too many large requests at once", detail, retryable=True)


def unavailable(request: HttpRequest) -> HttpResponse:
    """503: the database is away. A call that changes something may have taken effect."""
    can_repeat = changes_nothing(request) or "Idempotency-Key" in request.headers
    detail = "Try again after the seconds in Retry-After." if can_repeat else _UNKNOWN_EFFECT
    return _answer(
        request, 503, "unavailable", "The service is not available for a moment", detail, retryable=can_repeat
    )
