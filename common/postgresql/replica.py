"""A read replica of PostgreSQL for answers that may be some seconds old, if DATABASE_REPLICA_URL is set.

`may_be_old` marks such answers, and `Router` chooses the server of each query. A replica that fails is not asked again
for ten seconds by this process; the primary answers instead.
"""

import logging
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial, wraps
from typing import Any, TypeVar, cast

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, Error, connections
from django.db.models import Model
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from prometheus_client import Counter
from psycopg.errors import DeadlockDetected, SerializationFailure, UndefinedColumn, UndefinedFunction, UndefinedTable

from common.connections import BackOff, is_unavailable
from common.observability.metrics import REGISTRY

_log = logging.getLogger("rota.replica")
ALIAS = "replica"
_back_off = BackOff(10)
# Who has changed something reads from the primary for so long. A replica is expected to be less behind.
CHANGED_SECONDS = 20
READS = Counter(
    "rota_replica_reads",
    "Requests that may be answered from the replica: from it, or why not",
    ["source"],
    registry=REGISTRY,
)
# At the primary these do not happen, or not again: what the replica replays has ended the query, or has not brought a
# table, column or function of the running version yet.
_OF_REPLAY = (DeadlockDetected, SerializationFailure, UndefinedColumn, UndefinedFunction, UndefinedTable)
_is_reading: ContextVar[bool] = ContextVar("is_reading", default=False)

View = TypeVar("View", bound=Callable[..., HttpResponseBase])


class Router:
    """Sessions, people and their rights are read from the primary always, as is everything within a transaction."""

    def db_for_read(self, model: type[Model], **_hints: Any) -> str:
        may_be_old = _is_reading.get() and model._meta.app_label in settings.REPLICA_APPS
        return ALIAS if may_be_old and not connections[DEFAULT_DB_ALIAS].in_atomic_block else DEFAULT_DB_ALIAS

    def db_for_write(self, _model: type[Model], **_hints: Any) -> str:
        return DEFAULT_DB_ALIAS

    def allow_relation(self, _first: Model, _second: Model, **_hints: Any) -> bool:
        return True  # both servers have the same rows

    def allow_migrate(self, db: str, _app_label: str, **_hints: Any) -> bool:
        return db == DEFAULT_DB_ALIAS


def is_reading() -> bool:
    """Whether the answer that is under way is read from the replica."""
    return _is_reading.get()


def may_be_old(get: View) -> View:
    """Mark the method `get` of a view.

    It runs after the view has checked the person's rights, at the primary, and reads only what the page shows. It must
    change nothing: if the replica fails, it is called again.
    """

    @wraps(get)
    def answer(view: Any, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        return answered(request, partial(get, view, request, *args, **kwargs))

    return cast("View", answer)


def answered(request: HttpRequest, respond: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    """The answer of `respond`, read from the replica under the conditions of `may_be_old`."""
    if ALIAS not in settings.DATABASES or request.method not in {"GET", "HEAD"}:
        return respond()
    if settings.CHANGED_COOKIE_NAME in request.COOKIES:
        source = "primary_changed"
    elif "Rota-Automatic" in request.headers:  # the page was told of a change, and shows it now or at its next change
        source = "primary_told"
    elif _back_off.is_on:
        source = "primary_away"
    else:
        source = ALIAS
        token = _is_reading.set(True)
        try:
            response = respond()
            # Read here, where a failure can still be made good. The web server would keep all of it in memory too
            # (`common.files.csv_files`).
            if isinstance(response, StreamingHttpResponse):
                response.streaming_content = [response.getvalue()]
        except Error as error:
            if not (is_unavailable(error) or isinstance(error.__cause__, _OF_REPLAY)):
                raise
            _log.warning("Lists and reports are read from the primary for %d s: %s", _back_off.seconds, error)
            _back_off.begin()
            connections[ALIAS].close()
            source = "primary_failed"
        finally:
            _is_reading.reset(token)
    READS.labels(source).inc()
    return response if source == ALIAS else respond()
