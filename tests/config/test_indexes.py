"""No index of our tables repeats the beginning of another one."""

from collections import defaultdict
from pathlib import Path
from typing import NamedTuple

import pytest
from django.apps import apps
from django.conf import settings
from django.db import connection

pytestmark = pytest.mark.django_db

OURS = [
    model._meta.db_table
    for app in apps.get_app_configs()
    if Path(app.path).parent == settings.BASE_DIR
    for model in app.get_models()  # without the tables of many-to-many fields, which Django makes
]
INDEXES = """
SELECT indrelid::regclass::text, indexrelid::regclass::text, indkey::text, indisunique, indpred IS NOT NULL
FROM pg_index
WHERE indrelid::regclass::text = ANY(%s)
"""


class Index(NamedTuple):
    name: str
    columns: list[str]  # their numbers; 0 is an expression
    is_unique: bool
    is_partial: bool

    def is_repeated_by(self, other: "Index") -> bool:
        """Whether the other index answers every question to this one. A unique or partial one has its own purpose."""
        if self.is_unique or self.is_partial or other.is_partial or self is other or "0" in self.columns:
            return False
        return self.columns == other.columns[: len(self.columns)]


def test_no_index_repeats_the_beginning_of_another():
    indexes = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(INDEXES, [OURS])
        for table, name, columns, *kind in cursor.fetchall():
            indexes[table].append(Index(name, columns.split(), *kind))

    repeated = [index.name for here in indexes.values() for index in here if any(map(index.is_repeated_by, here))]

    assert len(indexes) == len(OURS)
    assert repeated == []
