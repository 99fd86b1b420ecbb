"""Rows of all tables with their owners, and what a call changes of them."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from datetime import date, timedelta
from decimal import Decimal
from functools import cache, lru_cache
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db import connection, transaction
from django.db.models import Model, QuerySet
from psycopg import sql

# Who owns a row: an account, its environment and the delivery, or a seller and its order, each within the one before.
Owner = tuple[str, ...]
Key = tuple[str, str]
Rows = dict[Key, str]
Columns = dict[str, set[str]]  # that were written, by tables

# Any request may write to them.
UNWATCHED = {"django_session", "cache", "django_content_type", "django_migrations", "auth_permission"}
# Without these there is nobody who calls, and nothing to call for.
_NEEDED = {
    "access_invitation", "auth_user", "account_emailaddress", "delivery_delivery", "delivery_driver",
    "delivery_driverdevice", "delivery_driverloginlink", "delivery_integrator", "delivery_integrator_members",
    "delivery_pickuppoint", "delivery_receiverlink", "delivery_stop", "delivery_transition", "delivery_webhookendpoint",
    "integration_apikey", "integration_company", "integration_seller", "integration_seller_members",
    "integration_webhookendpoint",
}  # fmt: skip  # a list of names
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT")
# The moment of a change in a row or an answer: a trigger takes it from the database's clock, which does not stand.
_UPDATED = re.compile(r'\\*"(?:updated_at|updatedAt|version)\\*": ?\\*"[^"\\]*\\*"')
# Random texts, moments and keys: an id, a digest, a ciphertext, a signature.
_RANDOM = re.compile(r"M[\d .hm-]{30,}|[A-Za-z0-9_\-+/=.:…]{16,}|(?<=…)[\w-]{4}|\bSEL-\w{10}\b")


def models() -> list[Any]:
    """All models with a table, those of many-to-many relations included."""
    found = [
        model for model in apps.get_models(include_auto_created=True) if model._meta.managed and not model._meta.proxy
    ]
    return [model for model in found if model._meta.db_table not in UNWATCHED]


_ROWS = "SELECT {name}, t.{key}::text, to_jsonb(t)::text FROM {table} t"
_NUMBER = "SELECT {name}, NULL, count(*)::text FROM {table}"
# A row has the number of the savepoint in which it was written, and later savepoints have higher numbers.
_WRITTEN = f"{_NUMBER} UNION ALL {_ROWS} WHERE t.xmin::text::bigint > $1"
# A function, because its statement is planned once.
_FUNCTION = """
CREATE FUNCTION pg_temp.rows_written_since(bigint) RETURNS TABLE (name text, key text, content text)
LANGUAGE plpgsql AS $body$ BEGIN RETURN QUERY {}; END $body$
"""


@cache
def _of_all_tables(select: str) -> sql.Composed:
    parts = [
        sql.SQL(select).format(
            name=sql.Literal(model._meta.db_table),
            key=sql.Identifier(model._meta.pk.column),
            table=sql.Identifier(model._meta.db_table),
        )
        for model in models()
    ]
    return sql.SQL(" UNION ALL ").join(parts)


def snapshot() -> Rows:
    """Every row as JSON, by its table and primary key."""
    with connection.cursor() as cursor:
        cursor.execute(_of_all_tables(_ROWS))
        return {(table, key): text for table, key, text in cursor.fetchall()}


@lru_cache(maxsize=64)
def _removal(keys: frozenset[Key]) -> str:
    """Statements that delete these rows past triggers and foreign keys."""
    by_table: dict[str, list[str]] = {}
    for table, key in keys:
        by_table.setdefault(table, []).append(key)
    delete = sql.SQL("DELETE FROM {} WHERE {} IN ({})")
    statements = [
        delete.format(
            sql.Identifier(model._meta.db_table),
            sql.Identifier(model._meta.pk.column),
            sql.SQL(", ").join(map(sql.Literal, found)),  # unknown literals, which take the type of the key
        )
        for model in models()
        if (found := by_table.get(model._meta.db_table))
    ]
    role = "SET LOCAL session_replication_role = {}"
    return "; ".join([role.format("replica"), *(each.as_string(None) for each in statements), role.format("origin")])


class Ledger:
    """Which owner each row has: whoever was being made when it was written."""

    def __init__(self) -> None:
        self.owners: dict[Key, Owner] = {}
        self.rows: Rows = snapshot()
        self._keys: dict[str, set[str]] = {}
        self._reset = ""
        self._known: set[str] = set()
        self._others: dict[tuple[Owner, ...], set[Key]] = {}
        self._removed: frozenset[Key] = frozenset()
        self._savepoint = ""  # before they were removed

    @contextmanager
    def owned_by(self, *owner: str) -> Iterator[None]:
        """Rows written within have this owner, even those that triggers and actions write besides."""
        yield
        after = snapshot()
        self.owners |= dict.fromkeys(after.keys() - self.rows.keys(), owner)
        self.rows = after

    def settle(self) -> None:
        """Take what was written so far for what belongs to nobody."""
        self.rows = snapshot()

    def close(self) -> None:
        """Keep the state that every call starts from."""
        self.rows = snapshot()
        self._known = set(_RANDOM.findall(" ".join(self.rows.values())))
        self._keys = {model._meta.db_table: set() for model in models()}
        for table, key in self.rows:
            self._keys[table].add(key)
        with connection.cursor() as cursor:
            cursor.execute("SELECT schemaname, sequencename, coalesce(last_value, 1) FROM pg_sequences")
            found = [f"""setval('"{schema}"."{name}"', {last + 1000})""" for schema, name, last in cursor.fetchall()]
            self._reset = "SELECT " + ", ".join(found)
            newest = sql.SQL("SELECT max(t.xmin::text::bigint) FROM {table} t")
            every = [newest.format(table=sql.Identifier(table)) for table in self._keys]
            cursor.execute(sql.SQL("SELECT max(max) FROM ({}) each").format(sql.SQL(" UNION ALL ").join(every)))
            (self._newest,) = cursor.fetchone()
            cursor.execute(sql.SQL(_FUNCTION).format(_of_all_tables(_WRITTEN)))

    def reset_sequences(self) -> None:
        """Let new rows have the same keys in every call; a rollback does not reset them."""
        with connection.cursor() as cursor:
            cursor.execute(self._reset)

    def others(self, kept: Iterable[Owner]) -> set[Key]:
        """The rows of everybody but these owners, those who own them, and what they own."""
        kept = tuple(kept)
        if kept not in self._others:
            self._others[kept] = {
                key
                for key, owner in self.owners.items()
                if not any(owner == each[: len(owner)] or each == owner[: len(each)] for each in kept)
            }
        return self._others[kept]

    def remove(self, keys: Iterable[Key]) -> None:
        """Delete these rows, and no others, past triggers and foreign keys.

        They stay deleted until other ones are to be: PostgreSQL plans every statement again after a deletion, which
        takes longer than most calls.
        """
        wanted = frozenset(keys)
        if wanted == self._removed:
            return
        if self._removed:
            transaction.savepoint_rollback(self._savepoint)
            transaction.savepoint_commit(self._savepoint)
        self._removed = wanted
        if wanted:
            self._savepoint = transaction.savepoint()
            with connection.cursor() as cursor:
                cursor.execute(_removal(wanted))

    def changes(self, *, without: set[Key], removed: set[Key]) -> tuple[Counter[str], list[Key], Columns]:
        """What was written since the start, as texts without random values; which rows of `without` it was; and where.

        `removed`: the rows that were removed before the call.
        """
        before = self.rows
        changed = {key: text for key, text in self._since(removed).items() if text != before.get(key)}
        touched = [key for key in changed if key in without]
        texts = (self._text(*key, text) for key, text in changed.items() if key not in without)
        columns: Columns = {}
        for key, text in changed.items():
            if found := self._columns(key, text):
                columns.setdefault(key[0], set()).update(found)
        return Counter(texts), touched, columns

    def written(self) -> Rows:
        """Every row as it is now, while none is removed."""
        found = {**self.rows, **self._since(set())}
        return {key: text for key, text in found.items() if text != "deleted"}

    def _since(self, removed: set[Key]) -> Rows:
        """The rows written since the start, and "deleted" for those that are gone and were not removed."""
        with connection.cursor() as cursor:
            cursor.execute("SELECT * FROM pg_temp.rows_written_since(%s)", [self._newest])
            found = cursor.fetchall()
            written = {(table, key): text for table, key, text in found if key is not None}
            expected = {table: len(keys) for table, keys in self._keys.items()}
            expected = Counter(expected)
            expected.subtract(table for table, _key in removed)
            expected.update(table for table, key in written if key not in self._keys[table] or (table, key) in removed)
            for table, key, count in found:
                if key is None and int(count) != expected[table]:
                    statement = sql.SQL("SELECT t.{}::text FROM {} t")
                    column = next(each._meta.pk.column for each in models() if each._meta.db_table == table)
                    cursor.execute(statement.format(sql.Identifier(column), sql.Identifier(table)))
                    left = {present for (present,) in cursor.fetchall()}
                    gone = {(table, each) for each in self._keys[table] - left} - removed
                    written |= dict.fromkeys(gone, "deleted")
        return written

    def _columns(self, key: Key, text: str) -> set[str]:
        """Where the row differs from before; `+` for a new row and `-` for one that is gone."""
        if key not in self.rows or text == "deleted":
            return {"-" if text == "deleted" else "+"}
        before, after = json.loads(self.rows[key]), json.loads(text)
        return {name for name in after if after[name] != before[name]} - {"updated_at"}

    def _text(self, table: str, key: str, text: str) -> str:
        """A changed row; without its key if it is new, because others may have taken keys before."""
        if (table, key) not in self.rows:
            key, text = "new", text.replace(f'"id": {key},', "")
        return f"{table} {key}: {self.masked(text)}"

    def masked(self, text: str) -> str:
        """The text without what is random or of another clock. What is in the world already stays, whoever owns it."""

        def shown(found: re.Match[str]) -> str:
            return found[0] if found[0] in self._known or _MOMENT.match(found[0]) else "#"

        return _RANDOM.sub(shown, _UPDATED.sub("", text))

    def details(self, others: set[Key], arguments: Iterable[Key]) -> set[Key]:
        """The rows of whoever is left, except those that a call cannot do without and its arguments."""
        kept = others | set(arguments)
        return {key for key in self.owners if key not in kept and key[0] not in _NEEDED}

    def owner_of(self, row: Any) -> Owner | None:
        """The owner of a model's instance; None for one that belongs to nobody, such as a tariff for everybody."""
        return self.owners.get((row._meta.db_table, str(row.pk)))


def plain(value: Any) -> str:
    """A result as text that two runs have in common."""
    return json.dumps(_plain(value), default=lambda each: type(each).__name__, sort_keys=True, ensure_ascii=False)


def _plain(value: Any) -> Any:  # noqa: PLR0911  # a table of types
    if isinstance(value, Model):
        kept = {f.attname: value.__dict__.get(f.attname) for f in value._meta.concrete_fields if f.name != "id"}
        return [value._meta.label, str(value.pk), _plain(kept)]
    if isinstance(value, QuerySet):
        return sorted(plain(each) for each in value)
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, dict):
        return {str(_plain(key)): _plain(each) for key, each in value.items()}
    if isinstance(value, (set, frozenset)):
        return sorted(plain(each) for each in value)
    if isinstance(value, (list, tuple)) or hasattr(value, "__next__"):
        return [_plain(each) for each in value]
    if isinstance(value, (date, timedelta, Decimal, UUID)):
        return str(value)
    if isinstance(value, (bytes, memoryview)):
        return bytes(value).hex()
    return value
