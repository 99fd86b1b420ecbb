"""Actions that begin while the transaction of another one is open: without its lock, each decides by old rows."""

import json
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage
from django.db import connection
from django.db.models import Q
from django.utils import timezone

from common.webhooks import claims, endpoints, queue, replays
from common.webhooks.endpoints import CheckedUrl
from common.webhooks.http_client import Result
from common.webhooks.replays import Replayed
from common.webhooks.settlement import settle
from common.workers import moments
from config.moments import tables
from delivery.accounts import integrators, pickup_points, tokens
from delivery.actions import deliveries, drivers, forgetting, proofs, schedule, stops, transitions
from delivery.alerts import actions as alerts
from delivery.alerts.models import AlertKind, EndpointAlerts
from delivery.drivers import devices as driver_devices
from delivery.drivers import moves as driver_moves
from delivery.drivers.moves import SentMove
from delivery.geo.position_filter import SentPosition
from delivery.lifecycle import OnFailure, Trigger
from delivery.models import (
    Delivery,
    Driver,
    DriverDevice,
    DriverMove,
    DriverPosition,
    Environment,
    EventState,
    ProofPhoto,
    Token,
    Transition,
    WebhookEndpoint,
    WebhookEvent,
    WebhookQueueItem,
)
from delivery.payload import Options
from delivery.places import addresses
from delivery.places.geocoding import Located, Precision
from delivery.receivers import actions as receivers
from delivery.sandbox import simulated_driver
from delivery.webhooks.outbox import OUTBOX
from tests.common.webhooks.settling import NOW as WHEN_DUE
from tests.common.webhooks.settling import OK, REFUSED, claim
from tests.delivery.drivers.browsers import Browser
from tests.delivery.locking import without_waiting
from tests.delivery.personal_data import JOAO, MARIA, closed, forget_driver
from tests.delivery.proofs import asking_for
from tests.delivery.scheduled import scheduled
from tests.factories import (
    BY,
    DROPOFFS,
    PICKUP,
    DeliveryFactory,
    DriverFactory,
    PickupPointFactory,
    TokenFactory,
    add_endpoint,
)
from tests.overlapping import overlap

pytestmark = pytest.mark.django_db(transaction=True)
NOW = timezone.now()
BEFORE = NOW - timedelta(hours=1)


def do(action, delivery, **arguments):
    return partial(action, delivery=delivery, **{"by": BY, "at": timezone.now(), **arguments})


def phone_of(driver):
    token = driver_devices.issue_link(driver=driver, by=BY, at=NOW)
    device, _session = driver_devices.log_in(token=token, phone="", language="en", at=NOW)
    return device


def sent_move(delivery, *, number=None, trigger=Trigger.COLLECT):
    return SentMove(id=number or uuid4(), delivery=delivery.pk, trigger=trigger, made_at=NOW)


def live_endpoint(url="http://127.0.0.1:9/hook"):
    """An endpoint that nobody listens at, of an account with a token."""
    found = TokenFactory.create().integrator.endpoints.get(environment="live")
    return endpoints.set_url(endpoint=found, url=url, by=BY, at=NOW)


def name_of(result):
    return type(result).__name__


class TestPickupPoint:
    @pytest.mark.parametrize(
        ("action", "arguments"),
        [
            (pickup_points.change, {"name": "New", "point": DROPOFFS[0], "by_staff": False}),
            (pickup_points.activate, {"by_staff": False}),
            (pickup_points.deactivate, {}),
            (pickup_points.remove, {}),
        ],
    )
    def test_that_has_just_been_removed_is_not_changed(self, action, arguments):
        point = PickupPointFactory.create(active=action is not pickup_points.activate)
        change = partial(action, pickup=point, by=BY, at=NOW, **arguments)

        _removed, refused = overlap(partial(pickup_points.remove, pickup=point, by=BY, at=NOW), change)

        assert name_of(refused) == "PointChanged"


