"""Refused calls of both APIs, stored without personal data for the caller's account to look at.

At most MOST_STORED calls of an account and hour are stored; the others are counted. Calls over a limit (429) are only
counted, in the process first, because they have to stay cheap: a thread of the process calls `Recorder.write_counts`.
"""

import json
import re
from collections import Counter
from datetime import datetime, timedelta
from itertools import islice
from threading import Lock
from typing import Any, NamedTuple, TypedDict
from uuid import uuid4

from django.db import connection, models, transaction
from django.http import HttpRequest, HttpResponse, QueryDict
from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import APIException
from rest_framework.request import Request

from common.api.authentication import CALL, REFUSAL, Refusal
from common.errors import DomainError
from common.fields import UUIDField, not_personal, personal
from common.http_requests import content_length
from common.observability.masking import Keys, Masker, described
from common.postgresql import batches

KEPT = timedelta(days=7)
MOST_STORED = 500  # of one account in an hour
_LONGEST = 4 * 1024  # bytes of a body or an answer
_MEDIA_TYPE = re.compile(r"[\w.+-]{1,40}/[\w.+-]{1,60}")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z_-]{0,40}")
_MOST_ERRORS = 50  # of an answer; more do not fit
_MOST_REASONS = 10
_MOST_SIZE = 10**9 - 1  # of a body, in bytes; the column takes no more than twice as much
_TOO_MANY_REQUESTS = 429


class Reason(TypedDict):
    """`field`: the path of what is wrong, empty for the whole call. `message`: of the answer, or of a DomainError."""

    field: str
    code: str
    message: str
    values: dict[str, str]


class RefusedCall(models.Model):
    """Abstract model of an answer with status 4xx or 5xx to an account that is known. Subclasses add the account."""

    id = UUIDField(primary_key=True, default=uuid4, editable=False)
    created_at = models.DateTimeField(_("when"))
    method = not_personal(models.CharField(max_length=10))
    path = personal(models.CharField(max_length=255))
    status = models.PositiveSmallIntegerField()
    code = not_personal(models.CharField(max_length=60, blank=True))
    request_id = not_personal(models.CharField(max_length=128))
    credential = not_personal(models.CharField(max_length=20))  # its hint
    query = personal(models.TextField(blank=True))  # as masked JSON
    content_type = not_personal(models.CharField(max_length=101, blank=True))
    size = models.PositiveIntegerField()  # of the body, in bytes
    body = personal(models.TextField(blank=True))  # as masked JSON; empty if it was no JSON object
    answer = personal(models.TextField(blank=True))
    # `Reason`s, the first of them. NULL: written before version 0.3.0; `answer` has the texts.
    reasons = personal(models.JSONField(null=True))

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.method} {self.path}: {self.status}"


class RefusedCallCount(models.Model):
    """Abstract model of an hour's number of refused calls of an account. Subclasses add the account."""

    hour = models.DateTimeField()
    refused = models.PositiveIntegerField()  # stored ones, and those over MOST_STORED
    over_limit = models.PositiveIntegerField()  # 429

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.hour}: {self.refused}"


class Totals(NamedTuple):
    """Of the last days: calls that were refused but not stored, and calls over a limit."""

    left_out: int
    over_limit: int


class Recorder:
    """Writes the refused calls of one area's accounts. `owner`: the columns of the account, which credentials have."""

    def __init__(
        self, calls: type[RefusedCall], counts: type[RefusedCallCount], *, owner: tuple[str, ...], keys: Keys
    ) -> None:
        self._calls, self._counts, self._owner, self._keys = calls, counts, owner, keys
        self._over_limit: Counter[tuple[Any, ...]] = Counter()
        self._lock = Lock()

    def record(self, request: HttpRequest, response: HttpResponse, *, request_id: str, at: datetime) -> None:
        """Record an answer with status 4xx or 5xx for the account of the credential. `request` has a `CALL`."""
        call: Request = request.META[CALL]
        owner = {name: getattr(call.auth, name) for name in self._owner}
        hour = at.replace(minute=0, second=0, microsecond=0)
        if response.status_code == _TOO_MANY_REQUESTS:
            with self._lock:
                self._over_limit[*owner.items(), ("hour", hour)] += 1
            return
        with transaction.atomic():
            if self._add({**owner, "hour": hour}, refused=1) <= MOST_STORED:
                columns = _columns(request, call, response, Masker(self._keys))
                self._calls._default_manager.create(
                    **owner, created_at=at, request_id=request_id, credential=str(call.auth), **columns
                )

    def totals(self, *, at: datetime, **owner: Any) -> Totals:
        """What was refused in the last seven days and is not stored."""
        hours = self._counts._default_manager.filter(**owner, hour__gte=at - KEPT)
        rows = list(hours.values_list("refused", "over_limit"))
        return Totals(sum(max(0, refused - MOST_STORED) for refused, _ in rows), sum(over for _, over in rows))

    def prune(self, *, at: datetime) -> int:
        """Delete what is older than KEPT, in batches that are committed one by one. Returns how many calls."""
        self._counts._default_manager.filter(hour__lt=at - KEPT).delete()
        return batches.prune(self._calls, "created_at", before=at - KEPT)

    def write_counts(self) -> bool:
        """Write how many calls over a limit this process has counted since the last time. Whether there were any.

        What cannot be written stays counted.
        """
        with self._lock:
            counted, self._over_limit = self._over_limit, Counter()
        if not counted:
            return False
        try:
            with transaction.atomic():
                for columns, count in counted.items():
                    self._add(dict(columns), over_limit=count)
        except Exception:
            with self._lock:
                self._over_limit += counted
            raise
        return True

    def _add(self, row: dict[str, Any], *, refused: int = 0, over_limit: int = 0) -> int:
        """Add to the counts of an account and hour. Returns those that were refused so far."""
        table = connection.ops.quote_name(self._counts._meta.db_table)
        columns = ", ".join(row)
        places = ", ".join(["%s"] * len(row))
        # Names of columns and the table, which are constants.
        statement = f"""
            INSERT INTO {table} AS kept ({columns}, refused, over_limit) VALUES ({places}, %s, %s)
            ON CONFLICT ({columns}) DO UPDATE SET
                refused = kept.refused + EXCLUDED.refused, over_limit = kept.over_limit + EXCLUDED.over_limit
            RETURNING refused
        """  # noqa: S608  # nosec B608
        with connection.cursor() as cursor:
            cursor.execute(statement, [*row.values(), refused, over_limit])
            total: int = cursor.fetchone()[0]
        return total


