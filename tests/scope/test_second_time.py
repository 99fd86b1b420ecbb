"""Every action twice, and there and back: the second time changes nothing more, and the first moments stay."""

import inspect
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import ObjectDoesNotExist, ValidationError
from django.db import connection, transaction
from django.utils import timezone
from redis import RedisError

from access import invitations, teams
from access.models import Invitation
from common.accounts import Role
from common.pages import page_updates
from common.pages.page_updates import publish
from common.shops.platforms import Platform
from common.webhooks import endpoints
from common.webhooks.endpoints import CheckedUrl
from common.workers import wake_up
from delivery.accounts import integrators, pickup_points, tokens
from delivery.actions import deliveries, dispatch_rules, drivers, goods, stops
from delivery.alerts import actions as alerts
from delivery.connections import actions as connections
from delivery.connections import drafts
from delivery.drivers import devices
from delivery.hours import actions as service_hours
from delivery.hours.models import ServiceHours
from delivery.lifecycle import OnFailure
from delivery.models import DispatchRules, Stop
from delivery.receivers import actions as receivers
from delivery.streets import actions as streets
from delivery.streets.models import Choice
from integration.accounts import keys, sellers
from integration.actions.orders import Details
from integration.carriers import actions as carriers
from integration.connections import actions as seller_shops
from integration.connections import drafts as seller_drafts
from integration.invoices import actions as invoices
from integration.lifecycle import Status as OrderStatus
from integration.manifests import actions as manifests
from integration.models import WebhookEvent as OrderEvent
from integration.sandbox import by_hand
from integration.webhooks.outbox import OUTBOX as OUTBOX_OF_ORDERS
from tests.scope.actions import Call, Late, Party, calls, fresh, functions
from tests.scope.rows import Rows, plain
from tests.scope.test_actions import NOT_CALLED, parties
from tests.scope.world import INVITED, World
from tests.service_hours import row
from tests.sources import PACKAGES

