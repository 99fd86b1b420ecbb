"""Records refused calls of both APIs, for the accounts to look at in the panel."""

import logging
from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from common.limited_calls import CALL
from common.refused_calls import Answered
from config.middleware import request_id
from delivery.actions import refused_calls as calls_with_tokens
from delivery.models import Token
from integration.actions import refused_calls as calls_with_keys
from integration.models import ApiKey

_log = logging.getLogger(__name__)


class RefusedCallMiddleware:
    """Record a refused call whose account is known. Nothing is read or written for another one."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        call = request.META.get(CALL)
        if call and response.status_code >= HTTPStatus.BAD_REQUEST:
            try:
                _record(Answered(request, call, response, request_id()))
            except Exception:  # noqa: BLE001  # the answer must not depend on it
                _log.exception("A refused call could not be recorded")
        return response


def _record(answered: Answered) -> None:
    match answered.call.auth:
        case Token() as token:
            calls_with_tokens.record(token=token, answered=answered, at=timezone.now())
        case ApiKey() as key:
            calls_with_keys.record(key=key, answered=answered, at=timezone.now())
