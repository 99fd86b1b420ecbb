"""Alerts about webhooks (an endpoint fails, is switched off, works again) and deliveries. The daily digest too.

`tell_trouble` names each delivery once that waits for a driver, is late or has failed, at most every 15 minutes for
an account. It names each stop at once that failed and is tried again: until then the account may say what follows.
"""

import logging
from datetime import datetime, timedelta
from functools import lru_cache, partial
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

from django.db import transaction
from django.db.models import (
    Case,
    CharField,
    Count,
    DateTimeField,
    DurationField,
    Exists,
    ExpressionWrapper,
    F,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
    prefetch_related_objects,
)
from django.db.models.functions import Chr, Coalesce
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import lazy
from django_stubs_ext import StrPromise

from common import clock, credentials
from common.brazil.formats import short_id
from common.mail import outbox
from common.mail.models import Kind
from common.postgresql.batches import each
from common.postgresql.compiled_queries import CompiledQuery, Parameter
from common.webhooks import breaker, endpoints, health
from common.webhooks.address_guard import InvalidWebhookUrl
from common.webhooks.errors import EndpointCannotSend
from common.webhooks.models import Health
from delivery import words
from delivery.alerts import chats
from delivery.alerts.models import (
    LATE_MINUTES,
    LEAST_MINUTES,
    UNTAKEN_MINUTES,
    AlertChoice,
    AlertKind,
    AlertPost,
    EndpointAlerts,
    ReportedTrouble,
    Trouble,
)
from delivery.lifecycle import FailureCode, RouteStatus, Status
from delivery.models import (
    AuditAction,
    Delivery,
    DispatchRules,
    EventState,
    IntegratorMembership,
    Rules,
    Stop,
    Transition,
    WebhookEndpoint,
    WebhookEvent,
)
from delivery.models.delivery import CALLED_OFF, DELIVERED, NOT_DELIVERED, OFFERED_AT, DeliveryQuerySet
from delivery.models.stop import LABELS

_log = logging.getLogger(__name__)
# Between two alerts about deliveries of one account and environment.
TROUBLE_PAUSE = timedelta(minutes=15)
LIFETIME = timedelta(days=1)
_LEAST_AGE = timedelta(minutes=LEAST_MINUTES)
_FAILED_LATELY = timedelta(hours=1)
_LONGEST_DELIVERY = timedelta(days=2)
_MOST_TROUBLED = 1000  # that one run tells of
_MOST_NAMED = 20  # in one alert
TESTS_PER_HOUR = 20
# In the service's time zone. A digest that no worker could record in these hours is left out.
_DIGEST_HOURS = range(8, 12)


def tell_changes(*, at: datetime) -> int:
    """Record an alert for each endpoint whose state is another than the one told last. Returns how many."""
    return health.tell_changes(EndpointAlerts, _tell_of_health, at=at)


def _tell_of_health(alerts: EndpointAlerts, state: Health, facts: dict[str, Any], at: datetime) -> None:
    tell(alerts, AlertKind(state), {**context_of(alerts.endpoint, page="webhook"), **facts}, at=at)


def tell_trouble(*, at: datetime) -> int:
    """Record one alert for each account and environment with troubled deliveries. Returns how many alerts."""
    accounts: dict[Any, list[Delivery]] = {}
    watched = _untold_watched(DispatchRules.current()).all(at=at)
    failed = _untold(failed_since(at - _FAILED_LATELY, at=at))
    for delivery in chain(_UNTOLD_FIRST_FAILURES.all(), watched, failed):
        accounts.setdefault((delivery.integrator_id, delivery.environment), []).append(delivery)
    return sum(each(accounts.values(), partial(_tell_trouble, at=at), doing="tell of the troubled deliveries"))


def failing_or_off() -> QuerySet[WebhookEndpoint]:
    """Endpoints that events wait for: their breaker is open, or they are switched off."""
    is_down = Q(enabled=False) | Q(failures__gte=breaker.OPENS_AFTER)
    return WebhookEndpoint.objects.present().filter(is_down).exclude(url="")


def _to_watch(*, at: Any) -> DeliveryQuerySet:
    """Deliveries that can be untaken or late."""
    return Delivery.objects.to_watch(at=at).filter(created_at__lt=at - _LEAST_AGE)