class TestMoveOfADelivery:
    def test_is_compared_with_the_one_before_it(self):
        first, second = DriverFactory.create_batch(2)
        offered = [DeliveryFactory.create() for _route in range(4)]
        accepted = [DeliveryFactory.create(accepted=True) for _route in range(3)]
        collected = [DeliveryFactory.create(collected=True) for _route in range(3)]
        tried = asking_for(Options(on_failure=OnFailure.RETRY), collected=True)
        deliveries.fail(delivery=tried, point="B", reason="closed", by=BY, at=NOW)
        sandbox = DeliveryFactory.create(token=TokenFactory.create(sandbox=True))
        returning = DeliveryFactory.create(collected=True)
        deliveries.cancel(delivery=returning, reason="", by=BY, at=NOW)
        opened = [DeliveryFactory.create(accepted=True, at=BEFORE) for _route in range(3)]
        for each in opened[:2]:
            deliveries.cancel(delivery=each, reason="", by=BY, at=NOW)
        goods_out = partial(do, deliveries.open_again, point="", made_at=NOW)
        goods_out(opened[1])()
        sent = SentMove(uuid4(), opened[2].pk, Trigger.COLLECT, BEFORE)
        at_b = partial(do, point="B")
        of_nobody = partial(do, driver=None)
        pairs = {
            "accept": (do(deliveries.accept, offered[0], driver=first), of_nobody(deliveries.accept, offered[0])),
            "cancel": (do(deliveries.accept, offered[1], driver=second), do(deliveries.cancel, offered[1], reason="")),
            "cancel again": (
                do(deliveries.cancel, offered[3], reason="first"),
                do(deliveries.cancel, offered[3], reason=""),
            ),
            "expire": (
                of_nobody(deliveries.accept, offered[2]),
                do(deliveries.expire, offered[2], at=offered[2].offer_expires_at),
            ),
            "expire_early": (of_nobody(simulations_accept, sandbox), do(deliveries.expire_early, sandbox)),
            "release": (do(deliveries.release, accepted[0]), do(deliveries.release, accepted[0])),
            "reassign": (do(deliveries.release, accepted[1]), of_nobody(deliveries.reassign, accepted[1])),
            "collect": (do(deliveries.release, accepted[2]), do(deliveries.collect, accepted[2])),
            "deliver": (
                at_b(deliveries.deliver, collected[0]),
                at_b(deliveries.deliver, collected[0]),
            ),
            "fail": (
                at_b(deliveries.deliver, collected[1]),
                at_b(deliveries.fail, collected[1], reason="closed"),
            ),
            "open_again": (goods_out(opened[0]), goods_out(opened[0])),
            "charge": (do(deliveries.charge, opened[1]), do(deliveries.charge, opened[1])),
            "collection before the cancellation": (
                do(deliveries.cancel, opened[2], reason=""),
                partial(driver_moves.perform, driver=opened[2].driver, sent=sent, at=NOW),
            ),
            "return_": (do(deliveries.return_, returning), do(deliveries.return_, returning)),
            "change of a stop": (
                at_b(deliveries.deliver, collected[2]),
                at_b(stops.change, collected[2], values={"contact_name": "Ana"}),
            ),
            "answer to a failure": (
                at_b(deliveries.deliver, tried),
                at_b(stops.instruct, tried, answer=OnFailure.RETURN, instructions=None),
            ),
        }
        # Whom a move without a lock would take. Nearest, so that nobody is taken whose cancelled route opens again.
        DriverFactory.create_batch(3, at_point=PICKUP)

        found = {name: overlap(*pair)[1] for name, pair in pairs.items()}

        assert (found["cancel"].driver, found["cancel"].route_status) == (second, "CANCELLED")
        assert json.loads(found["cancel"].events.latest("sequence").body)["driver"]["name"] == second.name
        assert found["cancel again"].cancel_reason == "first"
        assert found["expire"].route_status == "ACCEPTED"
        opened[2].refresh_from_db()
        assert (opened[2].route_status, opened[2].fee_before_pickup) == ("RETURNING", True)
        assert {name: name_of(result) for name, result in found.items()} == {
            "accept": "RouteTaken",
            "cancel": "Delivery",
            "cancel again": "Delivery",
            "expire": "Delivery",
            "expire_early": "MoveRefused",
            "release": "MoveRefused",
            "reassign": "MoveRefused",
            "collect": "MoveRefused",
            "deliver": "StopNotOpen",
            "fail": "StopNotOpen",
            "open_again": "MoveRefused",
            "charge": "MoveRefused",
            "collection before the cancellation": "DriverMove",
            "return_": "MoveRefused",
            "change of a stop": "StopHasEnded",
            "answer to a failure": "NothingToDecide",
        }

    def test_is_not_counted_by_an_expiry_of_all_that_waited_for_it(self):
        delivery, driver = DeliveryFactory.create(), DriverFactory.create()

        _accepted, expired = overlap(
            do(deliveries.accept, delivery, driver=driver),
            partial(deliveries.expire_overdue, at=delivery.offer_expires_at),
        )

        delivery.refresh_from_db()
        assert (expired, delivery.route_status, delivery.events.count()) == (0, "ACCEPTED", 2)

    def test_of_an_acceptance_keeps_its_stops(self):
        delivery = DeliveryFactory.create(stops=2)
        DriverFactory.create()
        further = delivery.stops.last()
        further.pk, further.index = None, 2

        _accepted, error = overlap(
            do(deliveries.accept, delivery, driver=None), partial(further.save, force_insert=True)
        )

        assert "the stops of an accepted route cannot change" in str(error)
        assert delivery.stops.count() == 2


