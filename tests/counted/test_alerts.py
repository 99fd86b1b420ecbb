"""What alerts, digests and notices tell of: to an account of its own, and to staff of all live accounts."""

from collections import Counter
from functools import partial
from itertools import count

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from common.mail.models import Message
from common.webhooks import breaker, health
from common.webhooks.models import EventState, Health
from delivery.alerts import actions as alerts
from delivery.alerts import posts
from delivery.alerts.models import (
    AlertChoice,
    AlertKind,
    AlertPost,
    EndpointAlerts,
    PostState,
    ReportedTrouble,
    Trouble,
)
from delivery.lifecycle import Mode, RouteStatus, Status
from delivery.models import (
    Environment,
    OffBecause,
    Transition,
    WebhookEndpoint,
    WebhookQueueItem,
)
from panel import open_alerts
from tests import smtp
from tests.counted.moments import DAY, HOUR, MINUTE, NOON, TICK
from tests.counted.rows import check, copy, counts, rolled_back
from tests.factories import BY, IntegratorFactory

DOWN = breaker.OPENS_AFTER
FAILED = {"status": Status.FAILED, "has_failed_stop": True}
OFF = {"enabled": False, "off_because": OffBecause.STAFF, "off_since": NOON}
MIDNIGHT, EIGHT = NOON - 12 * HOUR, NOON - 4 * HOUR


@pytest.fixture
def endpoint(account):
    """The first one of the account, with a URL."""
    found = account.endpoints.get(environment=Environment.LIVE)
    found.url = "https://shop.example/hook"
    found.save(update_fields=["url"])
    return found


@pytest.fixture
def of_endpoint(endpoint):
    """Makes further ones of the account."""

    def make(**values):
        owner = {"integrator": endpoint.integrator, "environment": endpoint.environment, **values}
        own = WebhookEndpoint.objects.of(owner["integrator"], owner["environment"])
        return copy(endpoint, **{"number": own.count() + 1, "url": f"{endpoint.url}/2", **owner})

    return make


@pytest.fixture
def of_event(endpoint, pattern):
    """Makes events of the delivery, each of another change."""
    event, sequences = pattern.events.get(), count(2)

    def make(*, in_queue=None, **values):
        made = copy(event, **{"sequence": next(sequences), "created_at": NOON, "feed_position": None, **values})
        if in_queue is not None:
            queued = {"event": made, "endpoint": made.endpoint, "delivery": made.delivery}
            WebhookQueueItem.objects.create(**queued, is_ordered=False, due_at=NOON, **in_queue)
        return made

    return make


@pytest.fixture
def times(rules):
    """A delivery of 3 km is late an hour after the request, by 30 minutes and 10 for each km."""
    rules(late_without_driver_minutes=10, late_pickup_minutes=30, late_minutes_per_km=10)
    return {"distance_km": 3, "created_at": NOON - 75 * MINUTE - TICK}