@lru_cache(maxsize=1)
def _untold_watched(_rules: Rules) -> CompiledQuery[Any]:
    """What `untaken_or_late` finds untold by these rules, the current ones. To build it takes ten times as long."""
    at = ExpressionWrapper(Parameter("at"), DateTimeField())
    return CompiledQuery(lambda: _untold(untaken_or_late(at=at)))


def untaken_or_late(*, at: Any) -> QuerySet[Any]:
    """Deliveries `to_watch` with their `trouble`, and `troubled_at`: since when an alert may name them.

    When they are late follows from `DeliveryQuerySet.with_due`.
    """
    of_account = EndpointAlerts.objects.filter(
        endpoint__number=1, endpoint__integrator=OuterRef("integrator"), endpoint__environment=OuterRef("environment")
    )
    untaken, late = (
        ExpressionWrapper(
            Coalesce(Subquery(of_account.values(column)[:1]), default) * Value(timedelta(minutes=1), DurationField()),
            DurationField(),
        )
        for column, default in (("untaken_minutes", UNTAKEN_MINUTES), ("late_minutes", LATE_MINUTES))
    )
    is_offered = Q(route_status=RouteStatus.AVAILABLE)
    trouble = Case(
        When(is_offered & Q(offered__lt=at - untaken), then=Value(Trouble.UNTAKEN.value)),
        When(~is_offered & Q(due_at__lt=at - late), then=Value(Trouble.LATE.value)),
        output_field=CharField(),
    )
    troubled_at = Case(
        When(is_offered, then=F("offered") + untaken), default=F("due_at") + late, output_field=DateTimeField()
    )
    deliveries = _to_watch(at=at).with_due().alias(offered=OFFERED_AT)
    found = deliveries.annotate(trouble=trouble, troubled_at=troubled_at, troubled_point=Value(""))
    return found.filter(trouble__isnull=False)


def failed_since(since: datetime, *, at: datetime) -> QuerySet[Any]:
    """Deliveries that have failed since, also in part, at most two days ago; as `untaken_or_late`. None is cancelled.

    Among them are those whose driver is still on the way back to A. Scheduled ones were requested long before.
    """
    # Indexes have the ends of those that are not anonymised, and the routes in progress.
    has_ended = Q(closed_at__gte=max(since, at - _LONGEST_DELIVERY), forgotten_at=None)
    deliveries = Delivery.objects.filter(
        has_ended | Q(route_status=RouteStatus.RETURNING),
        Q(status=Status.FAILED) | Q(has_failed_stop=True, status__in=(Status.COLLECTED, Status.DELIVERED)),
        cancelled_at=None,
    )
    is_outcome = Q(status=Status.FAILED) | Q(route_status=RouteStatus.RETURNING)
    history = Transition.objects.filter(is_outcome, delivery=OuterRef("pk")).order_by("id")
    failed_at = Coalesce("closed_at", Subquery(history.values("at")[:1]))
    found = deliveries.annotate(trouble=Value(Trouble.FAILED.value), troubled_at=failed_at, troubled_point=Value(""))
    return found.filter(troubled_at__gte=since)


def first_failures() -> QuerySet[Any]:
    """Deliveries with a stop that failed and is to be tried again, once for each such stop; as `untaken_or_late`.

    `troubled_point` is the label of the stop.
    """
    deliveries = Delivery.objects.filter(
        route_status=RouteStatus.COLLECTED, stops__tried_at__isnull=False, stops__status=Status.COLLECTED
    )
    return deliveries.annotate(
        trouble=Value(Trouble.ATTEMPT.value),
        troubled_at=F("stops__tried_at"),
        troubled_point=Chr(F("stops__index") + ord(LABELS[0]), output_field=CharField()),
    )


def _untold(deliveries: QuerySet[Any]) -> QuerySet[Any]:
    """Those of which no alert has told the trouble, the oldest first, at most so many as one run tells of."""
    told = ReportedTrouble.objects.filter(
        delivery=OuterRef("pk"), trouble=OuterRef("trouble"), point=OuterRef("troubled_point")
    )
    return deliveries.filter(~Exists(told)).order_by("created_at")[:_MOST_TROUBLED]


_UNTOLD_FIRST_FAILURES: CompiledQuery[Any] = CompiledQuery(lambda: _untold(first_failures()))


