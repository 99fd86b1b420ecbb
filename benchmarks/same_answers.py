"""Whether two servers answer the same calls alike, and write as many rows for them."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import psycopg
from psycopg.sql import SQL, Identifier

from benchmarks import api_calls
from benchmarks.api_calls import Call

# Ids and moments.
_OWN = {"deliveryId", "routeId", "order_id", "company_id", "created_at", "updated_at", "updatedAt", "ageSeconds"}
# Rota measures distances on an ellipsoid, the peers on a sphere.
_BY_DISTANCE, _DIFFERENCE = {"shippingValue", "fixedValue", "totalDistanceKm"}, 0.005


class Server:
    """Its calls by name, and the database that they write to."""

    def __init__(self, base: str, calls: Mapping[str, Call], database: str) -> None:
        self._base, self._calls, self._database = base, calls, database

    def answer(self, name: str, text: str) -> tuple[Any, int]:
        """Status and JSON of the answer to the call with this text of its own, and how many rows that adds."""
        with psycopg.connect(self._database, autocommit=True) as connection:
            before = _rows(connection)
            answer = self._calls[name].send(self._base, text)
            return answer, _rows(connection) - before


def check(names: Sequence[str], *servers: Server) -> None:
    """Make each of these calls once at each server.

    Raises RuntimeError if the answers differ in their status, keys or values, apart from ids and moments, or if one
    call adds more rows than the other.
    """
    for name in names:
        text = api_calls.fresh()
        (found, rows), *others = (server.answer(name, text) for server in servers)
        for other, other_rows in others:
            if not _alike(found, other) or rows != other_rows:
                raise RuntimeError(f"{name} differs: {found}, {rows} rows, and {other}, {other_rows} rows")


def _rows(connection: psycopg.Connection[Any]) -> int:
    """Those of all tables."""
    tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    counts = (SQL("(SELECT count(*) FROM {})").format(Identifier(name)) for (name,) in tables)
    (count,) = connection.execute(SQL("SELECT {}").format(SQL(" + ").join(counts))).fetchone() or (0,)
    return int(count)


def _alike(value: Any, other: Any, name: str = "") -> bool:
    """`name`: the key of both."""
    if name in _OWN:
        return type(value) is type(other)
    if name in _BY_DISTANCE:
        return math.isclose(value, other, rel_tol=_DIFFERENCE)
    if isinstance(value, dict) and isinstance(other, dict):
        return value.keys() == other.keys() and all(_alike(value[key], other[key], key) for key in value)
    if isinstance(value, list | tuple) and isinstance(other, list | tuple):
        return len(value) == len(other) and all(map(_alike, value, other))
    return bool(value == other)