@counts(
    "delivery/alerts/actions.py:untaken_or_late",
    "delivery/alerts/actions.py:_to_watch",
    "delivery/alerts/actions.py:_untold",
    "panel/open_alerts.py:_of_deliveries",
)
def test_deliveries_without_a_driver_or_late(of_delivery, endpoint, other, in_sandbox, times, driver):
    """After 10 and 15 minutes, unless the account has chosen others, and each once."""
    offered = partial(of_delivery, RouteStatus.AVAILABLE, created_at=NOON - HOUR, offer_at=NOON - 10 * MINUTE - TICK)
    collected = partial(of_delivery, RouteStatus.COLLECTED, **times)
    scheduled = partial(
        of_delivery, RouteStatus.SCHEDULED, created_at=NOON - DAY, offer_at=NOON - HOUR,
        scheduled_for=NOON - 15 * MINUTE - TICK,
    )  # fmt: skip  # a table

    def chosen(make, *, number=1, environment=Environment.LIVE, **minutes):
        account = IntegratorFactory.create()
        row = account.endpoints.get(environment=environment)
        if number > 1:
            row = copy(row, number=number)
        EndpointAlerts.objects.create(endpoint=row, **minutes)
        make(integrator=account)

    def told(trouble):
        ReportedTrouble.objects.create(delivery=offered(), trouble=trouble, at=NOON)

    def found():
        rows = alerts._untold(alerts.untaken_or_late(at=NOON))
        assert {row.pk for row in rows} <= {row.pk for row in alerts._to_watch(at=NOON)}
        shown = [each for each in open_alerts._of_deliveries(at=NOON) if each.kind != Trouble.FAILED]
        return {
            **{trouble: sum(row.trouble == trouble for row in rows) for trouble in Trouble},
            **{f"shown {trouble}": sum(each.kind == trouble for each in shown) for trouble in Trouble},
            "all": len(rows),
        }

    def one(trouble):
        return {trouble: 1, f"shown {trouble}": 1, "all": 1}

    untaken, late = one(Trouble.UNTAKEN), one(Trouble.LATE)
    check(
        found,
        fit={
            "offered for longer": (offered, untaken),
            "of another account": (partial(offered, integrator=other), untaken),
            "of the sandbox, not shown": (partial(offered, **in_sandbox), {Trouble.UNTAKEN: 1, "all": 1}),
            "told as late": (partial(told, Trouble.LATE), untaken),
            "told already, still shown": (partial(told, Trouble.UNTAKEN), {"shown untaken": 1}),
            "late": (collected, late),
            "late at A": (partial(of_delivery, RouteStatus.ACCEPTED, created_at=NOON - 45 * MINUTE - TICK), late),
            "scheduled and not offered": (scheduled, late),
            "offered after as long as the account has chosen": (
                partial(chosen, partial(offered, offer_at=NOON - 5 * MINUTE - TICK), untaken_minutes=5), untaken,
            ),
            "late after as long as it has chosen": (
                partial(chosen, partial(collected, created_at=NOON - 65 * MINUTE - TICK), late_minutes=5), late,
            ),
        },
        not_={
            "offered for ten minutes": partial(offered, offer_at=NOON - 10 * MINUTE),
            "late for fifteen minutes": partial(collected, created_at=NOON - 75 * MINUTE),
            "scheduled, fifteen minutes ago": partial(scheduled, scheduled_for=NOON - 15 * MINUTE),
            "offered for shorter than the account has chosen": partial(chosen, offered, untaken_minutes=11),
            "late for shorter than it has chosen": partial(chosen, collected, late_minutes=16),
            "chosen for a further endpoint": partial(
                chosen, partial(offered, offer_at=NOON - 5 * MINUTE - TICK), number=2, untaken_minutes=5
            ),
            "chosen for the sandbox": partial(
                chosen, partial(offered, offer_at=NOON - 5 * MINUTE - TICK), environment="sandbox", untaken_minutes=5
            ),
            "offered for shorter than it has chosen, though it is late": partial(
                chosen, partial(offered, offer_at=NOON - 40 * MINUTE), untaken_minutes=60
            ),
            "finished": partial(of_delivery, RouteStatus.FINISHED, **times),
            "cancelled": partial(of_delivery, RouteStatus.CANCELLED, **times),
        },
    )  # fmt: skip  # a table