@transaction.atomic
def _tell_trouble(deliveries: list[Any], *, at: datetime) -> bool:
    """Tell of these deliveries of one account and environment; a moment after such an alert only first failures."""
    account = {"integrator": deliveries[0].integrator_id, "environment": deliveries[0].environment}
    alerts = health.claim(EndpointAlerts, WebhookEndpoint.objects.first_ones().get(**account).pk)
    if alerts is None:
        return False
    first_ones = [each for each in deliveries if each.trouble == Trouble.ATTEMPT]
    if alerts.trouble_at is not None and alerts.trouble_at > at - TROUBLE_PAUSE:
        deliveries = first_ones
    elif len(deliveries) > len(first_ones):
        alerts.trouble_at = at
        alerts.save(update_fields=["trouble_at"])
    if not deliveries:
        return False
    ReportedTrouble.objects.bulk_create(
        ReportedTrouble(delivery=each, trouble=each.trouble, point=each.troubled_point, at=at) for each in deliveries
    )
    shown = deliveries[:_MOST_NAMED]
    prefetch_related_objects(shown, "stops")
    context = {
        **context_of(alerts.endpoint, page="deliveries"),
        "deliveries": [_told(delivery) for delivery in shown],
        # Of a delivery there is a row for each stop of a first failure.
        "count": len({each.pk for each in deliveries}),
        "others": len({each.pk for each in deliveries} - {each.pk for each in shown}),
    }
    tell(alerts, AlertKind.TROUBLE, context, at=at)
    _log.info("account %s: alert about %s deliveries", alerts.endpoint.integrator_id, len(deliveries))
    return True


def _told(delivery: Any) -> dict[str, Any]:
    """What an alert says of a delivery, and the page to look at: of a first failure that of the stop, to answer it."""
    stops = [stop for stop in delivery.ordered_stops if delivery.troubled_point in ("", stop.label)]
    page = ("stop", delivery.troubled_point) if delivery.troubled_point else ("delivery",)
    arguments = [delivery.integrator_id, delivery.environment, delivery.pk, *page[1:]]
    return {
        "names": _names(delivery, stops),
        "trouble": _trouble(delivery),
        "reasons": _reasons(delivery, stops),
        "delivery": delivery,
        "link": outbox.link(reverse(f"panel:{page[0]}", args=arguments)),
        "can_answer": bool(delivery.troubled_point),
    }


def _name_of_status(delivery: Delivery) -> str:
    return delivery.status_name


_status_name = lazy(_name_of_status, str)


def _trouble(delivery: Any) -> StrPromise | str:
    """What is wrong with it, which is translated where it is shown."""
    if delivery.trouble == Trouble.FAILED and delivery.route_status != RouteStatus.EXPIRED:  # which is its reason
        return _status_name(delivery)
    return Trouble(delivery.trouble).label


def _names(delivery: Delivery, stops: list[Stop]) -> str:
    """How people know a delivery. Others have written the externalIds."""
    names = ", ".join(stop.external_id for stop in stops if stop.external_id)
    return outbox.plain(names) or short_id(delivery.pk)


def _reasons(delivery: Any, stops: list[Stop]) -> list[tuple[str, StrPromise]]:
    """Why it failed, as points and names of codes, which are translated where they are shown.

    What drivers have written can be about a person. It is on the linked page only, where it is forgotten in time.
    """
    if delivery.trouble not in (Trouble.FAILED, Trouble.ATTEMPT):
        return []
    if delivery.route_status == RouteStatus.EXPIRED:
        return [("", words.ROUTE_STATUSES[RouteStatus.EXPIRED])]
    failed = [stop for stop in stops if stop.failure_code or stop.failure_reason]
    return [(stop.label, words.FAILURES[stop.failure_code or FailureCode.OTHER]) for stop in failed]


@transaction.atomic
def set_times(*, endpoint: WebhookEndpoint, untaken_minutes: int, late_minutes: int, by: str, at: datetime) -> None:
    """After how many minutes a delivery of the account's environment is told of. Raises AccountSuspended.

    `endpoint` is the first one. Both are LEAST_MINUTES to MOST_MINUTES. Records nothing if they are those.
    """
    endpoint.integrator.check_active()
    alerts = _lock(endpoint)
    if (alerts.untaken_minutes, alerts.late_minutes) == (untaken_minutes, late_minutes):
        return
    alerts.untaken_minutes, alerts.late_minutes = untaken_minutes, late_minutes
    alerts.save(update_fields=["untaken_minutes", "late_minutes"])
    subject = f"{untaken_minutes} min, {late_minutes} min"
    endpoints.record_in_audit_trail(endpoint, AuditAction.ALERT_TIMES_SET, subject, by=by, at=at)


