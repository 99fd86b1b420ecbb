"""Answers to calls of both APIs with the header Idempotency-Key."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from django.db import transaction
from django.http import HttpResponse
from rest_framework.renderers import JSONRenderer
from rest_framework.response import Response

from common.errors import DomainError
from common.idempotency import REPLAYED, Answer, KeyedCall

Prepared = TypeVar("Prepared")

# Refusals that are stored and replayed like a success: the same call would meet them again. Others had no effect, and
# the corrected call may have the same key.
_KEPT_REFUSALS = (400, 404)


@dataclass(frozen=True)
class IdempotentAnswers:
    """How an API answers: `refuse` makes the answer to a refused call, with the content type `refusal_type`."""

    refuse: Callable[[DomainError], Response]
    refusal_type: str = "application/json"

    def once(
        self, call: KeyedCall, *, prepare: Callable[[], Prepared], act: Callable[[Prepared], Response]
    ) -> HttpResponse:
        """The answer of `act(prepare())`, or the stored one of an earlier call with the same key.

        `prepare` runs outside the transaction, and only if no answer is stored; it may call other services. `act` runs
        in the transaction that stores its answer. Raises KeyReused, CallInProgress, and refusals that are not stored.
        """
        answer = call.stored() or self._run(call, prepare, act)
        content_type = self.refusal_type if answer.status in _KEPT_REFUSALS else "application/json"
        response = HttpResponse(answer.body, status=answer.status, content_type=content_type)
        if answer.replayed:
            response[REPLAYED] = "true"
        return response

    def _run(self, call: KeyedCall, prepare: Callable[[], Prepared], act: Callable[[Prepared], Response]) -> Answer:
        try:
            prepared = prepare()
        except DomainError as error:
            refusal = self._kept_refusal(error)
            return call.run_once(lambda: refusal)
        return call.run_once(lambda: self._act(lambda: act(prepared)))

    def _act(self, act: Callable[[], Response]) -> Answer:
        try:
            with transaction.atomic():
                return _answer(act())
        except DomainError as error:
            return self._kept_refusal(error)

    def _kept_refusal(self, error: DomainError) -> Answer:
        """The answer that says why a call was refused. Raises the error again if it is not to be stored."""
        if error.status not in _KEPT_REFUSALS:
            raise error
        return _answer(self.refuse(error))


def _answer(response: Response) -> Answer:
    return Answer(response.status_code, JSONRenderer().render(response.data).decode())