@counts("delivery/alerts/actions.py:failed_since")
def test_deliveries_that_failed(of_delivery, other, in_sandbox, driver):
    def history(row, *, back_at, first=None):
        for at, status, route in (
            (first or back_at - MINUTE, Status.COLLECTED, RouteStatus.COLLECTED),
            (back_at, row.status, row.route_status),
            (NOON + DAY, row.status, row.route_status),
        ):
            Transition.objects.create(delivery=row, trigger="fail", status=status, route_status=route, by=BY, at=at)

    def returning(back_at=NOON, **values):
        history(of_delivery(RouteStatus.RETURNING, **values), back_at=back_at)

    of = partial(of_delivery, RouteStatus.FINISHED, closed_at=NOON)
    cancelled = {"cancelled_at": NOON, "cancel_fee": 0}
    returning(back_at=NOON - DAY, **FAILED)
    check(
        lambda: alerts.failed_since(NOON, at=NOON + DAY),
        of=of,
        fit={
            "failed": FAILED,
            "of another account": FAILED | {"integrator": other},
            "of the sandbox": FAILED | in_sandbox,
            "failed at one stop": {"has_failed_stop": True},
            "taken by nobody": partial(of_delivery, RouteStatus.EXPIRED, closed_at=NOON),
            "failed, on the way back": partial(returning, **FAILED),
            "failed at one stop, on the way back": partial(returning, has_failed_stop=True),
        },
        not_={
            "delivered": {},
            "failed before": FAILED | {"closed_at": NOON - TICK},
            "on the way back since before": partial(returning, back_at=NOON - TICK, **FAILED),
            "failed at one stop, on the way back since before": partial(
                returning, back_at=NOON - TICK, has_failed_stop=True
            ),
            "failed at one stop, others to come": partial(of_delivery, RouteStatus.COLLECTED, has_failed_stop=True),
            "delivered, on the way back": returning,
            "cancelled": partial(of_delivery, RouteStatus.CANCELLED, closed_at=NOON, driver=driver),
            "cancelled after pickup": FAILED | cancelled,
            "cancelled, on the way back": partial(returning, **FAILED, **cancelled),
            "anonymised": FAILED | {"forgotten_at": NOON + HOUR},
        },
    )
    check(
        lambda: alerts.failed_since(NOON - 9 * DAY, at=NOON + 2 * DAY),
        of=of,
        fit={"failed two days ago": FAILED},
        not_={"failed more than two days ago": FAILED | {"closed_at": NOON - TICK}},
    )


@counts("delivery/alerts/actions.py:first_failures")
def test_stops_that_failed_and_are_tried_again(of_delivery, other, in_sandbox):
    tried = {"tried_at": NOON}
    of = partial(of_delivery, RouteStatus.COLLECTED, stops=[tried])

    def told(point):
        ReportedTrouble.objects.create(delivery=of(), trouble=Trouble.ATTEMPT, point=point, at=NOON)

    check(
        lambda: Counter(row.troubled_point for row in alerts._untold(alerts.first_failures())),
        of=of,
        fit={
            "tried once": ({}, {"B": 1}),
            "of another account": ({"integrator": other}, {"B": 1}),
            "of the sandbox": (in_sandbox, {"B": 1}),
            "the third stop": ({"stops": [{}, {}, tried]}, {"D": 1}),
            "both": ({"stops": [tried, tried]}, {"B": 1, "C": 1}),
            "told of another stop": (partial(told, "C"), {"B": 1}),
        },
        not_={
            "told": partial(told, "B"),
            "not tried": {"stops": [{}]},
            "delivered then": {"stops": [tried | {"status": Status.DELIVERED}, {}]},
            "failed again": {"stops": [tried | {"status": Status.FAILED}, {}]},
            "on the way back": partial(of_delivery, RouteStatus.RETURNING, stops=[tried]),
            "to bring": partial(of_delivery, RouteStatus.ACCEPTED, mode=Mode.REVERSE),
        },
    )