def choice_of(membership: IntegratorMembership, environment: str) -> AlertChoice:
    """What a member wants to be told; the default before they have chosen. Not saved then."""
    found = membership.alert_choices.filter(environment=environment).first()
    return found or AlertChoice.default(membership, environment)


def choose(*, membership: IntegratorMembership, environment: str, wanted: dict[str, bool], language: str) -> None:
    """Save what a member wants to be told, and in which language. `wanted` has the kinds of `CHOSEN`."""
    AlertChoice.objects.update_or_create(
        membership=membership, environment=environment, defaults={**wanted, "language": language}
    )


def set_url(*, endpoint: WebhookEndpoint, url: str, language: str, by: str, at: datetime) -> None:
    """Post alerts to this address of a chat or URL from now on, to a URL as JSON; to none if it is empty.

    Raises InvalidWebhookUrl, AccountSuspended, and RuntimeError inside a transaction, because names are looked up.
    """
    if chat := chats.chat_of(url):
        shown = chat.service
    elif url.startswith(chats.SCHEMES):
        raise InvalidWebhookUrl("An address of a chat has its parts as the examples show, and nothing else.")
    else:
        endpoints.check_url(url, of=endpoint)
        shown = urlsplit(url).netloc[:255]  # the rest can be a secret
    with transaction.atomic(durable=True):
        endpoint.integrator.check_active()
        alerts = _lock(endpoint)
        alerts.url_ciphertext = credentials.encrypt(url) if url else ""
        alerts.url_host, alerts.language = shown, language
        alerts.save()
        endpoints.record_in_audit_trail(endpoint, AuditAction.ALERTS_SET, shown, by=by, at=at)


@transaction.atomic
def send_test(*, endpoint: WebhookEndpoint, email: str, language: str, by: str, at: datetime) -> None:
    """Send a test alert to a person's address, if there is a mail server, and to the URL, if there is one.

    Raises EndpointCannotSend if there is neither, or after 20 tests within an hour.
    """
    alerts = _lock(endpoint)
    since = at - timedelta(hours=1)
    tests = endpoint.integrator.audit.filter(
        environment=endpoint.environment, action=AuditAction.ALERT_TESTED, at__gt=since
    )
    if tests.count() >= TESTS_PER_HOUR:
        raise EndpointCannotSend(
            "%(most)s test alerts were sent within an hour, the most there may be; try again later.",
            most=TESTS_PER_HOUR,
        )
    is_mailed = outbox.is_configured() and outbox.is_address(email)
    if not is_mailed and not alerts.url_ciphertext:
        raise EndpointCannotSend("There is nowhere to send it: no URL is set, and no e-mail can be sent to you.")
    context = context_of(endpoint, page="alerts")
    if is_mailed:
        _mail(email, AlertKind.TEST, context, language=language, at=at)
    post(alerts, AlertKind.TEST, context, at=at)
    endpoints.record_in_audit_trail(endpoint, AuditAction.ALERT_TESTED, by=by, at=at)


def tell(alerts: EndpointAlerts, kind: AlertKind, context: dict[str, Any], *, at: datetime) -> None:
    """Record a message to every member who wants this kind, and a post to the URL of the environment's alerts."""
    endpoint = alerts.endpoint
    members = endpoint.integrator.memberships.filter(user__is_active=True).exclude(user__email="")
    chosen = AlertChoice.objects.filter(membership__in=members, environment=endpoint.environment)
    choices = {choice.membership_id: choice for choice in chosen}
    if outbox.is_configured():
        for member in members.select_related("user"):
            choice = choices.get(member.pk) or AlertChoice.default(member, endpoint.environment)
            if not getattr(choice, kind):
                continue
            if outbox.is_address(member.user.email):
                _mail(member.user.email, kind, context, language=choice.language, at=at)
            else:
                _log.warning("user %s is not told of %s: the address cannot be mailed to", member.user_id, kind)
    with_url = alerts if endpoint.number == 1 else _of_first(endpoint)
    if with_url is not None:
        post(with_url, kind, context, at=at)


def _of_first(endpoint: WebhookEndpoint) -> EndpointAlerts | None:
    """The row of the first endpoint, which has the URL for all endpoints of the environment."""
    first = endpoint.integrator.endpoints.first_ones().filter(environment=endpoint.environment)
    return EndpointAlerts.objects.filter(endpoint__in=first).first()


