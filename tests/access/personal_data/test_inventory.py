"""Every column of every table is in docs/personal-data.md, or in other_columns.txt as one without personal data."""

import re
from collections import Counter
from pathlib import Path

from django.apps import apps
from django.conf import settings

# A row of a table, or a model in a text with its columns in parentheses.
_COLUMNS = re.compile(r"`([A-Za-z]+\.\w+)`\s(?:\| |\()((?:`\w+`,?\s?)+)(?:\||\))")


_ANONYMISED = re.compile(r"OLD\.(\w+) IS DISTINCT FROM")


def _personal():
    rows = _COLUMNS.findall((settings.BASE_DIR / "docs" / "personal-data.md").read_text())
    return [(model, column) for model, columns in rows for column in re.findall(r"`(\w+)`", columns)]


def _others():
    rows = [line.split(" ", 1) for line in Path(__file__).with_name("other_columns.txt").read_text().splitlines()]
    return [(model, column) for model, columns in rows for column in columns.split()]


def _let_be_forgotten():
    """The columns that a trigger of `common.forgetting` lets be anonymised, without the moment of that."""
    for model in apps.get_models():
        for trigger in getattr(model._meta, "triggers", []):
            if trigger.name.endswith("_forgotten"):
                columns = _ANONYMISED.findall(trigger.condition.sql)
                assert columns, trigger.name
                yield from ((model._meta.label, column) for column in columns if column != "forgotten_at")


def test_the_inventory_has_every_column_once():
    models = [model for model in apps.get_models(include_auto_created=True) if model._meta.managed]
    stored = {
        (model._meta.label, field.column)
        for model in models
        if not model._meta.proxy
        for field in model._meta.concrete_fields
    }
    listed = Counter(_personal() + _others())

    assert sorted(stored - listed.keys()) == []
    assert sorted(listed.keys() - stored) == []
    assert [column for column, times in listed.items() if times > 1] == []


def test_what_the_triggers_let_be_forgotten_is_listed_as_personal():
    forgotten = set(_let_be_forgotten())

    assert ("delivery.WebhookEvent", "body") in forgotten
    assert sorted(forgotten - set(_personal())) == []