@counts("delivery/alerts/actions.py:failing_or_off", "panel/open_alerts.py:_of_webhooks")
def test_endpoints_that_events_wait_for(endpoint, of_endpoint, other, in_sandbox):
    failing = {"failures": DOWN, "failing_since": NOON}
    check(
        lambda: {
            "down": alerts.failing_or_off().count(), "shown": sum(1 for _each in open_alerts._of_webhooks()),
        },
        of=of_endpoint,
        fit={
            "failing": (failing, {"down": 1, "shown": 1}),
            "switched off": (OFF, {"down": 1, "shown": 1}),
            "of another account": (failing | {"integrator": other}, {"down": 1, "shown": 1}),
            "of the sandbox": (failing | in_sandbox, {"down": 1}),
            "failing since nobody knows": (failing | {"failing_since": None}, {"down": 1}),
        },
        not_={
            "failed not often enough": failing | {"failures": DOWN - 1},
            "without a URL": failing | {"url": ""},
            "off, without a URL": OFF | {"url": ""},
            "removed": failing | {"number": None, "url": ""},
        },
    )  # fmt: skip  # a table


@counts("common/webhooks/health.py:_changed", "common/webhooks/health.py:_is", "common/webhooks/health.py:_tell")
def test_endpoints_of_which_another_state_is_to_be_told(endpoint, of_endpoint, other, in_sandbox):
    """The pause of five minutes is over for what was told before `told_at`."""
    told_at = NOON - health.PAUSE
    failing = {"failures": DOWN}

    def told(state, *, at=told_at, **values):
        EndpointAlerts.objects.create(endpoint=of_endpoint(**values), reported=state, reported_at=at)

    def tell():
        said = []
        alerted = health._changed(EndpointAlerts, before=NOON - health.PAUSE).count()
        number = health.tell_changes(EndpointAlerts, lambda _row, state, _facts, _at: said.append(state), at=NOON)
        assert len(said) == number
        return {"found": alerted, "told": number}

    def found():
        return rolled_back(tell)

    one, works = {"found": 1, "told": 1}, {"last_success_at": told_at + TICK}
    check(
        found,
        fit={
            "failing": (partial(of_endpoint, **failing), one),
            "of another account": (partial(of_endpoint, **failing, integrator=other), one),
            "of the sandbox": (partial(of_endpoint, **failing, **in_sandbox), one),
            "off": (partial(of_endpoint, **OFF), one),
            "off, told as failing": (partial(told, Health.FAILING, **OFF), one),
            "failing, told as off": (partial(told, Health.OFF, **failing), one),
            "works, told as off": (partial(told, Health.OFF, **works), one),
            "works, told as failing": (partial(told, Health.FAILING, **works), one),
            "without a URL any more, told as failing": (partial(told, Health.FAILING, url=""), {"found": 1}),
        },
        not_={
            "failed not often enough": partial(of_endpoint, failures=DOWN - 1),
            "told as failing": partial(told, Health.FAILING, **failing),
            "told as off": partial(told, Health.OFF, **OFF),
            "told a moment ago": partial(told, Health.RECOVERED, at=told_at + TICK, **failing),
            "switched on, nothing received since": partial(told, Health.OFF, last_success_at=told_at),
            "failed once more": partial(told, Health.FAILING, **works, failures=1),
            "off and failing, told as off": partial(told, Health.OFF, **OFF, **failing),
            "off, received before that": partial(told, Health.OFF, **OFF, **works),
            "works, as it was told": partial(told, Health.RECOVERED, **works),
            "off, without a URL": partial(of_endpoint, **OFF, url=""),
            "failing, without a URL": partial(of_endpoint, **failing, url=""),
        },
    )