pytestmark = pytest.mark.django_db
_LATER = timedelta(minutes=1)
_MOST_TRIED, _MOST_ALIKE = 60, 3  # calls of a function, and of those that show nothing new
_KINDS = ("failing", "off", "recovered", "digest")
_INNER = "called by the actions of its package, which are called here"
_SECRET = "a secret is stored anew without a look at the one before"  # pragma: allowlist secret
_ANOTHER = "another one is asked for"
_LAST_USE = "the moment of the last use"
# What a second call changes too, and why it may. Everything else changes nothing.
AGAIN: dict[str, tuple[set[str], str]] = {
    "access.enrolment.issue": (
        {f"access_enrolmentcode.{column}" for column in ("digest", "issued_at", "expires_at")},
        "in place of the first"),
    "access.invitations.resend": (
        {"access_invitation.digest", "access_invitation.sent_at", "access_invitation.expires_at",
         "common_attemptcount.count", "new delivery_auditentry", "new django_admin_log", "new mail_message"},
        "it is to be sent again"),
    "access.teams.record": ({"new delivery_auditentry", "new django_admin_log"}, _INNER),
    "common.webhooks.endpoints.add": (
        {"new delivery_auditentry", "new delivery_webhookendpoint", "new integration_endpointchange",
         "new integration_webhookendpoint"}, "without a URL none is like another"),
    "common.webhooks.endpoints.record_in_audit_trail": (
        {"new delivery_auditentry", "new integration_endpointchange"}, _INNER),
    "common.webhooks.endpoints.send_test": (
        {f"new {area}_{table}" for area in ("delivery", "integration") for table in
         ("auditentry", "endpointchange", "webhookevent", "webhookqueueitem")}, _ANOTHER),
    "common.webhooks.endpoints.show_secret": (
        {"new delivery_auditentry", "new integration_endpointchange"}, "whoever sees it is recorded"),
    "common.webhooks.replays.replay": (
        {"new delivery_auditentry", "new integration_endpointchange"}, "whoever asks for it is recorded"),
    "delivery.accounts.integrators.record_audit": ({"new delivery_auditentry"}, _INNER),
    "delivery.accounts.pickup_points.add": ({"new delivery_auditentry", "new delivery_pickuppoint"}, _ANOTHER),
    "delivery.accounts.tokens.authenticate": ({"delivery_token.last_used_at"}, _LAST_USE),
    "delivery.accounts.tokens.issue": ({"new delivery_auditentry", "new delivery_token"}, _ANOTHER),
    "delivery.accounts.tokens.issue_again": (
        {"new delivery_auditentry", "new delivery_token", "delivery_token.expires_at"}, "in place of the first"),
    "delivery.accounts.tokens.rotate": ({"new delivery_auditentry", "new delivery_token"}, _ANOTHER),
    "delivery.actions.deliveries.request": (
        {f"new delivery_{table}" for table in ("delivery", "dropoffoptions", "stop", "transition", "webhookevent",
                                               "webhookqueueitem")}, "without a key each call is another request"),
    **dict.fromkeys(
        ("delivery.actions.drivers.set_position", "delivery.actions.drivers.store_positions",
         "delivery.actions.moves.perform", "delivery.sandbox.by_hand.perform"),
        ({"new delivery_driverposition", "delivery_latestposition.recorded_at"}, "a position of another moment")),
    "delivery.alerts.actions.post": ({"new delivery_alertpost"}, _INNER),
    "delivery.alerts.actions.send_test": (
        {"new delivery_auditentry", "new delivery_alertpost", "new mail_message"}, _ANOTHER),
    "delivery.alerts.actions.set_url": ({"new delivery_auditentry"}, _SECRET),
    "delivery.alerts.actions.tell": ({"new delivery_alertpost", "new mail_message"}, _INNER),
    "delivery.connections.actions.change_secret": (
        {"delivery_connection.secret_ciphertext", "new delivery_auditentry"}, _SECRET),
    "delivery.connections.actions.connect": ({"new delivery_auditentry", "new delivery_connection"}, _ANOTHER),
    "delivery.drivers.devices.find": ({"delivery_driverdevice.last_used_at"}, _LAST_USE),
    "delivery.drivers.devices.issue_link": (
        {"new delivery_driverloginlink", "delivery_driverloginlink.expires_at"}, "in place of the first"),
    "delivery.drivers.devices.receive_positions": (
        {"delivery_driverdevice.dropped_positions"}, "each that is not believed is counted"),
    "delivery.drivers.devices.subscribe": (
        {"delivery_pushsubscription.ciphertext", "delivery_pushsubscription.created_at"}, _SECRET),
    "delivery.receivers.actions.record": ({"new mail_message"}, _INNER),
    "integration.accounts.keys.authenticate": ({"integration_apikey.last_used_at"}, _LAST_USE),
    "integration.connections.actions.change_secret": ({"integration_connection.secret_ciphertext"}, _SECRET),
    "integration.connections.actions.connect": ({"new integration_connection"}, _ANOTHER),
    "integration.accounts.keys.issue": ({"new integration_apikey"}, _ANOTHER),
    "integration.actions.webhooks.set_authentication": (
        {"new integration_endpointchange", "integration_webhookendpoint.authentication_ciphertext"}, _SECRET),
    "integration.carriers.actions.authenticate": ({"integration_carrierkey.last_used_at"}, _LAST_USE),
    "integration.carriers.actions.issue_key": ({"new integration_carrierkey"}, _ANOTHER),
}  # fmt: skip  # a table
# Pages and caches that read again what they have.
_READ_AGAIN = (publish, DispatchRules.forget_current, ServiceHours.forget_in_force)
_CHECKED_BY_THE_CALLER = ("integration.invoices.actions.link",)
_WOKEN_BY_THE_CALLER = ("common.webhooks.queue.bring_forward",)
# In portions, and tells of each when it has committed.
_THAT_COMMIT = ("delivery.actions.arrivals.renew",)
_THAT_READ = ("access.rights.", "delivery.reports.", "delivery.stop_details.", "panel.")
# Actions that are not called twice here, and what tries or makes up for it.
ELSEWHERE = {
    "access.personal_data.record": "each request of a person is another one",
    "access.teams.lock": "reads",
    "delivery.accounts.integrators.open_": _ANOTHER,
    "delivery.actions.deliveries.offer_locked": _INNER,
    "delivery.actions.deliveries.recall_locked": _INNER,
    "delivery.actions.tariffs.create_defaults": "tests/config/test_bootstrap.py",
    "delivery.actions.transitions.apply": _INNER,
    "delivery.actions.transitions.history": _INNER,
    "delivery.reports.service": "reads",
    "delivery.reports.work": "reads",
    "integration.carriers.actions.open_": _ANOTHER,
    "integration.invoices.actions.give_up": _INNER,
    "integration.invoices.actions.match_corrected": _INNER,
    "integration.invoices.actions.unlink_alike": _INNER,
}
# What is added to with every change, and so is not as it was when something is changed there and back.
_HISTORY = {
    "access_invitation", "common_attemptcount", "delivery_auditentry", "delivery_dutychange", "delivery_stopchange",
    "django_admin_log", "integration_assignment", "integration_correction", "integration_endpointchange",
    "integration_invoicechange", "mail_message",
}  # fmt: skip  # a list of names
_NOT_COMPARED = re.compile(r"id|event_id|tries|.*(_at|_since|_until|_on|ciphertext|digest)")


