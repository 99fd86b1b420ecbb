"""Tells people that an endpoint fails, is switched off, or works again.

The state of each endpoint is compared with the one that was told last. So an endpoint that changes to and fro
within the pause is told once, a worker that is killed tells neither twice nor never, and sending webhooks costs
nothing more.
"""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache, partial
from typing import Any, TypeVar, cast

from django.db import transaction
from django.db.models import F, Q, QuerySet

from common.postgresql.batches import each
from common.postgresql.compiled_queries import CompiledQuery, Parameter
from common.webhooks import breaker
from common.webhooks.models import Endpoint, Health, ToldHealth
from common.webhooks.outbox import outbox_of

R = TypeVar("R", bound=ToldHealth)
_log = logging.getLogger(__name__)
# Between two alerts about one endpoint.
PAUSE = timedelta(minutes=5)
MOST_AT_ONCE = 50


def tell_changes(model: type[R], tell: Callable[[R, Health, dict[str, Any], datetime], None], *, at: datetime) -> int:
    """Call `tell` for each endpoint whose state is another than the one told last. Returns for how many.

    With what was told about the endpoint, the state, the facts `attempt` (the last failure or None) and `waiting`
    (the number of queue items), and the moment. Each is a transaction of its own.
    """
    ids = [endpoint.pk for endpoint in _ids_changed(model).all(before=at - PAUSE)]
    what = "tell the state of the webhook endpoint"
    return sum(each(ids, partial(_tell, model, tell, at=at), doing=what, most=MOST_AT_ONCE))


def claim(model: type[R], pk: int) -> R | None:
    """What was told about this endpoint, locked, with its owner. None while another worker has it locked."""
    endpoints = _endpoints(model)
    endpoint = endpoints._default_manager.select_related(endpoints.OWNER).get(pk=pk)
    rows: Any = model._default_manager
    rows.get_or_create(endpoint=endpoint)
    found: Any = rows.select_for_update(skip_locked=True).filter(endpoint=endpoint).first()
    if found is not None:
        found.endpoint = endpoint
    return cast("R | None", found)


def _endpoints(model: type[ToldHealth]) -> type[Endpoint]:
    options: Any = model._meta
    related: type[Endpoint] = options.get_field("endpoint").related_model
    return related


@cache
def _ids_changed(model: type[ToldHealth]) -> CompiledQuery[Any]:
    return CompiledQuery(lambda: _changed(model, before=Parameter("before")).only("pk"))


def _changed(model: type[ToldHealth], *, before: Any) -> QuerySet[Any]:
    """The endpoints that `_tell` finds something to do for, of which nothing was told since `before`, as one query."""
    reported, is_failing = "alerts__reported", Q(failures__gte=breaker.OPENS_AFTER)
    on = Q(enabled=True) & ~Q(url="")
    told = Q(alerts__reported__in=[Health.FAILING, Health.OFF])
    changed = (
        (Q(enabled=False) & ~Q(url="") & ~_is(reported, Health.OFF))
        | (on & is_failing & ~_is(reported, Health.FAILING))
        | (on & told & Q(failures=0, last_success_at__gt=F("alerts__reported_at")))
        | (Q(url="") & told)
    )
    return (
        _endpoints(model)
        ._default_manager.filter(changed, Q(alerts__reported_at=None) | Q(alerts__reported_at__lte=before))
        .order_by("pk")
    )


def _is(field: str, value: str) -> Q:
    """Whether the column is this value. NULL, for an endpoint without a row, is not; `~Q(...)` alone excludes it."""
    return Q(**{f"{field}__isnull": False, field: value})


@transaction.atomic
def _tell(
    model: type[R], tell: Callable[[R, Health, dict[str, Any], datetime], None], pk: int, *, at: datetime
) -> bool:
    """Tell the state of one endpoint, unless another worker does it at the moment or it has been told."""
    found = claim(model, pk)
    if found is None or (found.reported_at is not None and found.reported_at > at - PAUSE):
        return False
    endpoint = found.endpoint
    state = _state(endpoint, found)
    if state == found.reported:
        return False
    found.reported, found.reported_at = state, at
    found.save(update_fields=["reported", "reported_at"])
    if not endpoint.url:  # nobody waits for it any more
        return False
    outbox = outbox_of(type(endpoint))
    attempts: Any = outbox.attempts._default_manager
    waiting = outbox.items._default_manager.filter(endpoint=endpoint).count()
    tell(found, state, {"attempt": attempts.last_failure(endpoint), "waiting": waiting}, at)
    _log.info("webhook endpoint %s: alert %s", pk, state)
    return True


def _state(endpoint: Endpoint, found: ToldHealth) -> Health:
    """The state to be told. An endpoint has recovered by a success, not by being switched on again."""
    reported = Health(found.reported)
    if not endpoint.url:
        return Health.RECOVERED
    if not endpoint.enabled:
        return Health.OFF
    if endpoint.breaker_state.is_open:
        return Health.FAILING
    if reported == Health.RECOVERED or endpoint.failures or endpoint.last_success_at is None:
        return reported
    has_succeeded = found.reported_at is None or endpoint.last_success_at > found.reported_at
    return Health.RECOVERED if has_succeeded else reported