def _mail(address: str, kind: AlertKind, context: dict[str, Any], *, language: str, at: datetime) -> None:
    outbox.record(
        kind=Kind.DIGEST if kind == AlertKind.DIGEST else Kind.ALERT,
        recipient=address,
        template=f"alert_{kind}",
        context=context,
        language=language,
        at=at,
        lifetime=LIFETIME,
    )


def post(alerts: EndpointAlerts, kind: AlertKind, context: dict[str, Any], *, at: datetime) -> None:
    """Record a post, if a URL is set."""
    if alerts.url_ciphertext:
        subject, body = outbox.rendered(f"alert_{kind}", context, language=alerts.language)
        AlertPost.objects.create(alerts=alerts, kind=kind, text=f"{subject}\n\n{body}", created_at=at, due_at=at)


def context_of(endpoint: WebhookEndpoint, *, page: str) -> dict[str, Any]:
    """What every template of an alert needs.

    Its link leads to `page` of the panel: one of the endpoint's, or one of the account's for the first endpoint.
    """
    path = reverse(f"panel:{page}", args=endpoint.url_arguments)
    preferences = reverse("panel:alerts", args=[endpoint.integrator_id, endpoint.environment])
    return {
        "endpoint": endpoint,
        "account": endpoint.integrator.name,
        "link": outbox.link(path),
        "preferences": outbox.link(preferences),
    }


def _lock(endpoint: WebhookEndpoint) -> EndpointAlerts:
    EndpointAlerts.objects.get_or_create(endpoint=endpoint)
    return EndpointAlerts.objects.select_for_update().get(endpoint=endpoint)


def record_digests(*, at: datetime) -> int:
    """Record the digests of today that were not recorded yet. Returns how many there were."""
    local = timezone.localtime(at)
    if local.hour not in _DIGEST_HOURS:
        return 0
    today = local.date()
    has_readers = Q(integrator__memberships__isnull=False) | ~Q(alerts__url_ciphertext="") & Q(alerts__isnull=False)
    due = (
        WebhookEndpoint.objects.first_ones()
        .filter(has_readers, Q(alerts__digest_on=None) | ~Q(alerts__digest_on=today))
        .distinct()
    )
    ids = list(due.order_by("pk").values_list("pk", flat=True))
    what = "record the digest of the webhook endpoint"
    return sum(each(ids, partial(_record_digest, at=at), doing=what, most=health.MOST_AT_ONCE))


@transaction.atomic
def _record_digest(pk: int, *, at: datetime) -> bool:
    """Record the digest of one endpoint's account and environment, unless another worker has or nothing happened."""
    local = timezone.localtime(at)
    alerts = health.claim(EndpointAlerts, pk)
    if alerts is None or alerts.digest_on == local.date():
        return False
    endpoint = alerts.endpoint
    alerts.digest_on = local.date()
    alerts.save(update_fields=["digest_on"])
    figures = _figures(endpoint, until=clock.midnight(at))
    if not any(figures.values()):
        return False
    day = local.date() - timedelta(days=1)
    context = {**context_of(endpoint, page="overview"), **figures, "day": day}
    tell(alerts, AlertKind.DIGEST, context, at=at)
    return True


def _figures(endpoint: WebhookEndpoint, *, until: datetime) -> dict[str, Any]:
    """Counts of the day before `until`, and whether an endpoint of the environment fails or is off now."""
    own = WebhookEndpoint.objects.of(endpoint.integrator_id, endpoint.environment)
    day = {"created_at__gte": until - timedelta(days=1), "created_at__lt": until}
    deliveries = Delivery.objects.within(endpoint.integrator, endpoint.environment).filter(**day).order_by()
    outcomes = deliveries.aggregate(
        requested=Count("pk"),
        delivered=Count("pk", filter=DELIVERED),
        failed=Count("pk", filter=NOT_DELIVERED | CALLED_OFF),
    )
    events = WebhookEvent.objects.filter(endpoint__in=own, delivery__isnull=False, **day).order_by()
    states = events.aggregate(
        sent=Count("pk", filter=Q(state=EventState.SENT)),
        failing=Count("pk", filter=Q(state=EventState.PENDING, attempts_made__gt=0)),
        dead=Count("pk", filter=Q(state=EventState.DEAD)),
    )
    return {
        **outcomes,
        **states,
        "is_off": any(each.url and not each.enabled for each in own),
        "is_failing": any(each.url and each.enabled and each.breaker_state.is_open for each in own),
    }