class TestScheduledOffer:
    def test_is_made_by_one_of_two_workers(self):
        delivery = scheduled(timedelta(hours=2), at=NOW)
        at = NOW + timedelta(hours=2)

        offered, also = overlap(*[partial(schedule.offer_due, at=at)] * 2)

        assert (offered, also) == (1, 0)
        assert delivery.transitions.filter(trigger="offer").count() == 1

    def test_is_not_made_of_a_route_that_has_just_been_cancelled(self):
        delivery, other = [scheduled(timedelta(hours=2), at=NOW) for _number in range(2)]

        _cancelled, offered, of_other = overlap(
            do(deliveries.cancel, delivery, reason=""),
            partial(schedule.offer_due, at=NOW + timedelta(hours=2)),
            then=lambda: Delivery.objects.get(pk=other.pk).route_status,
        )

        assert (offered, of_other) == (1, "AVAILABLE")  # the other one did not wait for the lock
        assert Delivery.objects.get(pk=delivery.pk).route_status == "CANCELLED"


def simulations_accept(*, delivery, driver, by, at):
    return simulated_driver.accept(delivery=delivery, by=by, at=at)


class TestClaimOfADriver:
    def test_sees_the_route_that_the_driver_has_just_taken(self):
        routes, driver = [DeliveryFactory.create() for _route in range(2)], DriverFactory.create()

        _accepted, refused = overlap(*(do(deliveries.accept, route, driver=driver) for route in routes))

        assert name_of(refused) == "DriverHasOpenRoute"

    def test_passes_over_a_driver_who_is_being_claimed(self):
        routes = [DeliveryFactory.create() for _route in range(2)]
        nearest, other = DriverFactory.create(at_point=PICKUP), DriverFactory.create()
        accept_first, accept_second = (do(deliveries.accept, route, driver=None) for route in routes)

        taken, passed = overlap(accept_first, partial(without_waiting, accept_second))

        assert (taken.driver, passed.driver) == (nearest, other)

    def test_by_the_simulator_comes_after_the_lock_of_the_delivery(self):
        """As in every acceptance; in the other order the two could deadlock."""
        delivery = DeliveryFactory.create(token=TokenFactory.create(sandbox=True))
        driver = DriverFactory.create(environment="sandbox", simulated_for=delivery.integrator)

        _locked, refused, accepted = overlap(
            lambda: transitions.lock(delivery),
            do(simulated_driver.accept, delivery),
            then=do(deliveries.accept, delivery, driver=driver),
        )

        assert (name_of(refused), accepted.driver) == ("RouteTaken", driver)


class TestCorrectionOfMoments:
    def test_passes_over_rows_that_are_being_changed(self):
        ahead = DeliveryFactory.create(at=timezone.now() + timedelta(hours=3))
        table = next(table for table in tables() if table.model is Delivery)
        correct = partial(moments.correct, table, at=timezone.now())

        _locked, changed = overlap(lambda: transitions.lock(ahead), partial(without_waiting, correct))

        assert changed == 0
        assert correct() == 1


