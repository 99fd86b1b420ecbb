"""The search of the dispatch board."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import CharField, F, Func, OuterRef, Q, QuerySet, TextField, Value
from django.db.models.functions import Cast

from common.expressions import Folded, folded
from delivery.models import Delivery, Stop

_MOST_WORDS = 10
# Of the routes that are due first; a search that finds more does not help.
_MOST_FOUND = 1000
_SHORTEST_ID = 6  # characters, as many as pages show of an id


def matching(environment: str, text: str, *, ids: Collection[UUID] | None = None) -> list[str]:
    """Ids of the routes in progress that have each word of the text in a name, phone, address or order.

    Case and accents do not matter, nor do the signs in phones. A word of six or more characters is looked for in the
    deliveryId too; a shorter one, such as a house number, is in too many of them. With `ids`, of these routes only.
    """
    found: QuerySet[Delivery] = Delivery.objects.in_progress(environment).with_due()
    if ids is not None:
        found = found.filter(pk__in=ids)
    # A subquery for each route, by the index. EXISTS in its place is planned as one scan of the stops of all times.
    of_stops = Stop.objects.filter(delivery=OuterRef("pk")).values(
        text=_joined("external_id", "contact_name", "contact_phone")
    )
    own = _joined("integrator__name", "contact_name", "contact_phone", "driver__name", "driver__phone")
    found = found.alias(
        joined=_lines(own, Func(ArraySubquery(of_stops), Value("\n"), function="array_to_string")),
        searched=Folded("joined"),
        id_text=Cast("pk", CharField()),
    )
    for word in folded(text).split()[:_MOST_WORDS]:
        condition = Q(searched__contains=word)
        if len(word) >= _SHORTEST_ID:
            condition |= Q(id_text__contains=word)
        found = found.filter(condition)
    return [str(key) for key in found.order_by(F("due_at").asc()).values_list("pk", flat=True)[:_MOST_FOUND]]


def _joined(*names: str) -> Func:
    """The texts of these columns and of the address, each on a line. Phones also as their digits."""
    phones = [_digits(name) for name in names if name.endswith("phone")]
    address = Func(F("address"), Value("$.*"), function="jsonb_path_query_array", output_field=TextField())
    texts = [*map(F, names), *phones, Cast(address, TextField())]
    return _lines(*texts)


def _lines(*texts: Any) -> Func:
    return Func(Value("\n"), *texts, function="concat_ws", output_field=TextField())


def _digits(name: str) -> Func:
    return Func(F(name), Value(r"\D"), Value(""), Value("g"), function="regexp_replace", output_field=TextField())