@counts("delivery/alerts/actions.py:tell", "delivery/alerts/actions.py:_of_first")
def test_who_is_told(account, endpoint, of_endpoint, other, in_sandbox, settings):
    smtp.use(settings, "smtp://127.0.0.1:9")
    people = count()
    of_first, further = EndpointAlerts.objects.create(endpoint=endpoint), of_endpoint()
    of_further = EndpointAlerts.objects.create(endpoint=further)
    # Nothing is known of the first one of the sandbox.
    of_sandbox = EndpointAlerts.objects.create(endpoint=of_endpoint(**in_sandbox))
    chosen = dict.fromkeys(("failing", "off", "recovered", "digest"), False)

    def member(*, of=account, email="x@example.com", is_active=True, environment="", **wanted):
        user = User.objects.create_user(f"user{next(people)}", email, is_active=is_active)
        membership = of.memberships.create(user=user)
        if environment:
            AlertChoice.objects.create(membership=membership, environment=environment, language="en", **chosen | wanted)
        return membership

    def url(of=of_first):
        of.url_ciphertext = "x"
        EndpointAlerts.objects.filter(pk=of.pk).update(url_ciphertext="x")

    def tell():
        for each in (of_first, of_further, of_sandbox):
            row = EndpointAlerts.objects.get(pk=each.pk)
            alerts.tell(row, AlertKind.FAILING, alerts.context_of(row.endpoint, page="webhook"), at=NOON)
        return {"mails": Message.objects.count(), "posts": AlertPost.objects.count()}

    twice = {"mails": 2}
    check(
        lambda: rolled_back(tell),
        fit={
            "who has not chosen": (member, twice),
            "who has chosen it": (partial(member, environment="live", failing=True), twice),
            "who has chosen for the sandbox": (partial(member, environment="sandbox"), twice),
            "the URL": (url, {"posts": 2}),
        },
        not_={
            "who wants others": partial(member, environment="live", off=True, digest=True),
            "deactivated": partial(member, is_active=False),
            "without an address": partial(member, email=""),
            "of another account": partial(member, of=other),
            "the URL of a further endpoint": partial(url, of_further),
            "that of a further one of the sandbox": partial(url, of_sandbox),
        },
    )


@counts("delivery/alerts/actions.py:record_digests")
def test_accounts_with_a_digest_to_be_recorded(account, other, endpoint, of_endpoint):
    """In the morning, of the first endpoint in each environment, to who reads it: members or a URL."""
    ids = count()
    today = timezone.localtime(EIGHT).date()

    def reader(of, **told):
        of.memberships.create(user=User.objects.create_user(f"user{next(ids)}"))
        if told:
            first = of.endpoints.get(environment=Environment.LIVE)
            EndpointAlerts.objects.create(endpoint=first, **told)

    def url(*, number=1, **told):
        row = IntegratorFactory.create().endpoints.get(environment=Environment.LIVE)
        if number > 1:
            row = copy(row, number=number)
        EndpointAlerts.objects.create(endpoint=row, **{"url_ciphertext": "x", **told})

    def record():
        alerts.record_digests(at=EIGHT)
        return EndpointAlerts.objects.filter(digest_on=today).count()

    two = 2  # environments
    check(
        lambda: rolled_back(record),
        fit={
            "a member": (partial(reader, account), two),
            "a member of another account": (partial(reader, other), two),
            "two members": (lambda: [reader(other), reader(other)], two),
            "a URL": url,
            "a URL, told yesterday": partial(url, digest_on=today - DAY),
            "told today in one environment": (partial(reader, other, digest_on=today), two),
        },
        not_={
            "nobody": IntegratorFactory.create,
            "a further endpoint": of_endpoint,
            "a row without a URL": partial(url, url_ciphertext=""),
            "the URL of a further endpoint": partial(url, number=2),
        },
    )