def _reasons(refusal: Refusal | None, answer: dict[str, Any], masker: Masker) -> list[Reason]:
    """Why the call was refused: what the domain said, or else what the answer says."""
    if refusal:
        # The message is a constant, whose placeholders must stay.
        values = masker.without_repetitions({name: str(value) for name, value in refusal.values.items()})
        code, message = refusal.code, refusal.message
        return [Reason(field=each, code=code, message=message, values=values) for each in refusal.fields or [""]]
    code = str(answer.get("code", ""))
    match answer.get("errors"):
        case list(errors):  # of area A
            found = [
                Reason(field=_field(each), code=each["code"], message=each["detail"], values={}) for each in errors
            ]
        case dict(errors):  # of area B, without codes
            found = [Reason(field=path, code="", message=" ".join(texts), values={}) for path, texts in errors.items()]
        case _:
            message = str(answer.get("detail") or answer.get("message") or "")
            found = [Reason(field="", code=code, message=message, values={})] if message else []
    reasons: list[Reason] = masker.without_repetitions(found[:_MOST_REASONS])
    return reasons


def _field(error: dict[str, Any]) -> str:
    pointer: str = error.get("pointer", "").removeprefix("#").removeprefix("/").replace("/", ".")
    return pointer or error.get("parameter", "")


def _columns(request: HttpRequest, call: Request, response: HttpResponse, masker: Masker) -> dict[str, Any]:
    """The columns that say what was sent and answered. `call` is `request` as REST framework has it."""
    media_type = (request.content_type or "").lower()
    if media_type != (header := request.META.get("CONTENT_TYPE", "")):
        masker.mask(header)  # an answer may repeat it
    length = content_length(request) or 0
    body, query, answer = _object_of(call), request.GET.dict(), _answer(response)
    return {
        "method": _text(request.method or "", 10),
        "path": _path(request, masker),
        "query": _json(masker.mask(query)) if query else "",
        "content_type": media_type if _MEDIA_TYPE.fullmatch(media_type) else "",
        "size": length if length <= _MOST_SIZE else 0,
        "body": "" if body is None else _json(masker.mask(body)),
        "status": response.status_code,
        "code": str(answer.get("code", ""))[:60],
        # After what was sent, because it may repeat it.
        "answer": _json(masker.without_repetitions(answer)) if answer else "",
        "reasons": _reasons(request.META.get(REFUSAL), answer, masker),
    }


def _object_of(call: Request) -> dict[str, Any] | None:
    """The JSON object in the body, or None if it is something else. Parses it unless the view has."""
    try:
        data = call.data
    except (APIException, DomainError):
        return None
    return data if isinstance(data, dict) and not isinstance(data, QueryDict) else None


def _answer(response: HttpResponse) -> dict[str, Any]:
    """The body of an answer, with the first of its errors."""
    if "json" not in response.get("Content-Type", ""):
        return {}
    body: dict[str, Any] = json.loads(response.content)
    match body.get("errors"):
        case list(errors):
            body["errors"] = errors[:_MOST_ERRORS]
        case dict(errors):
            body["errors"] = dict(islice(errors.items(), _MOST_ERRORS))
    return body


def _path(request: HttpRequest, masker: Masker) -> str:
    """The path, with ids in it only if they are UUIDs. Of one that no endpoint has, words without digits stay too."""
    path = request.path
    if request.resolver_match is None:
        path = "/".join(
            part if _WORD.fullmatch(part) or _UUID.fullmatch(part) else masker.mask(part) for part in path.split("/")
        )
        return _text(path, 255)
    for name, value in request.resolver_match.kwargs.items():
        if not _UUID.fullmatch(str(value)) and masker.mask(str(value), name) != value:
            path = path.replace(str(value), described(str(value)))
    return _text(path, 255)


def _json(value: Any) -> str:
    # Numbers with a fraction may have been read as Decimal.
    return _text(json.dumps(value, indent=2, ensure_ascii=False, default=float), _LONGEST)


def _text(text: str, most_bytes: int) -> str:
    """Text as PostgreSQL can store it, cut."""
    encoded = text.replace("\0", "").encode("utf-8", "replace")
    return encoded.decode() if len(encoded) <= most_bytes else f"{encoded[: most_bytes - 3].decode(errors='ignore')}…"
