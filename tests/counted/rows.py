"""What queries count: rows that fit, and for each of their conditions a row that fails this one alone.

An entry of the table is a test with `@counts`, which names the places in the code that it is about.
`test_all_queries.py` finds the queries that have none.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import BinaryField, Model

from common.fields import UUIDField, new_id
from delivery import lifecycle
from delivery.lifecycle import RouteStatus, Status
from delivery.models import Delivery
from integration.models import Order, SearchCode
from tests.factories import DriverFactory

Row = TypeVar("Row", bound=Model)
Test = TypeVar("Test", bound=Callable[..., None])
Figures = Mapping[str, Any]
# Places in the code, `module:function`, with the entries about them.
ENTRIES: dict[str, list[str]] = {}


def counts(*places: str) -> Callable[[Test], Test]:
    """Make a test the entry of these queries."""

    def entry(test: Test) -> Test:
        for place in places:
            ENTRIES.setdefault(place, []).append(test.__name__)
        return test

    return entry


def check(
    found: Callable[[], Any],
    *,
    of: Callable[..., Any] | None = None,
    fit: Figures,
    not_: Figures,
) -> None:
    """Compare what each row changes in what is `found`, beside the first of those that `fit`, which stays.

    `found`: a number, rows, or figures by name. A row that fits is one more of them, unless it says of which figures
    how many. Those of `not_` change nothing. A row is made by a function, or by `of` with values that differ.
    """
    expected = {name: row if isinstance(row, tuple) else (row, 1) for name, row in fit.items()}
    assert not expected.keys() & not_.keys()
    expected |= {name: (row, {}) for name, row in not_.items()}
    wrong = []
    before = _figures(found())
    for position, (name, (row, changes)) in enumerate(expected.items()):
        with transaction.atomic():
            if callable(row):
                row()
            else:
                assert of is not None
                of(**row)
            after = _figures(found())
            transaction.set_rollback(position > 0)
        change = {key: after[key] - before[key] for key in after | before if after[key] != before[key]}
        if change != _figures(changes):
            wrong.append(f"{name}: changes {change or 'nothing'}, not {_figures(changes) or 'nothing'}")
        before = before if position else after
    assert not wrong, "\n".join(["what these rows change:", *wrong])


def _figures(found: Any) -> Counter[str]:
    if isinstance(found, Mapping):
        return Counter({str(key): number for key, number in found.items() if number})
    number = len(list(found)) if isinstance(found, Iterable) else found
    return Counter({"number": number} if number else {})


_KEYS = {UUIDField: new_id, BinaryField: lambda: new_id().bytes}


def copy(row: Row, **values: Any) -> Row:
    """A row like this one with these values, and with keys of its own."""
    columns = {field.attname: getattr(row, field.attname) for field in row._meta.concrete_fields if not field.generated}
    for field in row._meta.concrete_fields:
        if field.unique and not field.is_relation:
            columns[field.attname] = _KEYS.get(type(field), lambda: None)()
    new = type(row)(**columns)
    for name, value in values.items():
        setattr(new, name, value)
    type(row)._base_manager.bulk_create([new])
    return new


_STATUSES = {
    **dict.fromkeys(lifecycle.UNTAKEN, Status.PENDING),
    RouteStatus.ACCEPTED: Status.ACCEPT,
    RouteStatus.COLLECTED: Status.COLLECTED,
    RouteStatus.RETURNING: Status.COLLECTED,
    RouteStatus.FINISHED: Status.DELIVERED,
    RouteStatus.CANCELLED: Status.FAILED,
    RouteStatus.EXPIRED: Status.FAILED,
}


def delivery(like: Delivery, route: RouteStatus, *, stops: Iterable[Figures] = ({},), **values: Any) -> Delivery:
    """A delivery like this one whose route has this status, with a driver of its own where it needs one.

    It has a stop for each of `stops`, the values in which that differs from the first one of `like`.
    """
    row = {"route_status": route, "status": _STATUSES[route], "driver": None, **values}
    if route in (*lifecycle.HELD, RouteStatus.FINISHED) and row["driver"] is None:
        row["driver"] = DriverFactory.create(environment=row.get("environment", like.environment))
    if route in lifecycle.CLOSED:
        row.setdefault("closed_at", like.created_at)
    if route is RouteStatus.CANCELLED:
        row = {"cancelled_at": row["closed_at"], "cancel_fee": 0, **row}
    new, first = Delivery(pk=new_id()), like.stops.get(index=0)
    # Before the delivery, because stops of an accepted one cannot be added.
    for index, stop in enumerate(stops):
        copy(first, **{"delivery_id": new.pk, "index": index, "status": row["status"], **stop})
    return copy(like, pk=new.pk, **row)


def order(like: Order, *, log: Iterable[Figures] = (), codes: Iterable[str] = (), **values: Any) -> Order:
    """An order like this one with codes of its own, with entries of its log and further codes that find it."""
    row = {"code": new_id().hex, "tracking_code": new_id().hex, **values}
    new = copy(like, **row)
    copy(like.status_log.get(), order=new)
    for entry in log:
        copy(like.status_log.get(), **{"order": new, "status": new.status, **entry})
    for value in codes:
        SearchCode.objects.create(seller=new.seller, environment=new.environment, order=new, value=value)
    return new


def rolled_back(act: Callable[[], Any]) -> Any:
    """What this returns, which writes."""
    with transaction.atomic():
        found = act()
        transaction.set_rollback(True)
    return found