class Step(NamedTuple):
    """A call of an action."""

    function: Callable[..., Any]
    arguments: dict[str, Any]

    @property
    def name(self) -> str:
        return f"{self.function.__module__}.{self.function.__name__}"

    def call(self, at: datetime) -> Call:
        parameters = inspect.signature(self.function).parameters
        moment = {name: value for name, value in (("by", "tester"), ("at", at)) if name in parameters}
        return Call(self.function, (), moment | self.arguments)


class Again(NamedTuple):
    """What the first call wrote, which tasks it woke, and what the second one wrote and told.

    `early` is what either of them told before its transaction has committed, which may be rolled back.
    """

    written: set[str]
    woken: Counter[str]
    error: BaseException | None
    changed: set[str]
    told: list[str]
    early: list[str]


@contextmanager
def undone(world: World) -> Iterator[None]:
    """Undo what is written within, and what is to be done when it commits."""
    world.ledger.remove(())
    savepoint, callbacks = transaction.savepoint(), connection.run_on_commit
    connection.run_on_commit = []
    try:
        world.ledger.reset_sequences()
        yield
    finally:
        transaction.set_rollback(False)
        transaction.savepoint_rollback(savepoint)
        transaction.savepoint_commit(savepoint)  # which a rollback keeps
        connection.run_on_commit = callbacks


def refusal(call: Callable[[], Any]) -> BaseException | None:
    """What the call raises; what it has changed is undone then, as at the end of its request."""
    inner = transaction.savepoint()
    try:
        plain(call())
    except Exception as error:  # noqa: BLE001  # any refusal
        if connection.needs_rollback or not connection.is_usable():
            transaction.set_rollback(False)
            transaction.savepoint_rollback(inner)
        return error
    return None


def is_documented(error: BaseException | None) -> bool:
    """Whether callers can be told of it: a refusal of ours, a form's, or a row that is gone."""
    ours = (ValidationError, ObjectDoesNotExist)
    return error is None or isinstance(error, ours) or type(error).__module__.split(".")[0] in PACKAGES


def changes(before: Rows, after: Rows) -> set[str]:
    """The columns that have changed, and the tables with rows that are new or gone."""
    found = set()
    for key in before.keys() | after.keys():
        old, new = before.get(key), after.get(key)
        if old is None or new is None:
            found.add(f"{'new' if old is None else 'gone'} {key[0]}")
        elif old != new:
            values, others = json.loads(old), json.loads(new)
            found |= {f"{key[0]}.{column}" for column in values if values[column] != others[column]}
    return found


def bound(call: Call) -> Callable[[], Any]:
    """The call with the rows as they are now, to be made later."""
    by_name = {name: fresh(each) for name, each in call.by_name.items()}
    return partial(call.function, *map(fresh, call.positional), **by_name)


def later(call: Call, world: World) -> Call:
    """The same call a minute later."""
    moved = {"at": call.by_name["at"] + _LATER} if "at" in call.by_name else {}
    positional = (each + _LATER if each == world.now else each for each in call.positional)
    return Call(call.function, tuple(positional), call.by_name | moved)


def twice(call: Call, world: World, *before: Step) -> Again | None:
    """Make the call twice, the second time with the rows as they were before the first, as who has waited for it.

    None if the first is refused.
    """
    with undone(world), pytest.MonkeyPatch.context() as patch:
        for step in before:
            bound(step.call(world.now))()
        early = told_early(patch)
        start = world.ledger.written() if before else world.ledger.rows
        second = bound(later(call, world))
        connection.run_on_commit.clear()
        if refusal(bound(call)) is not None:
            return None
        first = world.ledger.written()
        woken = Counter(each.args[0] for each in to_be_called() if getattr(each, "func", None) is wake_up.send)
        connection.run_on_commit.clear()
        patch.setattr(timezone, "now", lambda: world.now + _LATER)
        error = refusal(second) if first != start else None
        functions_called = (getattr(each, "func", each) for each in to_be_called())
        told = [str(each) for each in functions_called if each not in _READ_AGAIN]
        return Again(changes(start, first), woken, error, changes(first, world.ledger.written()), told, early)


