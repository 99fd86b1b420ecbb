"""The commands for scripts: one JSON object on standard output each."""

import json
from dataclasses import asdict
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from common.webhooks import endpoints
from delivery.accounts import tokens
from delivery.models import (
    Delivery,
    DispatchRules,
    DispatchRulesChange,
    Driver,
    EventState,
    Integrator,
    PickupPoint,
    Rules,
)
from tests.cases import in_turn
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory

HERE = f"{PICKUP.latitude},{PICKUP.longitude}"


def run(*arguments):
    """Exit code and answer."""
    out = StringIO()
    code: str | int | None = 0
    try:
        call_command(*arguments, stdout=out)
    except SystemExit as stop:
        code = stop.code
    return code, json.loads(out.getvalue())


@pytest.mark.django_db
class TestCreateIntegrator:
    def test_answers_with_a_working_token_and_the_secret(self):
        code, answer = run(
            "create_integrator", "Loja", "--pickup", HERE, "--pickup", "-22.9,-43.2",
            "--webhook-url", "http://127.0.0.1:9000/hook",
        )  # fmt: skip

        assert (code, list(answer)) == (0, ["integrator", "token", "signing_secret"])
        token = tokens.authenticate(answer["token"], at=timezone.now())
        endpoint = token.integrator.endpoints.get(environment="live")
        assert str(token.integrator.pk) == answer["integrator"]
        assert (endpoint.url, endpoint.secret) == ("http://127.0.0.1:9000/hook", answer["signing_secret"])
        assert PickupPoint.objects.filter(integrator=token.integrator).count() == 2

    def test_sets_up_the_sandbox(self):
        _code, answer = run("create_integrator", "Loja", "--sandbox", "--webhook-url", "http://127.0.0.1:9000/hook")

        token = tokens.authenticate(answer["token"], at=timezone.now())
        assert (token.environment, answer["token"][:10]) == ("sandbox", "rota_test_")
        assert token.integrator.endpoints.get(environment="sandbox").secret == answer["signing_secret"]
        assert token.integrator.endpoints.get(environment="live").url == ""

    @pytest.mark.parametrize("arguments", [[], ["--refuse-repeated-external-id"]])
    def test_says_what_becomes_of_repeated_external_ids(self, arguments):
        run("create_integrator", "Loja", *arguments)

        assert Integrator.objects.get().refuse_repeated_external_ids == bool(arguments)

    @pytest.mark.parametrize(
        ("arguments", "error"),
        [
            (["--pickup", "here,there"], "invalid_position"),
            (["--webhook-url", "http://example.com/"], "invalid_webhook_url"),
        ],
    )
    def test_refuses_bad_arguments_and_creates_nothing(self, arguments, error):
        code, answer = run("create_integrator", "Loja", *arguments)

        assert (code, answer["error"], list(answer)) == (1, error, ["error", "detail"])
        assert Integrator.objects.count() == 0


@pytest.mark.django_db
class TestCreateDriver:
    def test_makes_a_driver_who_can_accept_at_once(self):
        code, answer = run("create_driver", "Ana", "--vehicle", "MOTORCYCLE", "--position", HERE)
        delivery = DeliveryFactory.create()

        assert (code, list(answer)) == (0, ["driver"])
        assert run("dispatch", str(delivery.pk), "accept")[0] == 0
        assert str(Delivery.objects.get(pk=delivery.pk).driver_id) == answer["driver"]

    @pytest.mark.parametrize(
        ("name", "position", "error"),
        [("", HERE, "invalid"), ("x" * 121, HERE, "invalid"), ("Ana", "x", "invalid_position")],
    )
    def test_refuses_bad_arguments_and_creates_nothing(self, name, position, error):
        assert run("create_driver", name, "--vehicle", "CAR", "--position", position)[1]["error"] == error
        assert Driver.objects.count() == 0