class TestReportOfAMove:
    def test_sees_that_the_route_has_just_passed_to_another_driver(self):
        delivery, bia = DeliveryFactory.create(accepted=True, at=BEFORE), DriverFactory.create()
        perform = partial(driver_moves.perform, driver=delivery.driver, sent=sent_move(delivery), at=NOW)

        _reassigned, move = overlap(do(deliveries.reassign, delivery, driver=bia), perform)

        assert move.refusal == "goods_in_hand"
        assert not Transition.objects.filter(trigger="collect").exists()

    def test_is_made_once_by_two_phones(self):
        delivery = DeliveryFactory.create(accepted=True, at=BEFORE)
        same = sent_move(delivery)

        def perform(sent):
            return partial(driver_moves.perform, driver=delivery.driver, sent=sent, at=NOW)

        first, again = overlap(perform(same), perform(same))
        delivered, refused = overlap(
            *(perform(replace(sent_move(delivery, trigger=Trigger.DELIVER), point="B")) for _phone in range(2))
        )

        assert first == again
        assert (delivered.refusal, refused.refusal) == ("", "stop_not_open")
        assert list(Transition.objects.values_list("trigger", flat=True).order_by("pk"))[2:] == ["collect", "deliver"]

    def test_is_made_once_although_it_is_sent_again_for_another_delivery(self):
        delivery, other = (DeliveryFactory.create(accepted=True, at=BEFORE) for _route in range(2))
        number = uuid4()
        perform = partial(driver_moves.perform, driver=delivery.driver, at=NOW)

        first, again = overlap(
            partial(perform, sent=sent_move(delivery, number=number)),
            partial(perform, sent=sent_move(other, number=number)),
        )

        assert first == again == DriverMove.objects.get()


class TestReportOfPositions:
    @pytest.mark.parametrize("seen_before", [0, 1])
    def test_is_compared_with_the_one_before_it(self, seen_before):
        driver = DriverFactory.create(**({"at_point": PICKUP, "at_point__age": 3600} if seen_before else {}))
        device = phone_of(driver)
        driver_devices.go_on_duty(device=device)
        device = DriverDevice.objects.select_related("driver").get()
        record = partial(driver_devices.receive_positions, device=device, sent=[SentPosition(PICKUP, NOW, 8.0)], at=NOW)

        assert overlap(record, record)[0] == Counter()

        assert DriverPosition.objects.count() == seen_before + 1


class TestDuty:
    def test_is_reported_by_the_last_phone_only(self):
        driver = DriverFactory.create()
        first, second = phone_of(driver), phone_of(driver)

        overlap(*(partial(driver_devices.go_on_duty, device=device) for device in (first, second)))

        assert DriverDevice.objects.get(reports_positions=True) == second

    def test_is_reported_by_the_first_of_two_phones_that_begin(self):
        driver = DriverFactory.create()
        first, second = phone_of(driver), phone_of(driver)
        begin = partial(driver_devices.permit_positions, at=NOW)

        _sent, refused = overlap(partial(begin, device=first), partial(begin, device=second))

        assert name_of(refused) == "OtherPhoneSends"
        assert DriverDevice.objects.get(reports_positions=True) == first

    def test_does_not_end_for_a_driver_who_has_just_taken_a_route(self):
        leaving, logging_out = DriverFactory.create_batch(2)
        device = phone_of(logging_out)
        driver_devices.go_on_duty(device=device)
        accept = partial(do, deliveries.accept)

        _accepted, refused = overlap(
            accept(DeliveryFactory.create(), driver=leaving), partial(driver_devices.go_off_duty, driver=leaving)
        )
        _accepted, ended = overlap(
            accept(DeliveryFactory.create(), driver=logging_out),
            partial(driver_devices.end, device=device, by=BY, at=NOW),
        )

        assert (name_of(refused), ended) == ("RouteStillOpen", None)
        assert Driver.objects.filter(on_duty=True).count() == 2


class TestDriver:
    def test_keeps_the_vehicle_of_a_route_that_has_just_been_taken(self):
        driver, delivery = DriverFactory.create(), DeliveryFactory.create()
        changed = Driver.objects.get()
        changed.vehicle_type = "CAR"

        _accepted, refused = overlap(
            do(deliveries.accept, delivery, driver=driver), partial(drivers.save, driver=changed, by=BY, at=NOW)
        )

        assert name_of(refused) == "RouteStillOpen"
        assert Driver.objects.get().vehicle_type == "MOTORCYCLE"


