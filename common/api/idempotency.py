"""Calls that are repeated with the same `Idempotency-Key` and take effect once.

The semantics are those of the IETF draft "The Idempotency-Key HTTP Header Field". The answer to a call is stored in
the transaction of its effect, so that either both exist or neither, whatever ends the process. A refused call has no
effect and is not stored: the corrected call, with the same key, is a new one.
"""

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from http import HTTPStatus
from typing import Any, TypeVar

from django.db import OperationalError, models, transaction
from django.http import HttpResponse
from psycopg import errors
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from common.errors import DomainError
from common.fields import not_personal, personal
from common.postgresql import prepared

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"
KEPT = timedelta(hours=24)
LONGEST_KEY = 255
WAIT_SECONDS = 10  # for a call with the same key that has not ended

_PRINTABLE_ASCII = re.compile(r"[ -~]+")

Prepared = TypeVar("Prepared")


class IdempotencyRecord(models.Model):
    """Abstract model of the answer to one keyed call.

    Subclasses add the columns that identify the caller, and a unique constraint on them, `endpoint` and `key`. `status`
    is 0 only within the transaction of the call.
    """

    endpoint = not_personal(models.CharField(max_length=40))
    key = personal(models.CharField(max_length=LONGEST_KEY))
    fingerprint = not_personal(models.BinaryField(max_length=32))
    status = models.PositiveSmallIntegerField()
    body = personal(models.TextField())
    created_at = models.DateTimeField(db_index=True)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.endpoint} {self.key}"


@dataclass(frozen=True)
class Answer:
    """Status and JSON text of an answer. `replayed`: it was stored by an earlier call, without its `headers`."""

    status: int
    body: str
    replayed: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class KeyedEndpoint:
    """An endpoint whose calls may have a key, with the errors that its area has for keys.

    `invalid_key`: the key is empty, longer than LONGEST_KEY or holds characters other than printable ASCII.
    `key_reused`: it was used for a call with another body. `call_in_progress`: a call with the same key has not ended
    within WAIT_SECONDS.
    """

    records: type[IdempotencyRecord]
    name: str
    invalid_key: type[DomainError]
    key_reused: type[DomainError]
    call_in_progress: type[DomainError]

    def once(
        self,
        request: Request,
        *,
        scope: Mapping[str, Any],
        at: datetime,
        prepare: Callable[[], Prepared],
        act: Callable[[Prepared], Response],
    ) -> HttpResponse:
        """The answer of `act(prepare())`, or the stored one of an earlier call with the same key.

        Without a key the two are just called. `scope`: the columns that identify the caller, such as the account.
        `prepare` runs outside the transaction, and only if no answer is stored; it may call other services. `act` runs
        in the transaction that stores its answer. Raises the refusals of both, which are not stored, and the errors for
        keys.
        """
        key = request.headers.get(HEADER)
        if key is None:
            return act(prepare())
        if len(key) > LONGEST_KEY or not _PRINTABLE_ASCII.fullmatch(key):
            raise self.invalid_key
        call = self._call(scope, key, request.data, at)
        answer = call.stored() or call.run_once(_attempt(prepare, act))
        headers = {**answer.headers, "Content-Type": "application/json"}
        response = HttpResponse(answer.body, status=answer.status, headers=headers)
        if answer.replayed:
            response[REPLAYED] = "true"
        return response

    def once_for_page(
        self, key: str, body: Any, *, scope: Mapping[str, Any], at: datetime, act: Callable[[], Any]
    ) -> tuple[Any, bool]:
        """The JSON value that `act` returns or an earlier call with this key did, and whether it was an earlier one.

        For forms, which are sent twice by a double click and by a reload. Raises the refusals of `act`, which are not
        stored, `key_reused` for another `body`, and `call_in_progress`.
        """
        call = self._call(scope, key, body, at)
        answer = call.stored() or call.run_once(lambda: Answer(HTTPStatus.OK, json.dumps(act())))
        return json.loads(answer.body), answer.replayed

    def _call(self, scope: Mapping[str, Any], key: str, body: Any, at: datetime) -> "_KeyedCall":
        return _KeyedCall(self, scope, key, _fingerprint(body), at)


