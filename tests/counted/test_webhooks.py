"""What is sent, counted and sent again of the events of an endpoint, of both areas."""

from dataclasses import dataclass
from functools import partial
from itertools import count
from typing import Any
from uuid import uuid4

import pytest

from common.webhooks import breaker, claims, endpoints, feed, queue, replays
from common.webhooks.address_guard import InvalidWebhookUrl
from common.webhooks.models import FAILING, EventState
from common.webhooks.outbox import Outbox, outbox_of
from delivery.models import Environment, OffBecause
from integration.models import WebhookEndpoint as SellersEndpoint
from panel import attention
from tests.counted.moments import DAY, HOUR, NOON, TICK
from tests.counted.rows import check, copy, counts, rolled_back
from tests.integration.factories import SellerFactory, create_order

SENT = {"state": EventState.SENT, "sent_at": NOON, "attempts_made": 1}
DEAD = {"state": EventState.DEAD, "attempts_made": 17}
NO_URL = {"state": EventState.UNADDRESSED}


@dataclass
class Area:
    """An endpoint with a URL, further ones, and an event of a subject, of which others are copies."""

    outbox: Outbox
    endpoint: Any
    event: Any

    def events(self):
        return self.outbox.events._default_manager

    def another(self, **values):
        """A further endpoint; without values, of the same owner and environment."""
        owner = {self.endpoint.OWNER: self.endpoint.owner, "environment": self.endpoint.environment, **values}
        own = type(self.endpoint)._default_manager.of(owner[self.endpoint.OWNER], owner["environment"])
        return copy(self.endpoint, **{"number": own.count() + 1, "url": f"https://b.example/{uuid4()}", **owner})

    def make(self, *, in_queue=None, **values):
        """An event of another change of the subject."""
        last = self.events().order_by("-sequence").first().sequence
        row = {"sequence": last + 1, "created_at": NOON, "feed_position": None, "state": EventState.PENDING, **values}
        made = copy(self.event, **row)
        if in_queue is not None:
            item = {"is_ordered": False, "due_at": NOON, **in_queue}
            subject = {self.outbox.subject: made.subject}
            self.outbox.items._default_manager.create(event=made, endpoint=made.endpoint, **subject, **item)
        return made


@pytest.fixture(params=["delivery", "integration"])
def area(request, pattern):
    """That of integrators, and that of sellers."""
    if request.param == "delivery":
        endpoint = pattern.integrator.endpoints.get(environment=Environment.LIVE)
        event = pattern.events.get()
    else:
        seller = SellerFactory.create()
        endpoint = SellersEndpoint.objects.get_or_create(seller=seller, environment=Environment.LIVE, number=1)[0]
        endpoint.url = "https://shop.example/hook"
        endpoint.save()
        event = create_order(seller).events.get()
    endpoint.url = "https://shop.example/hook"
    endpoint.save(update_fields=["url"])
    outbox = outbox_of(type(endpoint))
    outbox.items._default_manager.all().delete()
    return Area(outbox, endpoint, event)


@counts("common/webhooks/models.py:EndpointQuerySet.of", "common/webhooks/models.py:EndpointQuerySet.first_ones")
@counts("common/webhooks/models.py:EndpointQuerySet.present")
def test_endpoints_of_an_account(area, other):
    owner = area.endpoint.OWNER
    stranger = other if owner == "integrator" else SellerFactory.create(documents=())
    all_of_them = type(area.endpoint)._default_manager
    area.outbox.endpoints._default_manager.filter(**{owner: stranger}).update(number=None, url="")

    check(
        lambda: {
            "of": all_of_them.of(area.endpoint.owner, Environment.LIVE).count(),
            "present": all_of_them.present().count(),
            "first": all_of_them.first_ones().count(),
        },
        of=area.another,
        fit={
            "a further one": ({}, {"of": 1, "present": 1}),
            "of another account": ({owner: stranger, "number": 1}, {"present": 1, "first": 1}),
            "of the sandbox": ({"environment": Environment.SANDBOX, "number": 5}, {"present": 1}),
        },
        not_={"removed": {"number": None, "url": ""}},
    )


