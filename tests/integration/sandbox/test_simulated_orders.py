"""Test orders that a simulated carrier moves, also those that people take over, and steps that fail."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from common.accounts import Environment
from common.webhooks import endpoints
from common.workers import wake_up
from integration import task_names
from integration.actions import orders
from integration.lifecycle import Status
from integration.manifests import actions as manifests
from integration.models import Order, Simulation, WebhookEndpoint
from integration.sandbox import simulated_carrier
from tests.integration.factories import create_order, load_tariff

WAY = ["pending", "collected", "in_transit", "out_for_delivery"]


def simulated(seller, code="A-1", *, speed=1.0):
    return create_order(seller, Environment.SANDBOX, simulation_speed=speed, orderId=code)


def advance(*, until=None):
    """Advance all simulations at the moments at which they fall due."""
    while (due_at := Simulation.objects.next_due()) is not None and (until is None or due_at <= until):
        assert simulated_carrier.advance_due(at=due_at)


def statuses(order):
    return [entry.status for entry in order.status_log.all()]


def seconds(order):
    return [round((entry.created_at - order.created_at).total_seconds(), 2) for entry in order.status_log.all()]


class TestSimulation:
    def test_delivers_in_two_minutes(self, seller):
        order = simulated(seller)

        advance()

        assert (statuses(order), seconds(order)) == ([*WAY, "delivered"], [0, 15, 45, 80, 120])
        assert {entry.by for entry in order.status_log.all()[1:]} == {"simulated carrier"}
        assert [bool(entry.place) for entry in order.status_log.all()] == [False, False, True, True, False]
        assert not Simulation.objects.exists()

    def test_tells_the_endpoint_of_the_sandbox_of_each_move_and_that_of_live_orders_of_none(self, seller):
        sandbox, live = (
            endpoints.create(WebhookEndpoint, owner=seller.pk, environment=each, url="http://127.0.0.1:9/hook")
            for each in (Environment.SANDBOX, Environment.LIVE)
        )
        simulated(seller)

        advance()

        told = sandbox.events.order_by("sequence").values_list("name", flat=True)
        assert list(told) == [*WAY, "delivered"]
        assert not live.events.exists()

    def test_wakes_a_worker_once_it_is_committed(self, seller, monkeypatch, django_capture_on_commit_callbacks):
        woken = []
        monkeypatch.setattr(wake_up, "send", lambda task, **_messages: woken.append(task))

        with django_capture_on_commit_callbacks(execute=True):
            simulated(seller)
            before = [*woken]

        assert (before, woken) == ([], [task_names.ADVANCE_SIMULATIONS])

    def test_is_as_fast_as_was_asked_for(self, seller):
        order = simulated(seller, speed=20)

        advance()

        assert seconds(order) == [0, 0.75, 2.25, 4, 6]

    @pytest.mark.parametrize(
        ("code", "ends", "reasons"),
        [
            ("sim-fail-1", ["delivery_failed"], ["ABSENT"]),
            ("sim-return-1", ["delivery_failed", "returned"], ["ABSENT", "ABSENT"]),
            ("sim-lost-1", [], []),
        ],
    )
    def test_ends_as_the_order_id_asks(self, seller, code, ends, reasons):
        order = simulated(seller, code)

        advance()

        assert statuses(order) == (WAY[:3] if code == "sim-lost-1" else [*WAY, *ends])
        assert [entry.reason_code for entry in order.status_log.all() if entry.reason_code] == reasons
        assert [entry.reason[:14] for entry in order.status_log.all() if entry.reason] == ["Falha simulada"] * len(
            reasons
        )
        assert not Simulation.objects.exists()

    def test_waits_for_the_manifest_and_then_delivers(self, seller, monkeypatch, django_capture_on_commit_callbacks):
        woken = []
        monkeypatch.setattr(wake_up, "send", lambda task, **_messages: woken.append(task))
        order, usual, left_out = (
            simulated(seller, code, speed=20) for code in ("sim-manifest-1", "sim-manual-1", "sim-manifest-2")
        )
        advance()
        assert [statuses(each) for each in (order, usual, left_out)] == [["pending"]] * 3
        plain = simulated(seller)
        handed_over = manifests.create(
            seller=seller, environment=Environment.SANDBOX, orders=[order, usual, plain], by="x", at=order.created_at
        )
        closed_at = order.created_at + timedelta(hours=1)

        with django_capture_on_commit_callbacks(execute=True):
            manifests.close(manifest=handed_over, by="x", at=closed_at)
        advance()

        assert woken == [task_names.ADVANCE_SIMULATIONS]
        assert (statuses(order), seconds(order)) == ([*WAY, "delivered"], [0, 3600, 3601.5, 3603.25, 3605.25])
        assert [entry.by for entry in order.status_log.all()][1:3] == ["x", "simulated carrier"]
        assert [statuses(each) for each in (usual, plain, left_out)] == [WAY[:2], WAY[:2], ["pending"]]
        assert [each.order_id for each in Simulation.objects.all()] == [left_out.pk]

    def test_is_left_alone_that_waited_for_a_manifest_and_was_moved_by_hand(self, seller):
        order = simulated(seller, "sim-manifest-1")

        orders.move(order=order, to=Status.COLLECTED, by="x", at=timezone.now())

        assert not Simulation.objects.exists()

    def test_is_none_for_manual_and_for_live_orders(self, seller):
        simulated(seller, "sim-manual-1")
        create_order(seller, Environment.LIVE)

        assert not Simulation.objects.exists()

    @pytest.mark.parametrize("to", ["cancelled", "in_transit"])
    def test_leaves_an_order_that_somebody_else_moves(self, seller, to):
        order = simulated(seller)
        advance(until=order.created_at + timedelta(seconds=20))

        orders.move(order=order, to=Status(to), by="user", at=timezone.now())
        advance()

        assert statuses(order) == ["pending", "collected", to]

    def test_takes_turns_between_sellers(self, seller, other_seller):
        many = [simulated(seller, f"A-{number}") for number in range(3)]
        one = create_order(other_seller, Environment.SANDBOX, simulation_speed=1.0, company_document="12ABC34501DE35")

        advanced = simulated_carrier.advance_due(at=one.created_at + timedelta(seconds=16))

        assert advanced == 2
        assert len(statuses(one)) == 2
        assert [len(statuses(order)) for order in many] == [2, 1, 1]  # the one that is due for longest


class TestAStepThatFails:
    def test_is_repeated_after_twice_as_long_each_time_up_to_four_minutes(self, seller):
        row, at, pauses = Simulation.objects.get(pk=simulated(seller).pk), timezone.now(), []
        for _failure in range(10):
            row.postpone(at=at)
            row.refresh_from_db()
            assert row.due_at is not None
            pauses.append((row.due_at - at).total_seconds())

        assert pauses == [1, 2, 4, 8, 16, 32, 64, 128, 256, 256]

    def test_is_rolled_back_logged_and_repeated_while_others_go_on(self, seller, caplog):
        broken, sound = simulated(seller, "A-1"), simulated(seller, "A-2")
        with connection.cursor() as cursor:
            cursor.execute(
                f"""CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
                        $$ BEGIN RAISE EXCEPTION 'refused by the test'; END $$;
                    CREATE TRIGGER refuse BEFORE INSERT ON integration_statuslog
                        FOR EACH ROW WHEN (NEW.order_id = {broken.pk}) EXECUTE FUNCTION refuse();"""
            )
        at = sound.created_at + timedelta(seconds=15)

        simulated_carrier.advance_due(at=at)
        simulated_carrier.advance_due(at=at)

        assert (statuses(broken), statuses(sound)) == (["pending"], ["pending", "collected"])
        assert Order.objects.get(pk=broken.pk).status == "pending"
        assert f"The simulated carrier of order {broken.pk} cannot go on" in caplog.text
        waiting = Simulation.objects.get(pk=broken.pk)
        assert (waiting.failures, waiting.due_at) == (1, at + timedelta(seconds=1))
        with connection.cursor() as cursor:
            cursor.execute("DROP TRIGGER refuse ON integration_statuslog")
        simulated_carrier.advance_due(at=at + timedelta(seconds=1))
        assert (statuses(broken), Simulation.objects.get(pk=broken.pk).failures) == (["pending", "collected"], 0)


@pytest.mark.django_db(transaction=True)
class TestSeveralWorkers:
    def test_make_each_step_once(self, seller, at_once):
        load_tariff()
        made = [simulated(seller, f"A-{number}", speed=40) for number in range(5)]

        while (due_at := Simulation.objects.next_due()) is not None:
            counts = at_once(*[lambda at=due_at: simulated_carrier.advance_due(at=at)] * 3)
            assert not [count for count in counts if isinstance(count, Exception)]

        assert [statuses(order) for order in made] == [[*WAY, "delivered"]] * 5