class TestAccount:
    def test_is_audited_once_for_the_same_change(self):
        account = TokenFactory.create().integrator
        account.allow_any_pickup = True
        allow = partial(integrators.change, integrator=account, by=BY, at=NOW)

        overlap(allow, allow)

        assert account.audit.filter(action="any_pickup_allowed").count() == len(Environment)

    def test_has_its_policy_audited_once(self):
        account = TokenFactory.create().integrator
        decide = partial(integrators.set_policy, integrator=account, policy=OnFailure.RETRY, by=BY, at=NOW)

        overlap(decide, decide)

        assert account.audit.filter(action="policy_set").count() == len(Environment)


class TestRotationOfAToken:
    def test_sees_that_it_has_just_been_revoked(self):
        token = TokenFactory.create()

        _revoked, refused = overlap(
            partial(tokens.revoke, token=Token.objects.get(), by=BY, at=NOW),
            partial(tokens.rotate, token=token, by=BY, at=NOW),
        )

        assert name_of(refused) == "TokenEnded"
        assert Token.objects.count() == 1


class TestEndpoint:
    def test_keeps_what_the_change_before_has_written(self, monkeypatch):
        monkeypatch.setattr(endpoints, "TESTS_PER_HOUR", 1)
        first, second = live_endpoint(), live_endpoint()
        url = endpoints.check_url("http://127.0.0.1:9/new", of=None)
        change = partial(partial, by=BY, at=NOW)
        set_first, set_second = (change(endpoints.store_url, endpoint=each, url=url) for each in (first, second))
        off_first, off_second = (
            change(endpoints.set_enabled, endpoint=each, enabled=False) for each in (first, second)
        )
        test, rotate = (change(action, endpoint=first) for action in (endpoints.send_test, endpoints.rotate_secret))

        overlap(set_first, off_first)
        overlap(off_second, set_second)

        assert set(WebhookEndpoint.objects.exclude(url="").values_list("url", "enabled")) == {(url.text, False)}
        endpoints.set_enabled(endpoint=first, enabled=True, by=BY, at=NOW)
        assert [name_of(overlap(call, call)[1]) for call in (test, rotate)] == [
            "EndpointCannotSend",
            "SecretRotatedLately",
        ]

    def test_has_its_secret_replaced_by_a_set_up_after_another_has_just_done_so(self):
        again = partial(endpoints.set_up, endpoint=live_endpoint(), url=None, new_secret=True, by=BY, at=NOW)

        (_one, first), (stored, second) = overlap(again, again)

        stored.refresh_from_db()
        assert first != second
        assert stored.secrets(at=NOW) == [second, first]

    def test_gets_a_number_of_its_own_beside_one_that_is_being_added(self):
        first = live_endpoint()
        add = partial(endpoints.add, beside=first, statuses=[], by=BY, at=NOW)
        both = (partial(add, url=CheckedUrl(f"http://127.0.0.1:9/{name}")) for name in ("one", "other"))

        assert [endpoint.number for endpoint in overlap(*both)] == [2, 3]

    def test_that_has_just_been_removed_is_not_changed(self):
        first = live_endpoint()
        added = partial(endpoints.add, beside=first, statuses=[], by=BY, at=NOW)
        once, filtered = (added(url=CheckedUrl(f"http://127.0.0.1:9/{name}")) for name in ("once", "filtered"))
        remove = partial(partial, endpoints.remove, by=BY, at=NOW)

        _removed, again = overlap(remove(endpoint=once), remove(endpoint=once))
        _other, changed = overlap(
            remove(endpoint=filtered),
            partial(endpoints.set_filter, endpoint=filtered, statuses=["FAILED"], by=BY, at=NOW),
        )

        assert [name_of(again), name_of(changed)] == ["DoesNotExist"] * 2
        assert not WebhookEndpoint.objects.exclude(statuses=[]).exists()

    def test_that_sends_what_waits_locks_it_before_itself_as_replays_do(self):
        endpoint = live_endpoint()
        delivery = DeliveryFactory.create(token=endpoint.integrator.tokens.get())
        WebhookQueueItem.objects.update(due_at=timezone.now() + timedelta(hours=1))
        rows = WebhookEndpoint.objects.filter(pk=endpoint.pk)
        lock_endpoint = partial(without_waiting, rows.select_for_update(no_key=True).get)
        change = partial(partial, endpoint=endpoint, by=BY, at=timezone.now())

        for action in (
            change(endpoints.store_url, url=CheckedUrl("http://127.0.0.1:9/new")),
            change(endpoints.set_enabled, enabled=True),
        ):
            outcomes = overlap(partial(lock_item, delivery, endpoint), action, then=lock_endpoint)

            assert [outcome for outcome in outcomes if isinstance(outcome, Exception)] == []

    def test_counts_the_failures_of_two_batches(self):
        endpoint = live_endpoint()
        for _number in range(2):
            DeliveryFactory.create(token=endpoint.integrator.tokens.get())
        refused = [[(claimed, Result(**REFUSED, at=WHEN_DUE))] for claimed in claim(at=WHEN_DUE).values()]

        overlap(*(partial(settle, OUTBOX, outcomes, at=WHEN_DUE) for outcomes in refused))

        endpoint.refresh_from_db()
        assert endpoint.failures == 2