@counts("common/webhooks/models.py:EventQuerySet.in_state", "common/webhooks/models.py:EventQuerySet.failed")
@counts("common/webhooks/models.py:IS_FAILING", "common/webhooks/models.py:IS_DEAD")
@counts("common/webhooks/models.py:EventQuerySet.first_ones", "common/webhooks/models.py:EventQuerySet.of_tests")
def test_states_of_events(area):
    """As pages show them, and which of them were not received."""
    further, subject = area.another(), area.outbox.subject
    tried = {"attempts_made": 1}

    def found():
        events = area.events()
        in_states = {state: list(events.in_state(state)) for state in (*EventState, FAILING)}
        for state, rows in in_states.items():
            assert {row.shown_state for row in rows} <= {state}
        return {state: len(rows) for state, rows in in_states.items()} | {
            "failed": events.failed().count(),
            "changes": events.first_ones().count(),
            "tests": events.of_tests().count(),
        }

    def one(*names):
        return dict.fromkeys((*names, "changes"), 1)

    waits = partial(area.make, in_queue={})
    check(
        found,
        fit={
            "waiting": (waits, one("pending")),
            "failing": (partial(waits, **tried), one("failing", "failed")),
            "waiting for an earlier one, tried": (partial(area.make, **tried), one("pending")),
            "received": (partial(area.make, **SENT), one("sent")),
            "sent again": (partial(waits, **SENT | {"state": EventState.PENDING}), one("pending")),
            "sent again, and failing": (
                partial(area.make, **SENT | {"state": EventState.PENDING}, in_queue={"tries": 1}),
                one("failing", "failed"),
            ),
            "given up": (partial(area.make, **DEAD), one("dead", "failed")),
            "without a URL": (partial(area.make, **NO_URL), one("unaddressed", "failed")),
            "left out": (partial(area.make, state=EventState.FILTERED), one("filtered")),
            "a test": (partial(area.make, **SENT, **{subject: None}), one("sent", "tests")),
            "a copy for a further endpoint": (
                partial(area.make, **SENT, endpoint=further, copy_of=area.event.pk),
                {"sent": 1},
            ),
        },
        not_={},
    )


@counts("common/webhooks/models.py:AttemptQuerySet.by_hour")
def test_attempts_by_hour(area):
    """Of the endpoints, within the time, at events of the last six days; a success is an answer of 2xx."""
    further, foreign = area.another(), area.another()
    attempts = area.outbox.attempts._default_manager
    since = NOON - DAY

    def attempt(*, at=since, status_code=200, **event):
        row = area.make(**{"created_at": since, **event})
        attempts.create(event=row, number=1, at=at, milliseconds=7, status_code=status_code)

    def found():
        hours = list(attempts.by_hour([area.endpoint, further], since=since))
        return {name: sum(row[name] for row in hours) for name in ("total", "successes")}

    success, failure = {"total": 1, "successes": 1}, {"total": 1}
    check(
        found,
        of=attempt,
        fit={
            "answered": ({}, success),
            "answered by 299": ({"status_code": 299}, success),
            "at a further endpoint": ({"endpoint": further}, success),
            "at an event of six days": ({"created_at": since - 6 * DAY}, success),
            "redirected": ({"status_code": 300}, failure),
            "answered by 199": ({"status_code": 199}, failure),
            "not answered": ({"status_code": None}, failure),
        },
        not_={
            "before": {"at": since - TICK},
            "at an older event": {"created_at": since - 6 * DAY - TICK},
            "at another endpoint": {"endpoint": foreign},
        },
    )


@counts("common/webhooks/models.py:AttemptQuerySet.last_of", "common/webhooks/models.py:AttemptQuerySet.last_failure")
def test_last_attempts(area):
    """The newest failure of those that are tried again; of an endpoint that fails without one, of the newest dead."""
    attempts, foreign = area.outbox.attempts._default_manager, area.another()
    shown = []

    def attempt(*numbers, milliseconds=7, status_code=503, is_shown=True, in_queue=None, at=NOON + HOUR, **event):
        row = area.make(**{"attempts_made": 2, **event}, in_queue={} if in_queue is None else in_queue)
        for number in numbers:
            attempts.create(event=row, number=number, at=at, milliseconds=milliseconds, status_code=status_code)
        if is_shown:
            shown.append(row)

    def last(endpoint):
        found = attempts.last_failure(endpoint)
        return {"last": attempts.last_of(shown).count(), "failure": found.milliseconds if found else 0}

    def given_up(**values):
        row = area.make(**{"endpoint": foreign, **DEAD, **values})
        milliseconds = 5 if row.created_at == NOON else 7
        attempts.create(event=row, number=17, at=row.created_at, milliseconds=milliseconds, status_code=503)

    once = {"last": 1}
    check(
        lambda: last(area.endpoint),
        fit={
            "a failure": (partial(attempt, 2, milliseconds=5, at=NOON), {"last": 1, "failure": 5}),
            "a later one": (partial(attempt, 2), {"last": 1, "failure": 2}),
            "one that is not shown": (partial(attempt, 2, is_shown=False), {"failure": 2}),
            "one before": (partial(attempt, 2, at=NOON - TICK), once),
            "another's": (partial(attempt, 2, endpoint=foreign), once),
            "a success": (partial(attempt, 2, status_code=200), once),
            "the last but one": (partial(attempt, 1), {}),
            "one that was given up": (lambda: given_up(endpoint=area.endpoint, created_at=NOON + DAY), {}),
        },
        not_={},
    )
    assert attempts.last_failure(foreign) is None
    foreign.failures = 1

    check(
        lambda: last(foreign),
        of=given_up,
        fit={"given up": ({}, {"failure": 5}), "one later": ({"created_at": NOON + TICK}, {"failure": 2})},
        not_={
            "one before": {"created_at": NOON - TICK},
            "another's": {"created_at": NOON + TICK, "endpoint": area.endpoint},
            "received": {"created_at": NOON + TICK, **SENT},
        },
    )


