"""The header Idempotency-Key in area B."""

from collections.abc import Callable
from datetime import datetime

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from common import idempotency
from common.idempotency import KeyedCall
from integration.api import answers
from integration.errors import CallInProgress, IdempotencyKeyReused, InvalidIdempotencyKey
from integration.models import IdempotencyRecord, Seller

# With which `answer_once` refuses a call.
ERRORS = (InvalidIdempotencyKey, IdempotencyKeyReused, CallInProgress)


def answer_once(
    request: Request, *, seller: Seller, endpoint: str, at: datetime, act: Callable[[], Response]
) -> HttpResponse:
    """The answer of `act()`, once for each Idempotency-Key (`KeyedCall.once`).

    Without the header `act` is just called. Raises InvalidIdempotencyKey, IdempotencyKeyReused or CallInProgress.
    """
    try:
        call = _call(request, seller, endpoint, at)
        if call is None:
            return act()
        return call.once(prepare=lambda: None, act=lambda _nothing: act(), refuse=answers.refused)
    except idempotency.InvalidKey as error:
        raise InvalidIdempotencyKey from error
    except idempotency.KeyReused as error:
        raise IdempotencyKeyReused from error
    except idempotency.CallInProgress as error:
        raise CallInProgress from error


def _call(request: Request, seller: Seller, endpoint: str, at: datetime) -> KeyedCall | None:
    key = idempotency.read_key(request.headers.get(idempotency.HEADER))
    if key is None:
        return None
    return KeyedCall(
        records=IdempotencyRecord,
        scope={"seller_id": seller.pk},
        endpoint=endpoint,
        key=key,
        fingerprint=idempotency.fingerprint(request.data),
        at=at,
    )
