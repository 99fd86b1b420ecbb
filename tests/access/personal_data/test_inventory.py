"""Each field says whether its column has personal data; docs/personal-data.md has all that do."""

import re
from collections import Counter

from django.apps import apps
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

# Of these kinds, and with choices, a column has no personal data unless its field says so.
_PLAIN = (
    models.BooleanField, models.IntegerField, models.DecimalField, models.DateTimeField, models.UUIDField,
    models.ForeignKey,
)  # fmt: skip  # a list
# Columns of other packages, which have no mark.
_THEIRS = {
    "admin.LogEntry": ("object_repr", "change_message"),
    "auth.User": ("username", "first_name", "last_name", "email", "password", "last_login"),
    "account.EmailAddress": ("email",),
    "account.EmailConfirmation": ("key",),
    "mfa.Authenticator": ("data",),
    "usersessions.UserSession": ("ip", "user_agent", "session_key", "data"),
    "sessions.Session": ("session_key", "session_data"),
}
_THEIRS_WITHOUT = {
    "admin.LogEntry": ("object_id",),
    "auth.Permission": ("name", "codename"),
    "auth.Group": ("name",),
    "contenttypes.ContentType": ("app_label", "model"),
    "pghistory.Context": ("metadata",),
}
# Personal columns of rows that are anonymised, which `common.postgresql.forgetting` is not needed for: other triggers
# let them be emptied, or who did something is kept as proof.
_NOT_BY_FORGETTING = {
    "delivery.Stop.failure_reason", "delivery.Delivery.cancel_reason", "integration.Invoice.issuer_document",
    "integration.Invoice.received_by", "integration.Order.created_by", "integration.StatusLog.by",
}  # fmt: skip  # a list
# A row of a table, or a model in a text with its columns in parentheses.
_COLUMNS = re.compile(r"`([A-Za-z]+\.\w+)`\s(?:\| |\()((?:`\w+`,?\s?)+)(?:\||\))")
_ANONYMISED = re.compile(r"OLD\.(\w+) IS DISTINCT FROM")


def _is_personal(model, field):
    """What the field says; None if it says nothing and has to. A row of a history has the fields of its model."""
    if field.name == "pgh_context":  # who made the change
        return True
    if hasattr(model, "pgh_tracked_model") and not field.name.startswith("pgh_"):
        field = model.pgh_tracked_model._meta.get_field(field.name)
    if hasattr(field, "personal"):
        return field.personal
    if field.column in _THEIRS.get(model._meta.label, ()):
        return True
    values = field.base_field if isinstance(field, ArrayField) else field
    if values.choices or isinstance(values, _PLAIN) or field.column in _THEIRS_WITHOUT.get(model._meta.label, ()):
        return False
    return None


def _columns():
    for model in apps.get_models(include_auto_created=True):
        if model._meta.managed and not model._meta.proxy:
            for field in model._meta.concrete_fields:
                yield f"{model._meta.label}.{field.column}", _is_personal(model, field)


def _documented():
    rows = _COLUMNS.findall((settings.BASE_DIR / "docs" / "personal-data.md").read_text())
    return [f"{model}.{column}" for model, columns in rows for column in re.findall(r"`(\w+)`", columns)]


def _let_be_forgotten():
    """The columns that a trigger of `common.postgresql.forgetting` lets be anonymised, without the moment of that."""
    for model in apps.get_models():
        for trigger in getattr(model._meta, "triggers", []):
            if trigger.name.endswith("_forgotten"):
                columns = _ANONYMISED.findall(trigger.condition.sql)
                assert columns, trigger.name
                yield from (f"{model._meta.label}.{column}" for column in columns if column != "forgotten_at")


def test_each_field_that_may_have_personal_data_says_whether_it_has():
    silent = [column for column, is_personal in _columns() if is_personal is None]

    assert silent == [], "Wrap these fields in `personal` or `not_personal` (common/fields.py)."


def test_the_document_has_each_personal_column_once():
    personal = Counter(column for column, is_personal in _columns() if is_personal)
    documented = Counter(_documented())

    assert sorted(personal - documented) == [], "Say in docs/personal-data.md of whom these are, and when they end."
    assert sorted(documented - personal) == [], "docs/personal-data.md has these, whose fields are not `personal`."


def test_the_lists_of_other_packages_name_existing_columns():
    listed = [f"{model}.{column}" for each in (_THEIRS, _THEIRS_WITHOUT) for model in each for column in each[model]]

    assert sorted(set(listed) - dict(_columns()).keys()) == []


def test_the_triggers_let_each_personal_column_of_their_rows_be_forgotten_and_no_other():
    forgotten = set(_let_be_forgotten())
    models = {column.rpartition(".")[0] for column in forgotten}
    personal = {column for column, is_personal in _columns() if is_personal and column.rpartition(".")[0] in models}

    assert "delivery.WebhookEvent.body" in forgotten
    assert personal - forgotten == _NOT_BY_FORGETTING, "Add these to what forgetting leaves of their rows."
    assert forgotten - personal == set()
