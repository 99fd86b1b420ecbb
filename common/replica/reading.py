"""Answers that may be some seconds old, read from the replica unless there is a reason against it."""

import logging
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial, wraps
from typing import Any, TypeVar, cast

from django.conf import settings
from django.db import Error, connections
from django.http import HttpRequest, HttpResponseBase, StreamingHttpResponse
from prometheus_client import Counter
from psycopg.errors import DeadlockDetected, SerializationFailure, UndefinedColumn, UndefinedFunction, UndefinedTable

from common.metrics import REGISTRY
from common.outages import is_unavailable
from common.replica import ALIAS
from common.replica.watch import watch

_log = logging.getLogger("rota.replica")
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


def is_reading() -> bool:
    """Whether queries may be sent to the replica now."""
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
    """The answer of `respond`, for which `may_be_old` holds."""
    if ALIAS not in settings.DATABASES or request.method not in {"GET", "HEAD"}:
        return respond()
    source = _source(request)
    if source != ALIAS:
        READS.labels(source).inc()
        return respond()
    try:
        response = _from_replica(respond)
    except Error as error:
        if not (is_unavailable(error) or isinstance(error.__cause__, _OF_REPLAY)):
            raise
        _log.warning("A request is answered from the primary, because the replica failed: %s", error)
        watch.failed()
        connections[ALIAS].close()
        READS.labels("primary_failed").inc()
        return respond()
    READS.labels(source).inc()
    return response


def _source(request: HttpRequest) -> str:
    """The replica, or the primary and why."""
    if settings.CHANGED_COOKIE_NAME in request.COOKIES:
        return "primary_changed"
    # The page was told of a change, and shows it now or at its next change.
    if "Rota-Automatic" in request.headers:
        return "primary_told"
    return "primary_away" if watch.fault() else ALIAS


def _from_replica(respond: Callable[[], HttpResponseBase]) -> HttpResponseBase:
    token = _is_reading.set(True)
    try:
        response = respond()
        # Read here, where a failure can still be made good. The web server would keep all of it in memory too
        # (`common.csv_export`).
        if isinstance(response, StreamingHttpResponse):
            response.streaming_content = [response.getvalue()]
        return response
    finally:
        _is_reading.reset(token)