@counts("panel/attention.py:of_webhooks")
def test_notices_of_events(area):
    further, foreign = area.another(), area.another()
    dead, failing = partial(area.make, **DEAD), partial(area.make, attempts_made=1, in_queue={})

    def found():
        notices = attention.of_webhooks([area.endpoint, further], at=NOON + 7 * DAY)
        numbers = [notice.text.removeprefix(f"{further.host}: ").split()[0] for notice in notices]
        return {f"{each.query} {each.number}": int(text) for each, text in zip(notices, numbers, strict=True)}

    check(
        found,
        fit={
            "given up": (dead, {"?state=dead 1": 1}),
            "failing": (failing, {"?state=failing 1": 1}),
            "of a further endpoint": (partial(dead, endpoint=further), {f"?state=dead {further.number}": 1}),
        },
        not_={
            "received": partial(area.make, **SENT),
            "not tried": partial(area.make, in_queue={}),
            "given up before": partial(dead, created_at=NOON - TICK),
            "failing since before": partial(failing, created_at=NOON - TICK),
            "of another endpoint": partial(dead, endpoint=foreign),
        },
    )


@counts("common/webhooks/claims.py:_CLAIM")
def test_events_that_a_worker_may_send(area):
    """At most four in flight for each endpoint, one of those that fail."""
    due, later = {"due_at": NOON}, {"due_at": NOON + TICK}
    leased = {**later, "lease": uuid4()}

    def at_another(*items, **values):
        further = area.another(**values)
        for item in items:
            area.make(endpoint=further, in_queue=item)

    def found():
        return rolled_back(lambda: len(claims.claim(area.outbox, lease=uuid4(), at=NOON, limit=100)))

    off = {"enabled": False, "off_because": OffBecause.STAFF, "off_since": NOON}
    failing = {"failures": breaker.OPENS_AFTER}
    check(
        found,
        fit={
            "due": partial(area.make, in_queue=due),
            "at a further endpoint": partial(at_another, due),
            "whose lease is over": partial(at_another, leased | due),
            "with three in flight": partial(at_another, *[leased] * 3, due, due),
            "with four that were in flight": (partial(at_another, *[leased | due] * 4, due), 4),
            "with four to be sent later": partial(at_another, *[later] * 4, due),
            "whose pause is over": partial(at_another, due, paused_until=NOON),
            "at one that fails": partial(at_another, due, due, **failing),
            "at one that fails not often enough": (partial(at_another, due, due, failures=breaker.OPENS_AFTER - 1), 2),
        },
        not_={
            "to be sent later": partial(area.make, in_queue=later),
            "in flight": partial(at_another, leased),
            "with four in flight": partial(at_another, *[leased] * 4, due),
            "at one that fails, with one in flight": partial(at_another, leased, due, **failing),
            "at one that fails, with two in flight": partial(at_another, leased, leased, due, **failing),
            "at one that is off": partial(at_another, due, **off),
            "at one without a URL": partial(at_another, due, url=""),
            "at one that pauses": partial(at_another, due, paused_until=NOON + TICK),
        },
    )


@counts("common/webhooks/queue.py:bring_forward")
def test_events_that_are_brought_forward(area):
    foreign = area.another()
    later = {"due_at": NOON + HOUR, "is_ordered": False}

    def make(*, created_at=NOON, endpoint=area.endpoint, **item):
        area.make(created_at=created_at, endpoint=endpoint, in_queue={**later, **item})

    lease = {"lease": uuid4()}
    not_ = {
        "due": {"due_at": NOON},
        "claimed": lease,
        "of another endpoint": {"endpoint": foreign},
        "of so long ago": {"created_at": NOON - queue._BROUGHT_FORWARD_FOR},
    }

    fit = {"poisoned": {}, "of a moment less": {"created_at": NOON - queue._BROUGHT_FORWARD_FOR + TICK}}

    def found(**options):
        return rolled_back(lambda: queue.bring_forward(area.outbox, endpoint_id=area.endpoint.pk, at=NOON, **options))

    check(lambda: found(poisoned_too=True), of=make, fit=fit, not_=not_)
    check(found, of=make, fit={"ordered": {"is_ordered": True}}, not_={"poisoned": {}, **not_})


