"""Which deliveries, orders and changes the access log says were answered, and the database does not have.

After a failover that lost what was committed last, the log of the web servers is what still knows of it.
"""

import json
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from uuid import UUID

from django.urls import Resolver404, resolve

from delivery.models import Delivery, Transition, parse_id
from integration.models import Order, StatusLog

_ORDER_DIGITS = 18
# Callers that are named by two words.
_NAMED = frozenset({"user", "driver"})


@dataclass(frozen=True)
class Answer:
    """A line of the access log about one delivery or order; `changed_at` is the moment of the change it has made."""

    at: datetime
    request_id: str
    call: str
    status: int
    caller: str
    subject: UUID | int
    changed_at: datetime | None

    @property
    def is_success(self) -> bool:
        return self.status < HTTPStatus.BAD_REQUEST


@dataclass(frozen=True)
class Missing:
    answer: Answer
    is_there: bool  # the delivery or order itself; its change is not

    def __str__(self) -> str:
        of = self.answer
        name = f"{'order' if isinstance(of.subject, int) else 'delivery'} {of.subject}"
        what = f"the change of {name}" if self.is_there else name
        return f"{of.at.isoformat()} {what} is not there: {of.call} {of.status}, {of.caller} [{of.request_id}]"


def read(lines: Iterable[str], *, since: datetime) -> Iterator[Answer]:
    """The answers since then that name a delivery or order, of a log in either format; other lines are passed over."""
    for line in lines:
        time, request_id, message = _record(line)
        try:
            at = datetime.fromisoformat(time)
        except ValueError:
            continue
        if at >= since and (answer := _answer(at, request_id, message)):
            yield answer


def _record(line: str) -> tuple[str, str, str]:
    """Time, request id and message of a record of the access log; empty texts of another line."""
    start = line.find('{"time"')
    if start >= 0:
        try:
            record = json.loads(line[start:])
        except ValueError:
            return "", "", ""
        if record.get("logger") == "rota.access":
            return record["time"], record["request_id"], record["message"]
        return "", "", ""
    before, _name, rest = line.partition(" rota.access [")
    request_id, _bracket, message = rest.partition("] ")
    words = before.split()[-2:]  # time and level, behind whatever collects logs
    return (words[0], request_id, message.rstrip("\n")) if message and len(words) > 1 else ("", "", "")


def _answer(at: datetime, request_id: str, message: str) -> Answer | None:
    """None if the message names no delivery or order. A path that is quoted otherwise has none."""
    call, _quote, rest = message.rpartition("' ")
    method, _quote, path = call.partition(" '")
    words = rest.split()
    if not call or len(words) < 4:  # noqa: PLR2004  # status, duration, address and caller
        return None
    status, caller = int(words[0]), words[3:5] if words[3] in _NAMED else words[3:4]
    subject, changed_at = _subject(words[3 + len(caller) :]) or (_of_path(path), None)
    if subject is None:
        return None
    return Answer(at, request_id, f"{method} {path}", status, " ".join(caller), subject, changed_at)


def _subject(words: list[str]) -> tuple[UUID | int, datetime | None] | None:
    """What stands behind the caller: `delivery` or `order`, its id, and the moment of its change if it has one."""
    match words:
        case ["delivery", text, *moment]:
            subject: UUID | int | None = parse_id(text)
        case ["order", text, *moment] if text.isdecimal() and len(text) <= _ORDER_DIGITS:
            subject = int(text)
        case _other:
            return None
    return None if subject is None else (subject, datetime.fromisoformat(moment[0]) if moment else None)


def _of_path(path: str) -> UUID | None:
    """The delivery that a path names, which calls for one that is not there do."""
    try:
        named = resolve(path).kwargs
    except Resolver404:
        return None
    return parse_id(str(named.get("delivery_id") or named.get("delivery") or ""))


def missing(answers: Collection[Answer]) -> Iterator[Missing]:
    """Those whose delivery, order or change is not in the database.

    Of answers with an error only 404, of somebody who knows a delivery that is not there.
    """
    deliveries = {answer.subject for answer in answers if isinstance(answer.subject, UUID)}
    orders = {answer.subject for answer in answers if isinstance(answer.subject, int)}
    there: set[UUID | int] = {
        *Delivery.objects.filter(pk__in=deliveries).values_list("pk", flat=True),
        *Order.objects.filter(pk__in=orders).values_list("pk", flat=True),
    }
    moments = {answer.changed_at for answer in answers if answer.changed_at}
    of_deliveries = Transition.objects.filter(delivery__in=deliveries, at__in=moments)
    of_orders = StatusLog.objects.filter(order__in=orders, created_at__in=moments)
    changes: set[tuple[UUID | int, datetime]] = {
        *of_deliveries.values_list("delivery", "at"),
        *of_orders.values_list("order", "created_at"),
    }
    for answer in answers:
        if answer.subject not in there:
            if answer.is_success or answer.status == HTTPStatus.NOT_FOUND:
                yield Missing(answer, is_there=False)
        elif answer.changed_at and answer.is_success and (answer.subject, answer.changed_at) not in changes:
            yield Missing(answer, is_there=True)
