"""Every column of a row is in its history: the triggers of the database are those of the models."""

import pytest
from django.apps import apps
from django.db import connection

from common.postgresql.row_history import RowChange
from tests.cases import in_turn

HISTORIES = [model for model in apps.get_models() if issubclass(model, RowChange)]
TRIGGERS = """
SELECT tgname, prosrc FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
WHERE tgrelid = %s::regclass AND NOT tgisinternal AND prosrc LIKE %s
"""


def test_there_are_histories():
    assert len(HISTORIES) >= 4


@pytest.mark.django_db
@in_turn("history", HISTORIES)
def test_has_every_column_of_its_row_at_each_change(history):
    tracked = history.pgh_tracked_model._meta
    columns = {field.column for field in tracked.concrete_fields}
    with connection.cursor() as cursor:
        cursor.execute(TRIGGERS, [tracked.db_table, f'%INSERT INTO "{history._meta.db_table}"%'])
        triggers = dict(cursor.fetchall())

    assert {field.column for field in history._meta.concrete_fields} >= columns
    assert len(triggers) == 3  # a row is added, changed, deleted
    for source in triggers.values():
        row = "OLD" if "OLD." in source else "NEW"
        assert [column for column in columns if f'{row}."{column}"' not in source] == []