@counts("common/webhooks/replays.py:send_missed")
def test_events_that_were_missed_while_a_url_was_set(area, monkeypatch):
    """Changes since the start until the commit, without a URL then, unless a later one of their subject is sent."""
    monkeypatch.setattr(replays, "replay", lambda *, events, **_more: list(events))
    foreign, test = area.another(), {area.outbox.subject: None}
    area.events().filter(pk=area.event.pk).update(state=EventState.SENT)
    area.endpoint.statuses = [area.event.name]
    missed = partial(area.make, **NO_URL)

    def followed(**later):
        missed()
        area.make(**later)

    def found():
        return replays.send_missed(endpoint=area.endpoint, since=NOON, until=NOON + HOUR, at=NOON + DAY)

    check(
        found,
        fit={
            "missed": missed,
            "missed in the last moment": partial(missed, created_at=NOON + HOUR),
            "followed by one that was left out": partial(followed, state=EventState.FILTERED),
            "followed by one for another endpoint": partial(followed, **SENT, endpoint=foreign),
        },
        not_={
            "made before": partial(missed, created_at=NOON - TICK),
            "made after": partial(missed, created_at=NOON + HOUR + TICK),
            "of another endpoint": partial(missed, endpoint=foreign),
            "that its filter leaves out": partial(missed, name=list(area.endpoint.all_statuses())[-1]),
            "left out": partial(area.make, state=EventState.FILTERED),
            "a test": partial(area.make, **SENT, **test),
        },
    )
    followed(**SENT)
    assert len(list(found())) == 0


@counts("common/webhooks/feed.py:_page")
def test_events_of_the_feed(area):
    """The first endpoint's, of 30 days, after the last position; no tests."""
    foreign = area.another()
    start, subject = feed._microseconds(NOON), area.outbox.subject
    positions = count(100)

    def make(**values):
        return area.make(**{"feed_position": start + next(positions), **SENT, **values})

    check(
        lambda: feed._page(area.endpoint, start + 1, 100, NOON),
        of=make,
        fit={"the next one": {"feed_position": start + 2}, "one more": {}},
        not_={
            "the last that was read": {"feed_position": start + 1},
            "without a position": {"feed_position": None},
            "of another endpoint": {"endpoint": foreign},
            "a test": {subject: None, "feed_position": None},
        },
    )
    check(
        lambda: feed._page(area.endpoint, 0, 100, NOON + 30 * DAY),
        of=make,
        fit={"of 30 days": {}},
        not_={"of before": {"feed_position": start}},
    )


@counts("common/webhooks/endpoints.py:_refuse_repeated", "common/webhooks/endpoints.py:audit_entries")
def test_what_an_account_has_at_its_endpoints(area, other):
    """URLs that it cannot use again, and what is recorded of it."""
    owner = area.endpoint.OWNER
    stranger = other if owner == "integrator" else SellerFactory.create(documents=())
    url = endpoints.CheckedUrl("https://again.example/")
    audit = area.outbox.audit._default_manager

    def refused():
        try:
            endpoints._refuse_repeated(area.endpoint, url, but=area.endpoint.number)
        except InvalidWebhookUrl:
            return 1
        return 0

    own_url = {"url": url.text}
    check(refused, of=area.another, fit={"another": ({}, {})}, not_={
        "with another URL": {},
        "of another account": own_url | {owner: stranger, "number": 5},
        "of the sandbox": own_url | {"environment": Environment.SANDBOX, "number": 5},
        "itself": partial(type(area.endpoint)._default_manager.filter(pk=area.endpoint.pk).update, **own_url),
    })  # fmt: skip  # a table
    check(refused, of=area.another, fit={"with it": own_url}, not_={})

    def record(**values):
        row = {
            owner: area.endpoint.owner,
            "environment": Environment.LIVE,
            "action": "test_sent",
            "by": "x",
            "at": NOON,
        }
        audit.create(**row | {"subject": ""} | values)

    check(
        lambda: endpoints.audit_entries(area.endpoint, "test_sent"),
        of=record,
        fit={"sent": {}},
        not_={
            "of another account": {owner: stranger},
            "of the sandbox": {"environment": Environment.SANDBOX},
            "of another kind": {"action": "url_set"},
        },
    )
