"""Statistics for tables of which PostgreSQL has none, such as those of a restored backup or of an import.

Without them the planner guesses, and a plan that was made while a table was empty stays in use. Autovacuum collects
them too, but not where it is switched off, and late where many tables wait for it.
"""

from django.db import connection, transaction
from psycopg import sql

from common.postgresql.batches import each

# Tables with rows. Without superuser rights the view shows the columns that the role may read: all of its own tables.
_WITHOUT = """
SELECT relname FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r' AND pg_relation_size(oid) > 0
  AND relname NOT IN (SELECT tablename FROM pg_stats WHERE schemaname = current_schema())
ORDER BY relname
"""


def analyze_new() -> list[str]:
    """Analyse the tables that have rows and no statistics, except those that something else locks. Returns them."""
    with connection.cursor() as cursor:
        cursor.execute(_WITHOUT)
        tables = [name for (name,) in cursor.fetchall()]
    return each(tables, _analyze, doing="analyse the table")


def _analyze(table: str) -> str:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql.SQL("ANALYZE (SKIP_LOCKED) {}").format(sql.Identifier(table)))
    return table
