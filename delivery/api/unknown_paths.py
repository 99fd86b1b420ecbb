"""Calls to paths of area A that no endpoint has."""

from contextlib import suppress

from django.http import HttpRequest, HttpResponse, JsonResponse
from rest_framework.request import Request

from delivery.api import problems
from delivery.api.authentication import BearerAuthentication
from delivery.api.parsers import BoundedJSONParser
from delivery.errors import AccountSuspended, InvalidToken, RateLimited


def answer(request: HttpRequest) -> HttpResponse:
    """404, with and without a token; 429 over the limit of a valid one. A call with a valid token can be recorded."""
    call = Request(request, parsers=[BoundedJSONParser()], authenticators=[BearerAuthentication()])
    try:
        with suppress(InvalidToken, AccountSuspended):
            _authenticated = call.auth
    except RateLimited as error:
        body = problems.refusal(request.path, error).data
        return JsonResponse(body, status=error.status, content_type=problems.CONTENT_TYPE)
    return problems.not_found(request)
