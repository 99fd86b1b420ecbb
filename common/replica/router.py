"""The server of each query: the primary, unless an answer that may be old is being read."""

from typing import Any

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.models import Model

from common.replica import ALIAS
from common.replica.reading import is_reading


class Router:
    """Sessions, people and their rights are read from the primary always, as is everything within a transaction."""

    def db_for_read(self, model: type[Model], **_hints: Any) -> str:
        may_be_old = is_reading() and model._meta.app_label in settings.REPLICA_APPS
        return ALIAS if may_be_old and not connections[DEFAULT_DB_ALIAS].in_atomic_block else DEFAULT_DB_ALIAS

    def db_for_write(self, _model: type[Model], **_hints: Any) -> str:
        return DEFAULT_DB_ALIAS

    def allow_relation(self, _first: Model, _second: Model, **_hints: Any) -> bool:
        return True  # both servers have the same rows

    def allow_migrate(self, db: str, _app_label: str, **_hints: Any) -> bool:
        return db == DEFAULT_DB_ALIAS
