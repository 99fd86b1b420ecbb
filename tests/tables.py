"""Tables without what earlier tests have left, and rows of an age."""

from datetime import datetime

from django.db import connection
from django.db.models import Model


def renew(*models: type[Model]) -> None:
    """Give the tables, and those that refer to them, new empty files until the end of the transaction.

    Rows that earlier tests have rolled back still occupy the old files, which changes the planner's choices and leaves
    no room for heap-only updates.
    """
    names = ", ".join(model._meta.db_table for model in models)
    with connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {names} CASCADE")


def age(row: Model, at: datetime) -> None:
    """Have a row as if it had been changed at this moment for the last time, which only triggers write."""
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute(f"UPDATE {row._meta.db_table} SET updated_at = %s WHERE id = %s", [at, row.pk])  # noqa: S608
        cursor.execute("SET LOCAL session_replication_role = origin")
