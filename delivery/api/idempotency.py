"""The header Idempotency-Key in area A."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import TypeVar

from django.http import HttpResponse
from rest_framework.request import Request
from rest_framework.response import Response

from common import idempotency
from common.idempotency import KeyedCall
from common.idempotent_answers import IdempotentAnswers
from delivery.api import problems
from delivery.api.errors import CallInProgress, IdempotencyKeyReused, InvalidIdempotencyKey
from delivery.models import IdempotencyRecord, Token

Prepared = TypeVar("Prepared")
# With which `answer_once` refuses a call.
ERRORS = (InvalidIdempotencyKey, IdempotencyKeyReused, CallInProgress)


def answer_once(
    request: Request,
    *,
    token: Token,
    endpoint: str,
    at: datetime,
    prepare: Callable[[], Prepared],
    act: Callable[[Prepared], Response],
) -> HttpResponse:
    """The answer of `act(prepare())`, once for each Idempotency-Key (`IdempotentAnswers.once`).

    Without the header the two are just called. Raises InvalidIdempotencyKey, IdempotencyKeyReused or CallInProgress.
    """
    try:
        key = idempotency.read_key(request.headers.get(idempotency.HEADER))
        if key is None:
            return act(prepare())
        call = KeyedCall(
            records=IdempotencyRecord,
            scope={"integrator_id": token.integrator_id, "environment": token.environment},
            endpoint=endpoint,
            key=key,
            fingerprint=idempotency.fingerprint(request.data),
            at=at,
        )
        answers = IdempotentAnswers(partial(problems.refusal, request.path), problems.CONTENT_TYPE)
        return answers.once(call, prepare=prepare, act=act)
    except idempotency.InvalidKey as error:
        raise InvalidIdempotencyKey from error
    except idempotency.KeyReused as error:
        raise IdempotencyKeyReused from error
    except idempotency.CallInProgress as error:
        raise CallInProgress from error