class TestAlerts:
    @staticmethod
    def failing_endpoint(**reported):
        endpoint = live_endpoint()
        EndpointAlerts.objects.create(endpoint=endpoint, **reported)
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(failures=5, failing_since=NOW)
        return endpoint

    def test_about_a_change_are_reported_once_without_waiting(self):
        self.failing_endpoint()
        tell_changes = partial(alerts.tell_changes, at=NOW)

        assert overlap(tell_changes, partial(without_waiting, tell_changes)) == [1, 0]

    def test_keep_what_was_reported_while_their_url_is_set(self):
        endpoint = self.failing_endpoint()

        overlap(
            partial(alerts.tell_changes, at=NOW),
            partial(alerts.set_url, endpoint=endpoint, url="http://127.0.0.1:9/alerts", language="en", by=BY, at=NOW),
        )

        assert EndpointAlerts.objects.get().reported == AlertKind.FAILING
        assert EndpointAlerts.objects.get().url_host == "127.0.0.1:9"

    def test_are_tried_no_more_often_than_allowed(self, monkeypatch, mailbox):
        monkeypatch.setattr(alerts, "TESTS_PER_HOUR", 1)
        endpoint = self.failing_endpoint()
        test = partial(alerts.send_test, endpoint=endpoint, email="ana@example.com", language="en", by=BY, at=NOW)

        assert [name_of(result) for result in overlap(test, test)] == ["NoneType", "EndpointCannotSend"]

    def test_of_a_day_are_recorded_once_without_waiting(self):
        self.failing_endpoint(url_ciphertext="x")
        record_digests = partial(alerts.record_digests, at=timezone.localtime(NOW).replace(hour=9))

        assert overlap(record_digests, partial(without_waiting, record_digests)) == [1, 0]


def two_endpoints():
    """Two endpoints of an account, in the order in which a change locks their items."""
    first = live_endpoint()
    return first, add_endpoint(first.integrator.tokens.get(), url=f"{first.url}/2")


def lock_item(delivery, endpoint):
    """Lock the item as the change of a delivery does that has locked those of the endpoints before this one."""
    WebhookQueueItem.objects.select_for_update().get(delivery=delivery, endpoint=endpoint)


class TestSettlement:
    def test_of_an_endpoint_that_recovers_waits_for_its_items_without_a_lock_of_others(self):
        first, second = two_endpoints()
        token = first.integrator.tokens.get()
        probe, waiting = DeliveryFactory.create(token=token), DeliveryFactory.create(token=token)
        claimed = claim(at=WHEN_DUE)
        WebhookQueueItem.objects.filter(delivery=waiting, endpoint=first).update(lease=None)
        WebhookEndpoint.objects.filter(pk=first.pk).update(failures=5, failing_since=NOW)
        outcomes = [
            (claimed[probe.events.get(endpoint=first).pk], Result(**OK, at=WHEN_DUE)),
            (claimed[waiting.events.get(endpoint=second).pk], Result(**REFUSED, at=WHEN_DUE)),
        ]

        results = overlap(
            partial(lock_item, waiting, first),
            partial(settle, OUTBOX, outcomes, at=WHEN_DUE),
            then=partial(lock_item, waiting, second),
        )

        assert results == [None, [], None]
        assert WebhookQueueItem.objects.get(delivery=waiting, endpoint=first).due_at == WHEN_DUE