@pytest.mark.django_db
class TestDispatch:
    def test_moves_a_delivery_to_its_end(self):
        delivery, driver = DeliveryFactory.create(stops=2), DriverFactory.create()
        key = str(delivery.pk)

        answers = [
            run("dispatch", key, "accept", "--driver", str(driver.pk)),
            run("dispatch", key, "position", HERE),
            run("dispatch", key, "collect"),
            run("dispatch", key, "deliver", "B"),
            run("dispatch", key, "fail", "c", "--reason", "Recusado"),
            run("dispatch", key, "return"),
        ]

        seen = [(code, answer["status"], answer["route"]) for code, answer in answers]
        assert seen == [
            (0, "ACCEPT", "ACCEPTED"),
            (0, "ACCEPT", "ACCEPTED"),
            (0, "COLLECTED", "COLLECTED"),
            (0, "COLLECTED", "COLLECTED"),
            (0, "COLLECTED", "RETURNING"),
            (0, "DELIVERED", "FINISHED"),
        ]
        assert {answer["delivery"] for _code, answer in answers} == {key}

    def test_refuses_a_position_after_the_end_of_the_route(self):
        delivery = DeliveryFactory.create(collected=True, stops=1)
        run("dispatch", str(delivery.pk), "deliver", "B")

        code, answer = run("dispatch", str(delivery.pk), "position", HERE)

        assert (code, answer["error"]) == (1, "no_driver_assigned")
        assert not delivery.driver.positions.exists()

    def test_cancels(self):
        assert run("dispatch", str(DeliveryFactory.create().pk), "cancel")[1]["route"] == "CANCELLED"

    def test_refuses_with_a_code_and_exit_1(self):
        delivery = DeliveryFactory.create()

        for arguments, error in [
            (["collect"], "move_refused"),
            (["collect", "B"], "stop_not_found"),
            (["deliver", "B"], "move_refused"),
            (["deliver", "Z"], "stop_not_found"),
            (["deliver"], "stop_not_found"),
            (["fail", "B", "--reason", "x" * 256], "invalid_reason"),
            (["cancel", "--reason", "a\0b"], "invalid_reason"),
            (["fail", "B"], "reason_missing"),
            (["fail", "B", "--code", "GONE"], "invalid_failure_code"),
            (["position", HERE], "no_driver_assigned"),
            (["accept"], "no_eligible_driver"),
            (["accept", "--driver", "nobody"], "driver_not_found"),
        ]:
            code, answer = run("dispatch", str(delivery.pk), *arguments)

            assert (code, answer["error"], bool(answer["detail"])) == (1, error, True)
        assert Delivery.objects.get(pk=delivery.pk).status == "PENDING"

    @pytest.mark.parametrize("key", ["nonsense", "0190a1b2-0000-7000-8000-000000000000"])
    def test_refuses_an_unknown_delivery(self, key):
        assert run("dispatch", key, "collect") == (
            1,
            {"error": "delivery_not_found", "detail": f"No delivery has the id '{key}'."},
        )

    def test_says_that_a_move_takes_no_argument(self):
        with pytest.raises(CommandError, match="return takes no argument"):
            call_command("dispatch", str(DeliveryFactory.create().pk), "return", "B")


@pytest.mark.django_db
class TestReplayWebhooks:
    @pytest.fixture
    def delivery(self):
        """A delivery with one event that was given up and two that were sent."""
        delivery = DeliveryFactory.create(collected=True)
        endpoint = delivery.events.first().endpoint
        endpoints.set_url(endpoint=endpoint, url="http://127.0.0.1:9/", by=BY, at=timezone.now())
        delivery.events.update(state=EventState.SENT)
        delivery.events.filter(sequence=1).update(state=EventState.DEAD)
        return delivery

    def test_sends_what_was_given_up(self, delivery):
        assert run("replay_webhooks", "--integrator", str(delivery.integrator_id)) == (0, {"replayed": 1})

        assert delivery.events.get(state=EventState.PENDING).sequence == 1

    @in_turn(
        ("options", "count"),
        [
            (["--state", "any"], 3),
            (["--state", "sent"], 2),
            (["--since", "2020-01-01T00:00"], 1),
            (["--until", "2020-01-01T00:00Z"], 0),
            (["--environment", "sandbox"], 0),
        ],
    )
    def test_takes_a_state_a_time_range_and_an_environment(self, delivery, options, count):
        assert run("replay_webhooks", "--delivery", str(delivery.pk), *options) == (0, {"replayed": count})

    @pytest.mark.parametrize(("minutes", "count"), [(-1, 1), (1, 0)])
    def test_takes_a_time_without_an_offset_for_the_services(self, delivery, minutes, count):
        event = delivery.events.get(state=EventState.DEAD)
        since = timezone.localtime(event.created_at) + timedelta(minutes=minutes)

        options = ["--since", since.replace(tzinfo=None).isoformat()]
        assert run("replay_webhooks", "--delivery", str(delivery.pk), *options) == (0, {"replayed": count})

    def test_sends_one(self, delivery):
        event = delivery.events.get(sequence=3)

        assert run("replay_webhooks", "--event", str(event.pk), "--state", "any") == (0, {"replayed": 1})

    def test_refuses_an_invalid_moment(self, delivery):
        with pytest.raises(CommandError, match="2026-11-20T08:00"):
            run("replay_webhooks", "--delivery", str(delivery.pk), "--since", "yesterday")


@pytest.mark.django_db
class TestDispatchRules:
    def test_prints_the_rules_in_force(self, rules):
        rules(dispatch_radius_km=3, driver_share_percent=70)

        code, answer = run("dispatch_rules")

        assert (code, answer) == (0, {**asdict(Rules()), "dispatch_radius_km": 3, "driver_share_percent": 70})

    def test_changes_those_that_are_named(self, rules):
        code, answer = run("dispatch_rules", "--set", "dispatch_radius_km=3", "position_fresh_seconds=60")

        changed = DispatchRules.objects.get().rules
        assert (code, answer) == (0, {**asdict(changed), "driver_share_percent": 0})
        assert (changed.dispatch_radius_km, changed.position_fresh_seconds) == (3, 60)
        assert DispatchRulesChange.objects.latest("pk").pgh_context["by"] == "command dispatch_rules"

    @in_turn("wrong", ["road_factor=0.5", "road_factor", "road_factor=", "radius=3", "=3"])
    def test_refuses_all_where_one_is_wrong(self, rules, wrong):
        rules()

        code, answer = run("dispatch_rules", "--set", "dispatch_radius_km=3", "--set", wrong)

        assert (code, answer["error"]) == (1, "invalid")
        assert wrong.partition("=")[0] in answer["detail"]
        assert DispatchRules.objects.get().rules == Rules()
