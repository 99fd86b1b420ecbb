"""docs/personal-data.md names every column of every table, as personal or not."""

import re
from collections import Counter

from django.apps import apps
from django.conf import settings

_ROW = re.compile(r"^\| `([A-Za-z]+\.\w+)` \| ((?:`\w+` ?)+)\|", re.MULTILINE)


def _columns():
    text = (settings.BASE_DIR / "docs" / "personal-data.md").read_text()
    return [(model, column) for model, columns in _ROW.findall(text) for column in re.findall(r"`(\w+)`", columns)]


def test_the_inventory_has_every_column_once():
    models = [model for model in apps.get_models(include_auto_created=True) if model._meta.managed]
    stored = {
        (model._meta.label, field.column)
        for model in models
        if not model._meta.proxy
        for field in model._meta.concrete_fields
    }
    listed = Counter(_columns())

    assert sorted(stored - listed.keys()) == []
    assert sorted(listed.keys() - stored) == []
    assert [column for column, times in listed.items() if times > 1] == []


def test_what_the_triggers_let_be_forgotten_is_listed_as_personal():
    personal = (settings.BASE_DIR / "docs" / "personal-data.md").read_text().partition("## Without personal data")[0]
    for row in (
        "`delivery.Stop` | `contact_name`",
        "`integration.Order` | `receiver_name`",
        "`delivery.WebhookEvent` | `body`",
    ):
        assert row in personal