class TestReplay:
    def test_sends_an_event_again_once(self):
        event = self.sent(live_endpoint())

        first, second = overlap(self.replay(event), self.replay(event))

        assert (first, second.again) == (Replayed(again=1), 0)

    def test_leaves_what_a_worker_has_just_claimed(self):
        endpoint = live_endpoint()
        event = DeliveryFactory.create(token=endpoint.integrator.tokens.get()).events.get()
        at = timezone.now()

        claimed, replayed = overlap(
            partial(claims.claim, OUTBOX, lease=uuid4(), at=at, limit=1), self.replay(event, at=at, ahead=True)
        )

        assert replayed == Replayed(in_flight=1)
        item = WebhookQueueItem.objects.get()
        assert ((item.pk, item.lease), item.due_at) == (claimed[0].key, at + claims.LEASE)

    def test_keeps_what_the_breaker_has_just_counted(self):
        endpoint = live_endpoint()
        event = self.sent(endpoint)
        breaker = WebhookEndpoint.objects.filter(pk=endpoint.pk)
        breaker.update(failures=7, failing_since=NOW, paused_until=timezone.now() + timedelta(hours=1))

        overlap(partial(breaker.update, failures=8), self.replay(event))

        endpoint.refresh_from_db()
        assert endpoint.failures == 8

    def test_keeps_a_worker_from_ending_the_item_of_a_move_made_meanwhile(self, at_once, monkeypatch):
        endpoint, add_again = live_endpoint(), queue.add_again
        claimed: list[Any] = []
        token = endpoint.integrator.tokens.get()
        event = self.sent(endpoint, delivery := DeliveryFactory.create(token=token, stops=1))
        driver = DriverFactory.create()

        def move_first(*args, **moments):
            at_once(do(deliveries.accept, delivery, driver=driver))
            at_once(lambda: claimed.extend((each, Result(**OK)) for each in claim(at=WHEN_DUE).values()))
            add_again(*args, **moments)
            blocked.extend(at_once(partial(settle, OUTBOX, claimed, at=WHEN_DUE)))

        blocked: list[object] = []
        monkeypatch.setattr(queue, "add_again", move_first)

        self.replay(event)()

        assert blocked == [claimed]
        settle(OUTBOX, claimed, at=WHEN_DUE)
        assert WebhookQueueItem.objects.get().event == event

    def test_of_two_endpoints_waits_at_one_without_a_lock_of_the_other(self):
        first, second = two_endpoints()
        delivery = DeliveryFactory.create(token=first.integrator.tokens.get(), collected=True)
        ended, later = delivery.events.filter(endpoint=first).order_by("sequence")[:2]
        WebhookQueueItem.objects.filter(endpoint=first).delete()
        delivery.events.filter(pk=ended.pk).update(state=EventState.SENT)
        chosen = delivery.events.filter(Q(pk=ended.pk) | Q(endpoint=second))

        outcomes = overlap(
            partial(queue.add, OUTBOX, later, due_at=NOW),
            partial(replays.replay, events=chosen, by=BY, at=NOW),
            then=partial(lock_item, delivery, second),
        )

        assert [outcome for outcome in outcomes if isinstance(outcome, Exception)] == []

    @staticmethod
    def sent(endpoint, delivery=None):
        delivery = delivery or DeliveryFactory.create(token=endpoint.integrator.tokens.get())
        event = delivery.events.get()
        WebhookEvent.objects.update(state=EventState.SENT)
        WebhookQueueItem.objects.all().delete()
        return event

    @staticmethod
    def replay(event, *, at=None, ahead=False):
        chosen = WebhookEvent.objects.filter(pk=event.pk)
        return partial(replays.replay, events=chosen, by=BY, at=at or timezone.now(), ahead=ahead)