def to_be_called() -> list[Any]:
    """What is called when this transaction commits."""
    return [each[1] for each in connection.run_on_commit]


def told_early(patch: pytest.MonkeyPatch) -> list[str]:
    """What is told of from now on to workers or open pages before a transaction has committed."""
    early: list[str] = []

    def tell(*args: Any, **_options: Any) -> Any:
        early.append(str(args))
        raise RedisError

    redis = SimpleNamespace(pipeline=tell, pubsub_numsub=lambda *_topics: [])
    for module in (wake_up, page_updates):
        patch.setattr(module, "redis", lambda: redis)
    patch.setattr(wake_up, "current_app", SimpleNamespace(send_task=tell))
    return early


def of_sellers(world: World) -> dict[str, list[Any]]:
    """Arguments of area B for what both areas use."""
    endpoint = world.s["endpoint"]
    return {
        "endpoint": [endpoint], "endpoints": [[endpoint]], "beside": [endpoint], "endpoint_id": [endpoint.pk],
        "outbox": [OUTBOX_OF_ORDERS], "statuses": [["delivered"]], "user": [world.s["user"]],
        "events": [Late(lambda: OrderEvent.objects.filter(endpoint=endpoint))],
    }  # fmt: skip  # a table


def prepared(world: World) -> list[tuple[Step, ...]]:
    """Calls that need something before them, or arguments that belong together: the last of the steps is the call."""
    a, s = world.a, world.s
    accepted, collected = a.deliveries["accepted"], a.deliveries["collected"]
    invited = {"invitation": Late(lambda: Invitation.objects.get(integrator=a.integrator, email=INVITED))}
    user = Step(User.objects.create_user, {"username": "ana", "email": INVITED})
    cancel = Step(deliveries.cancel, {"delivery": accepted, "reason": ""})
    opened = {"delivery": accepted, "point": "", "made_at": world.now - _LATER}
    hours = Step(service_hours.save, {"hours": Late(row)})
    shop = connections.Settings("Another", a.more["connection"].pickup)
    seller_shop = seller_shops.Settings("Another", s["seller"].companies.get())

    def renamed(found: Any) -> Late:
        def make() -> Any:
            changed = fresh(found)
            changed.name, changed.approve_pickup_points = "Another", True
            return changed

        return Late(make)

    def of_both(endpoint: Any) -> tuple[Step, ...]:
        further = {"beside": endpoint, "url": CheckedUrl(""), "statuses": []}
        newest = Late(lambda: type(endpoint)._default_manager.order_by("pk").last())
        return Step(endpoints.add, further), Step(endpoints.remove, {"endpoint": newest})

    return [
        (user, Step(invitations.accept, {**invited, "user": Late(lambda: User.objects.get(username="ana"))})),
        (Step(invitations.sign_up, {**invited, "name": "Ana", "password": "open-sesame"}),),  # pragma: allowlist secret
        of_both(a.endpoint),
        of_both(s["endpoint"]),
        (Step(integrators.change, {"integrator": renamed(a.integrator)}),),
        (Step(integrators.suspend, {"integrator": a.integrator, "reason": "Unpaid"}),
         Step(integrators.lift_suspension, {"integrator": a.integrator})),
        (Step(sellers.suspend, {"seller": s["seller"], "reason": "Unpaid"}),
         Step(sellers.lift_suspension, {"seller": s["seller"]})),
        (Step(deliveries.expire, {"delivery": a.deliveries["requested"], "at": world.now + timedelta(days=1)}),),
        (cancel, Step(deliveries.open_again, opened)),
        (cancel, Step(deliveries.open_again, opened), Step(deliveries.charge, {"delivery": accepted})),
        (Step(goods.hand_over, {"delivery": collected}),),
        (Step(drivers.save, {"driver": renamed(world.drivers["Free live 1"]["driver"])}),),
        (Step(dispatch_rules.change, {"values": {"road_factor": 2}}),),
        (hours,),
        (hours, Step(service_hours.delete, {"hours": Late(ServiceHours.objects.get)})),
        (Step(carriers.assign, {"orders": [s["orders"]["new"]], "carrier": None}),),
        (Step(connections.connect, {"integrator": a.integrator, "environment": "live", "platform": Platform.YAMPI,
                                    "settings": shop}),),
        (Step(connections.change, {"connection": a.more["connection"], "settings": shop}),),
        (Step(connections.change_secret, {"connection": a.more["connection"]}),),
        (Step(connections.remove, {"connection": a.more["connection"]}),),
        (Step(seller_shops.connect, {"seller": s["seller"], "environment": "live", "platform": Platform.YAMPI,
                                     "settings": seller_shop}),),
        (Step(seller_shops.change, {"connection": s["connection"], "settings": seller_shop}),),
        (Step(seller_shops.change_secret, {"connection": s["connection"]}),),
        (Step(seller_shops.remove, {"connection": s["connection"]}),),
        (Step(seller_drafts.make, {"draft": s["shop_order"], "payload": None, "seen": None}),),
        (Step(drafts.edit, {"draft": a.more["shop_order"], "seen": a.more["shop_order"].revision,
                            "dropoff": {**a.more["shop_order"].dropoff, "instructions": "Knock"}}),),
        (Step(drafts.request, {"draft": a.more["shop_order"], "seen": None}),),
        (Step(streets.choose, {"choice": Choice.OPENSTREETMAP}),),
        (Step(by_hand.perform, {"order": s["test_order"], "to": OrderStatus.COLLECTED, "details": Details()}),),
    ]  # fmt: skip  # a table


