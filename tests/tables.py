"""Tables without what earlier tests have left."""

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
