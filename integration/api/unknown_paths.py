"""Calls to paths of area B that no endpoint has."""

from contextlib import suppress

from django.http import HttpRequest, HttpResponse, JsonResponse
from rest_framework.request import Request

from integration.api import answers
from integration.api.authentication import KeyAuthentication
from integration.api.parsers import BoundedJSONParser
from integration.errors import AccountSuspended, InvalidKey, KeyMissing, RateLimited


def answer(request: HttpRequest) -> HttpResponse:
    """404, with and without a key; 429 over the limit of a valid one. A call with a valid key can be recorded."""
    call = Request(request, parsers=[BoundedJSONParser()], authenticators=[KeyAuthentication()])
    try:
        with suppress(KeyMissing, InvalidKey, AccountSuspended):
            _authenticated = call.auth
    except RateLimited as error:
        return JsonResponse(answers.refused(error).data, status=error.status, json_dumps_params={"ensure_ascii": False})
    return answers.not_found(request)