class TestForgetting:
    def test_of_two_people_of_a_route_leaves_neither_in_its_events(self):
        both = closed(MARIA, JOAO, at=BEFORE)
        forget_maria, forget_joao = (
            partial(forgetting.forget_stops_of, phone, until=NOW, at=NOW) for phone in (MARIA, JOAO)
        )

        overlap(forget_maria, forget_joao)
        other = closed(MARIA, at=BEFORE)
        Driver.objects.filter(pk=other.driver_id).update(active=False)
        overlap(forget_maria, partial(forget_driver, other.driver.phone))

        of_both, of_other = ("".join(route.events.values_list("body", flat=True)) for route in (both, other))
        assert "Rua Um" not in of_both
        assert [text for text in ("Rua Um", other.driver.name) if text in of_other] == []

    def test_deletes_a_photo_that_is_being_added(self, photo_folder, monkeypatch):
        delete, in_transaction = FileSystemStorage.delete, []

        def noting(files, name):
            in_transaction.append(connection.in_atomic_block)
            delete(files, name)

        monkeypatch.setattr(FileSystemStorage, "delete", noting)
        ended = closed(MARIA, at=BEFORE)
        photo = ProofPhoto(
            stop=ended.stops.get(), driver=ended.driver, upload=uuid4(), width=1, height=1, size=1,
            taken_at=NOW, received_at=NOW,
        )  # fmt: skip  # columns
        proofs.files().save(photo.name, ContentFile(b"x"))

        overlap(
            partial(proofs._insert, photo, at=NOW),
            partial(forgetting.forget_stops_of, MARIA, until=NOW, at=NOW),
        )

        assert not ProofPhoto.objects.exists()
        assert [path for path in photo_folder.rglob("*") if path.is_file()] == []
        assert in_transaction == [False]  # the storage may be reached by HTTP

    def test_leaves_a_driver_who_has_just_been_made_active(self):
        driver = DriverFactory.create(phone=MARIA, name="Maria", active=False)
        rows = Driver.objects.filter(pk=driver.pk)

        assert overlap(partial(rows.update, active=True), partial(forget_driver, MARIA)) == [1, 0]

        assert rows.get().name == "Maria"


class TestFirstRow:
    def test_is_written_once_by_two_that_find_none(self, mailbox):
        endpoint, alerted, reported, timed = (live_endpoint() for _account in range(4))
        membership = endpoint.integrator.memberships.create(user=User.objects.create_user("ana"))
        WebhookEndpoint.objects.filter(pk=reported.pk).update(failures=5, failing_since=NOW)
        device = phone_of(DriverFactory.create())
        stops = list(DeliveryFactory.create().stops.all())
        wanted = dict.fromkeys(("failing", "off", "recovered", "digest"), True)
        subscription = Browser("http://127.0.0.1:9/push").subscription
        calls: dict[str, partial[Any]] = {
            "choice": partial(alerts.choose, membership=membership, environment="live", wanted=wanted, language="en"),
            "alerts": partial(
                alerts.send_test, endpoint=alerted, email="ana@example.com", language="en", by=BY, at=NOW
            ),
            "times": partial(alerts.set_times, endpoint=timed, untaken_minutes=5, late_minutes=5, by=BY, at=NOW),
            "report": partial(alerts.tell_changes, at=NOW),
            "digest": partial(alerts.record_digests, at=timezone.localtime(NOW).replace(hour=9)),
            "subscription": partial(driver_devices.subscribe, device=device, **subscription, at=NOW),
            "links": partial(receivers.addresses, stops, at=NOW),
            "place": partial(addresses._remember, {b"d" * 32: Located(PICKUP, Precision.ROOFTOP)}, at=NOW),
        }

        found = {name: overlap(call, call) for name, call in calls.items()}

        assert {name: [name_of(result) for result in results] for name, results in found.items()} == {
            "choice": ["NoneType"] * 2,
            "alerts": ["NoneType"] * 2,
            "times": ["NoneType"] * 2,
            "report": ["int"] * 2,
            "digest": ["int"] * 2,
            "subscription": ["NoneType"] * 2,
            "links": ["dict"] * 2,
            "place": ["NoneType"] * 2,
        }
        assert found["links"][0] == found["links"][1]
        assert found["report"] == [1, 0]