def of_areas(name: str, world: World) -> list[tuple[Party, dict[str, list[Any]]]]:
    """Whose objects the action is called with, and what replaces them."""
    found: list[tuple[Party, dict[str, list[Any]]]] = [(each, {}) for each in parties(name, world)]
    if name.startswith("common.webhooks."):
        found.append((found[0][0], of_sellers(world)))
    return found


def there_and_back(world: World) -> list[tuple[Step, Step]]:
    """A change, and the one that undoes it or makes another one of it."""
    a, s = world.a, world.s
    free = world.drivers["Free live 1"]
    member = {"account": a.integrator, "membership": a.integrator.memberships.get(role=Role.MEMBER).pk, "by": a.user}
    closed = {"pickup": a.integrator.pickup_points.get(name="Closed")}
    stop = Stop.objects.get(delivery=a.deliveries["collected"], index=0)
    sent, new = s["orders"]["sent"], s["orders"]["new"]
    linked = {"invoice": s["invoice"], "order": sent}
    listed = {"manifest": s["manifest"], "orders": [new]}
    told = {"endpoint": a.endpoint, "late_minutes": 9}
    wanted = {"membership": a.integrator.memberships.get(role=Role.MEMBER), "environment": "live", "language": "en"}

    def values(function: Callable[..., Any], name: str, *pair: Any, **others: Any) -> tuple[Step, Step]:
        first, second = (Step(function, {**others, name: value}) for value in pair)
        return first, second

    def of_both(endpoint: Any, status: str) -> list[tuple[Step, Step]]:
        url = CheckedUrl("http://127.0.0.1:9/elsewhere")
        return [
            values(endpoints.set_enabled, "enabled", False, True, endpoint=endpoint),
            values(endpoints.set_filter, "statuses", [status], [], endpoint=endpoint),
            values(endpoints.store_url, "url", url, CheckedUrl(""), endpoint=endpoint),
        ]

    return [
        *of_both(a.endpoint, "FAILED"),
        *of_both(s["endpoint"], "delivered"),
        values(teams.change_role, "role", Role.OWNER, Role.MEMBER, **member),
        values(teams.change_right, "may_request", False, True, **member),
        values(integrators.set_policy, "policy", OnFailure.RETRY, OnFailure.LEAVE, integrator=a.integrator),
        (Step(integrators.suspend, {"integrator": a.integrator, "reason": "Unpaid"}),
         Step(integrators.lift_suspension, {"integrator": a.integrator})),
        (Step(sellers.suspend, {"seller": s["seller"], "reason": "Unpaid"}),
         Step(sellers.lift_suspension, {"seller": s["seller"]})),
        (Step(pickup_points.activate, {**closed, "by_staff": True}), Step(pickup_points.deactivate, closed)),
        values(tokens.rename, "name", "One", "Other", token=a.token),
        values(keys.rename, "name", "One", "Other", key=s["key"]),
        values(alerts.set_times, "untaken_minutes", 5, 6, **told),
        values(alerts.choose, "wanted", dict.fromkeys(_KINDS, True), dict.fromkeys(_KINDS, False), **wanted),
        (Step(devices.go_off_duty, {"driver": free["driver"]}), Step(devices.go_on_duty, {"device": free["device"]})),
        values(stops.change, "values", {"instructions": "Knock"}, {"instructions": "Ring"}, point="B",
               delivery=a.deliveries["requested"]),
        values(stops.instruct, "answer", OnFailure.LEAVE, OnFailure.RETRY, point="D", instructions=None,
               delivery=a.deliveries["collected"]),
        values(receivers.note, "receives", "Porter", "", stop=stop, hint=""),
        values(sellers.set_receiver_mails, "are_on", True, False, seller=s["seller"]),
        values(carriers.assign, "carrier", None, s["carrier"], orders=[new]),
        (Step(manifests.add, listed), Step(manifests.remove, listed)),
        (Step(invoices.link_by_hand, linked), Step(invoices.unlink_by_hand, {**linked, "text": "Wrong"})),
    ]  # fmt: skip  # a table