@dataclass(frozen=True)
class _KeyedCall:
    """A call with a key, of the caller whom `scope` identifies."""

    endpoint: KeyedEndpoint
    scope: Mapping[str, Any]
    key: str
    fingerprint: bytes
    at: datetime

    def stored(self) -> Answer | None:
        """The answer to an earlier call with this key, or None. Raises `key_reused` if that had another body."""
        record = prepared.execute(self._sql(_STORED), {**self._identity, "oldest": self.at - KEPT}).fetchone()
        if record is None:
            return None
        fingerprint, status, body = record
        if bytes(fingerprint) != self.fingerprint:
            raise self.endpoint.key_reused
        return Answer(status, body, replayed=True)

    def run_once(self, act: Callable[[], Answer]) -> Answer:
        """The stored answer, or that of `act`, which is stored in the transaction in which `act` runs.

        A call with the same key that is under way is waited for. Exceptions of `act` pass, and nothing is stored.
        Raises `key_reused` or `call_in_progress`.
        """
        with transaction.atomic():
            while (record := self._reserve()) is None:
                if answer := self.stored():
                    return answer
                # Its record was deleted between the two statements, because it had become too old.
            answer = act()
            prepared.execute(self._sql(_STORE), {"status": answer.status, "body": answer.body, "id": record})
        return answer

    def _reserve(self) -> int | None:
        """Insert the record, or take over one without a use. Returns its primary key, or None if an answer is stored.

        The unique index makes the statement wait for another transaction that has inserted the same key.
        """
        columns = {
            **self._identity,
            "fingerprint": self.fingerprint,
            "created_at": self.at,
            "oldest": self.at - KEPT,
        }
        timeout = (_LOCK_TIMEOUT, [f"{WAIT_SECONDS}s"])
        try:
            rows = prepared.execute_together(timeout, (self._sql(_RESERVE), columns))
        except OperationalError as error:
            if isinstance(error.__cause__, errors.LockNotAvailable):
                raise self.endpoint.call_in_progress from error
            raise
        return rows[0][0] if rows else None

    @property
    def _identity(self) -> dict[str, Any]:
        """The columns of the unique constraint."""
        return {**self.scope, "endpoint": self.endpoint.name, "key": self.key}

    def _sql(self, statement: str) -> str:
        return _of(statement, self.endpoint.records, tuple(self._identity))


_LOCK_TIMEOUT = "SELECT set_config('lock_timeout', %s, true)"
# The previous version stored refusals too, with their status.
_STORED = """
SELECT fingerprint, status, body FROM {table} WHERE {same} AND created_at > %(oldest)s AND status < 400
"""
_RESERVE = """
INSERT INTO {table} AS stored ({unique}, fingerprint, status, body, created_at)
VALUES ({values}, %(fingerprint)s, 0, '', %(created_at)s)
ON CONFLICT ({unique}) DO UPDATE
    SET fingerprint = EXCLUDED.fingerprint, status = 0, body = '', created_at = EXCLUDED.created_at
    WHERE stored.created_at <= %(oldest)s OR stored.status >= 400
RETURNING id
"""
_STORE = "UPDATE {table} SET status = %(status)s, body = %(body)s WHERE id = %(id)s"


@cache
def _of(statement: str, records: type[IdempotencyRecord], unique: tuple[str, ...]) -> str:
    """The statement for a table of records whose columns `unique` identify a call."""
    return statement.format(
        table=records._meta.db_table,
        unique=", ".join(unique),
        values=", ".join(f"%({name})s" for name in unique),
        same=" AND ".join(f"{name} = %({name})s" for name in unique),
    )


def _fingerprint(body: Any) -> bytes:
    """Digest of a parsed JSON value. The order of keys and the white space between tokens do not count."""
    return hashlib.sha256(json.dumps(body, sort_keys=True, default=str).encode()).digest()


def _attempt(prepare: Callable[[], Prepared], act: Callable[[Prepared], Response]) -> Callable[[], Answer]:
    """What answers with `act(prepare())`. A refusal of `prepare`, which runs now, is raised when the answer is wanted.

    So a call with the same key that is under way is waited for, and if it takes effect, its answer is the one.
    """
    try:
        ready = prepare()
    except DomainError as error:
        refusal = error
    else:
        return lambda: _answer(act(ready))

    def refuse() -> Answer:
        raise refusal

    return refuse


def _answer(response: Response) -> Answer:
    return Answer(response.status_code, JSONRenderer().render(response.data).decode(), headers=response.headers)
