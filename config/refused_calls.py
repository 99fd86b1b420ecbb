"""Records refused calls of both APIs, for the accounts to look at in the panel."""

import logging
import threading
from http import HTTPStatus

from django.conf import settings
from django.db import Error, connection
from django.http import HttpRequest, HttpResponse
from django.utils.deprecation import MiddlewareMixin
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from common import clock
from common.api.authentication import CALL
from common.connections import is_unavailable
from common.errors import DomainError
from config import errors
from config.areas import Area, area_of
from config.monitoring.logs import REQUEST_ID
from delivery.api.authentication import BearerAuthentication
from delivery.models import Token
from delivery.models import call as with_token
from integration.api.authentication import KeyAuthentication
from integration.models import ApiKey, CarrierKey
from integration.models import call as with_key

_log = logging.getLogger(__name__)
_COUNTED_SECONDS = 1.0
RECORDERS = {Token: with_token.RECORDER, ApiKey: with_key.RECORDER, CarrierKey: with_key.CARRIER_RECORDER}
_AUTHENTICATION = {Area.A: BearerAuthentication, Area.B: KeyAuthentication}


class RefusedCallMiddleware(MiddlewareMixin):
    """Record a refused call whose account is known. Nothing is read or written for another one."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        call = request.META.get(CALL)
        if call is None:
            return response
        if response.status_code >= HTTPStatus.BAD_REQUEST:
            try:
                RECORDERS[type(call.auth)].record(request, response, request_id=REQUEST_ID.get(), at=clock.now())
            except Exception as error:  # noqa: BLE001  # the answer must not depend on it
                if not is_unavailable(error):  # the log has that of the call itself
                    _log.exception("A refused call could not be recorded")
        # Both refer to the call, see `ApiView.dispatch`.
        call.parser_context.clear()
        del request.META[CALL]
        return response


class PlainHttpMiddleware(MiddlewareMixin):
    """Refuse API calls over plain HTTP if SECURE_SSL_REDIRECT is set; Django redirects pages to https.

    The credential is looked up, so that its account learns which one was sent in clear text.
    """

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        area = area_of(request.path)
        if not (settings.SECURE_SSL_REDIRECT and area) or request.is_secure():
            return None
        try:
            _AUTHENTICATION[area]().authenticate(Request(request))
        except (APIException, DomainError):
            pass  # the answer is the same without a valid credential
        except Error as error:
            _log.warning("The credential of a call over plain HTTP could not be looked up: %s", error)
        return errors.tls_required(request)


def write_counts_until_exit() -> None:
    """Write the calls over a limit that this process counts, every second, and once more when its main thread ends.

    For a thread of its own that is no daemon: the process waits for it when it exits.
    """
    main = threading.main_thread()
    while main.is_alive():
        main.join(_COUNTED_SECONDS)
        for recorder in RECORDERS.values():
            try:
                if recorder.write_counts():
                    connection.close()
            except Exception:  # noqa: BLE001  # the next time may succeed
                _log.exception("Calls over a limit could not be counted")
                connection.close()