def state(rows: Rows) -> Counter[str]:
    """What is so, without when and how often it was changed, and without keys, which a row made anew has not."""
    found: Counter[str] = Counter()
    for (table, _key), text in rows.items():
        if table not in _HISTORY:
            values = {name: value for name, value in json.loads(text).items() if not _NOT_COMPARED.fullmatch(name)}
            found[f"{table} {values}"] += 1
    return found


def history(rows: Rows) -> Counter[str]:
    """How many rows each table of changes has."""
    return Counter(table for table, _key in rows if table in _HISTORY)


def that_write(name: str, world: World) -> Iterator[Again]:
    """Calls that write; of those that write into the same columns the first one."""
    for steps in prepared(world):
        if steps[-1].name == name:
            again = twice(steps[-1].call(world.now), world, *steps[:-1])
            assert again is not None
            yield again
    for party, replaced in of_areas(name, world) if name not in NOT_CALLED else ():
        seen: list[set[str]] = [set()]
        alike = 0
        for call in islice(calls(name, party, replaced), _MOST_TRIED):
            again = twice(call, world)
            if again is None:
                continue
            alike += again.written in seen
            if again.written not in seen:
                seen.append(again.written)
                yield again
            if alike > _MOST_ALIKE:
                break


def that_change() -> list[str]:
    """The actions, but for those that are said to read only, or that record nobody and are called elsewhere."""
    called = {name for name in functions().keys() - NOT_CALLED.keys() if not name.startswith(_THAT_READ)}
    by = {name for name, function in functions().items() if "by" in inspect.signature(function).parameters}
    return sorted((called | by) - ELSEWHERE.keys())


@pytest.mark.parametrize("name", that_change())
def test_changes_nothing_more_the_second_time_and_wakes_a_worker_once_it_has_committed(name: str, world: World) -> None:
    may_change, _reason = AGAIN.get(name, (set(), ""))

    found = [again for again in that_write(name, world) if again.written]

    has_actor = "by" in inspect.signature(functions()[name]).parameters
    assert found or not has_actor, "records who makes a change: add to `prepared` what it changes, or to ELSEWHERE"
    for again in found:
        assert is_documented(again.error) or name in _CHECKED_BY_THE_CALLER, repr(again.error)
        assert again.changed - may_change == set(), f"after {again.written}"
        assert may_change or again.told == [], "tells of what has not changed"
        assert again.early == [] or name in _THAT_COMMIT
        for area in ("delivery", "integration"):
            due = {f"new {area}_webhookevent", f"new {area}_webhookqueueitem", f"{area}_webhookqueueitem.due_at"}
            is_woken = bool(again.woken[f"{area}.webhooks.send_due"])
            assert is_woken == bool(due & again.written) or name in _WOKEN_BY_THE_CALLER, again.written


def test_is_as_after_the_first_when_it_was_changed_there_and_back(world: World) -> None:
    for there, back in there_and_back(world):
        with undone(world), pytest.MonkeyPatch.context() as patch:
            rows = [world.ledger.written()]
            for minute, step in enumerate((there, back, there, there)):
                at = world.now + minute * _LATER
                patch.setattr(timezone, "now", lambda at=at: at)
                is_again = len(rows) == 4  # the last of the four
                error = refusal(bound(step.call(at)))
                assert is_documented(error) if is_again else error is None, f"{step.name}: {error!r}"
                rows.append(world.ledger.written())

        before, first, second, third, repeated = rows
        assert state(first) != state(second), there
        assert state(third) == state(first), there
        assert history(third) - history(second) == history(first) - history(before), there
        assert changes(third, repeated) == set(), there


def test_every_reason_is_of_an_action() -> None:
    assert sorted({*AGAIN, *ELSEWHERE} - functions().keys()) == []