@counts("delivery/alerts/actions.py:_figures")
def test_figures_of_a_digest(account, endpoint, of_endpoint, other, in_sandbox, of_delivery, of_event):
    """Of the day before: what was requested, and of its events those that failed, were received or given up."""
    further, removed = of_endpoint(), of_endpoint(number=None, url="")
    stranger = other.endpoints.get(environment=Environment.LIVE)
    sandbox = account.endpoints.get(environment=Environment.SANDBOX)
    finished = partial(of_delivery, RouteStatus.FINISHED, created_at=MIDNIGHT - HOUR)
    sent, dead = {"state": EventState.SENT, "sent_at": NOON}, {"state": EventState.DEAD}
    event = partial(of_event, created_at=MIDNIGHT - HOUR, attempts_made=1)

    def change(row, **values):
        return partial(WebhookEndpoint.objects.filter(pk=row.pk).update, **values)

    off, failing = OFF, {"failures": DOWN}
    check(
        lambda: alerts._figures(WebhookEndpoint.objects.get(pk=endpoint.pk), until=MIDNIGHT),
        fit={
            "delivered": (finished, {"requested": 1, "delivered": 1}),
            "in the first moment": (partial(finished, created_at=MIDNIGHT - DAY), {"requested": 1, "delivered": 1}),
            "in the last moment": (partial(finished, created_at=MIDNIGHT - TICK), {"requested": 1, "delivered": 1}),
            "failed": (partial(finished, **FAILED), {"requested": 1, "failed": 1}),
            "cancelled": (
                partial(of_delivery, RouteStatus.CANCELLED, created_at=MIDNIGHT - HOUR), {"requested": 1, "failed": 1},
            ),
            "under way": (partial(of_delivery, RouteStatus.ACCEPTED, created_at=MIDNIGHT - HOUR), {"requested": 1}),
            "an event that was received": (partial(event, **sent), {"sent": 1}),
            "of a further endpoint": (partial(event, **sent, endpoint=further), {"sent": 1}),
            "in its first moment": (partial(event, **sent, created_at=MIDNIGHT - DAY), {"sent": 1}),
            "given up": (partial(event, **dead), {"dead": 1}),
            "failing": (event, {"failing": 1}),
            "the endpoint is off": (change(endpoint, **off), {"is_off": 1}),
            "a further one is off": (change(further, **off), {"is_off": 1}),
            "the endpoint fails": (change(endpoint, **failing), {"is_failing": 1}),
            "it is off and failed before": (change(endpoint, **off, **failing), {"is_off": 1}),
        },
        not_={
            "requested today": partial(finished, created_at=MIDNIGHT),
            "requested before": partial(finished, created_at=MIDNIGHT - DAY - TICK),
            "by another account": partial(finished, integrator=other),
            "in the sandbox": partial(finished, **in_sandbox),
            "an event of today": partial(event, **sent, created_at=MIDNIGHT),
            "an event of before": partial(event, **sent, created_at=MIDNIGHT - DAY - TICK),
            "a test event": partial(event, **sent, delivery=None),
            "of another account's endpoint": partial(event, **sent, endpoint=stranger),
            "of the sandbox": partial(event, **sent, endpoint=sandbox),
            "of a removed endpoint": partial(event, **sent, endpoint=removed),
            "not tried yet": partial(event, attempts_made=0),
            "without a URL": partial(event, state=EventState.UNADDRESSED),
            "another's endpoint is off": change(stranger, url="https://b.example/", **off),
            "that of the sandbox is off": change(sandbox, url="https://b.example/", **off),
            "off without a URL": change(endpoint, url="", **off),
            "failing without a URL": change(endpoint, url="", **failing),
            "failed not often enough": change(endpoint, failures=DOWN - 1),
        },
    )  # fmt: skip  # a table


@counts("delivery/alerts/posts.py:_claim", "common/postgresql/batches.py:claim")
def test_posts_that_are_due(endpoint):
    alerted = EndpointAlerts.objects.create(endpoint=endpoint)

    def post(*, due_at=NOON, state=PostState.WAITING):
        row = {"alerts": alerted, "kind": AlertKind.DIGEST, "text": "x", "created_at": NOON - HOUR}
        AlertPost.objects.create(**row, due_at=due_at, state=state)

    check(
        lambda: rolled_back(lambda: len(posts._claim(at=NOON))),
        of=post,
        fit={"due": {}, "due for longer": {"due_at": NOON - HOUR}},
        not_={
            "due later": {"due_at": NOON + TICK},
            "taken": {"state": PostState.SENT},
            "given up": {"state": PostState.FAILED},
        },
    )
