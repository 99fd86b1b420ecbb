"""Windows of a request: their keys, refusals and answers, and what is told of a scheduled delivery."""

from datetime import datetime, timedelta
from itertools import product
from typing import Any

import pytest
from django.utils import timezone

from delivery.actions import schedule
from delivery.models import Delivery
from tests.delivery.api.calls import (
    CANCEL,
    DETAIL,
    INFO,
    LIST,
    LOCATION,
    QUOTE,
    REQUEST,
    assert_field_refused,
    assert_nothing_written,
    assert_problem,
)
from tests.delivery.simulated import advance_all
from tests.factories import TariffFactory, TokenFactory, payload

pytestmark = pytest.mark.django_db
STRICT = {"prefer": "handling=strict"}
OFFER = "/api/sandbox/deliveries/{}/offer"
KEYS = ["#/pickupReadyAt", "#/pickupDeadlineAt", "#/dropoffs/0/readyAt", "#/dropoffs/0/deadlineAt"]
NO_MOMENTS: list[Any] = [
    "", "tomorrow", 1795200000, True, [], "2026-07-15", "2026-13-15T14:00:00Z", "2026-02-30T14:00:00Z",
    "2026-07-15T25:00:00Z", "2026-07-15T14:00:00+99:00", "0001-01-01T00:00:00+14:00", "9" * 5000,
    "2026-07-15T14:00:00Z; DROP", "٢٠٢٦-07-15T14:00:00Z",
]  # fmt: skip  # a list
MINUTES_OF_30_DAYS = 30 * 24 * 60
# Of the clock's, in São Paulo: two hours, and with another offset.
READY = "2026-07-15T14:00:00-03:00"


def with_windows(values, **changes):
    """A payload with one stop and these values at the pointers of KEYS."""
    body = payload(stops=1, **changes)
    for pointer, value in values.items():
        *_path, key = pointer.split("/")
        (body["dropoffs"][0] if "dropoffs" in pointer else body)[key] = value
    return body


@pytest.fixture
def ahead(clock):
    """The text of the moment so many minutes from now."""
    return lambda minutes: (clock.now + timedelta(minutes=minutes)).isoformat()


class TestAMomentThatHasPassed:
    @pytest.mark.parametrize(
        ("key", "pointer"), [("#/pickupReadyAt", "#/pickupReadyAt"), ("#/dropoffs/0/readyAt", "#/dropoffs/0/readyAt")]
    )
    @pytest.mark.parametrize("path", [QUOTE, REQUEST])
    def test_counts_as_now_and_is_named_or_refused_strictly(self, api, clock, ahead, path, key, pointer):
        body = with_windows({key: ahead(-6)})

        problem = assert_problem(api.post(path, body, headers=STRICT), 422, "invalid_payload")

        assert [(error["pointer"], error["code"]) for error in problem["errors"]] == [(pointer, "window_in_the_past")]
        assert_nothing_written()
        response = api.post(path, body)
        assert response.status_code in {200, 201}
        now = timezone.localtime(clock.now).isoformat(timespec="seconds")
        assert response["Rota-Warnings"] == f'"{pointer}";code=window_in_the_past;now="{now}"'
        assert now in problem["errors"][0]["detail"]

    def test_by_less_than_clocks_differ_is_none(self, api, ahead):
        body = with_windows({"#/pickupReadyAt": ahead(-5), "#/dropoffs/0/readyAt": ahead(-1)})

        assert api.post(REQUEST, body, headers=STRICT).status_code == 201

    def test_of_a_call_that_is_repeated_replays_its_answer(self, api, clock, ahead):
        body, key = with_windows({"#/pickupReadyAt": ahead(0)}), {"idempotency-key": "1", **STRICT}
        first = api.post(REQUEST, body, headers=key)

        clock.now += timedelta(minutes=10)
        again = api.post(REQUEST, body, headers=key)

        assert (first.status_code, again.status_code, again.content) == (201, 201, first.content)


@pytest.fixture
def request_ahead(api, ahead):
    def request(minutes, **changes):
        answer = api.post(REQUEST, with_windows({KEYS[0]: ahead(minutes)}, **changes), headers=STRICT)
        assert answer.status_code == 201, answer.json()
        return answer

    return request


class TestAMoment:
    @pytest.mark.parametrize("pointer", KEYS)
    def test_is_refused_at_its_own_pointer(self, api, clock, pointer):
        cases = [*((value, "invalid_moment") for value in NO_MOMENTS), ("2026-07-15T14:00:00", "missing_offset")]

        for path, (value, code) in [*product([REQUEST], cases), (QUOTE, cases[-1])]:
            answer = api.post(path, with_windows({pointer: value}))

            assert_field_refused(answer, pointer)
            assert [error["code"] for error in answer.json()["errors"]] == [code], value
        assert_nothing_written()

    @pytest.mark.parametrize(
        "text", [READY, "2026-07-15T17:00:00Z", "2026-07-15t17:00:00.000000z", "2026-07-15 19:00:00+02:00"]
    )
    def test_is_accepted_in_every_form_of_the_standard(self, api, clock, text):
        delivery = api.post(REQUEST, with_windows({KEYS[0]: text})).json()["deliveryId"]

        assert api.get(DETAIL.format(delivery)).json()["scheduledFor"] == READY

    @pytest.mark.parametrize("pointer", KEYS)
    def test_is_optional(self, api, clock, pointer):
        assert api.post(REQUEST, with_windows({pointer: None}), headers=STRICT).status_code == 201


class TestAWindow:
    @pytest.mark.parametrize(
        ("values", "pointer", "code"),
        [
            ({KEYS[0]: MINUTES_OF_30_DAYS + 1}, KEYS[0], "too_far_ahead"),
            ({KEYS[0]: 60, KEYS[1]: 69}, KEYS[1], "window_too_short"),
            ({KEYS[1]: 19}, KEYS[1], "window_too_short"),
            ({KEYS[1]: 60, KEYS[2]: 61}, KEYS[2], "windows_contradict"),
            ({KEYS[2]: 60, KEYS[3]: 79}, KEYS[3], "windows_contradict"),
            ({KEYS[1]: 60, KEYS[3]: 59}, KEYS[3], "windows_contradict"),
        ],
    )
    def test_that_breaks_a_rule_is_refused(self, api, ahead, values, pointer, code):
        for path in (QUOTE, REQUEST):
            answer = api.post(path, with_windows({key: ahead(minutes) for key, minutes in values.items()}))

            assert_field_refused(answer, pointer)
            assert [error["code"] for error in answer.json()["errors"]] == [code]
        assert_nothing_written()

    @pytest.mark.parametrize(("minutes", "is_over"), [(-180, True), (19, False)])
    @pytest.mark.parametrize("key", [KEYS[1], KEYS[3]])
    def test_that_is_refused_is_told_with_the_time_and_what_z_means(self, api, ahead, clock, key, minutes, is_over):
        [error] = api.post(QUOTE, with_windows({key: ahead(minutes)})).json()["errors"]

        assert f"It is {timezone.localtime(clock.now).isoformat(timespec='seconds')} now." in error["detail"]
        assert ("'Z' is UTC" in error["detail"]) == is_over

    @pytest.mark.parametrize("keys", [*([key] for key in KEYS), KEYS], ids="+".join)
    def test_of_the_farthest_moments_of_all_is_refused(self, api, ahead, keys):
        others = {key: ahead(minutes) for key, minutes in zip(KEYS, (60, 90, 80, 120), strict=True)}

        answer = api.post(REQUEST, with_windows({**others, **dict.fromkeys(keys, "9999-12-31T23:59:59Z")}))

        codes = {(error["pointer"], error["code"]) for error in answer.json()["errors"]}
        assert {(key, "too_far_ahead") for key in keys} <= codes

    def test_keeps_the_price(self, api, ahead):
        prices = [
            api.post(QUOTE, with_windows(values)).json() for values in ({}, {KEYS[0]: ahead(90), KEYS[3]: ahead(200)})
        ]

        assert prices[0] == prices[1]

    def test_is_part_of_what_a_quote_is_for(self, api, ahead):
        values = dict(zip(KEYS, map(ahead, (90, 150, 100, 200)), strict=True))
        body = with_windows(values)
        quote_id = api.post(QUOTE, body)["Quote-Id"]

        later = dict(zip(KEYS, map(ahead, (91, 151, 101, 201)), strict=True))
        for other in ({}, *({**values, key: moment} for key, moment in later.items())):
            assert_problem(
                api.post(REQUEST, with_windows(other), headers={"Quote-Id": quote_id}), 422, "quote_mismatch"
            )
        assert api.post(REQUEST, body, headers={"Quote-Id": quote_id}).status_code == 201

    def test_does_not_stop_an_answer_from_being_replayed_later(self, api, clock, ahead):
        body, headers = with_windows({KEYS[1]: ahead(20)}), {"Idempotency-Key": "a"}
        first = api.post(REQUEST, body, headers=headers)
        clock.forward(3600)

        assert api.post(REQUEST, body, headers=headers).content == first.content

    def test_shifts_the_estimate(self, api, clock, ahead):
        """By hand as in test_estimate.py: A after 1,872 s, B 465 s after it."""
        answer = api.post(QUOTE, with_windows({KEYS[0]: ahead(90)}))

        at = int(clock.now.timestamp())
        assert answer["Rota-Estimate"] == f"pickup=@{at + 5400}, b=@{at + 5400 + 465}"


class TestAScheduledDelivery:
    def test_is_told_as_offered_in_the_bodies_of_the_specification(self, api, request_ahead, ahead):
        answer = request_ahead(90)
        body, plain = answer.json(), api.post(REQUEST, payload(stops=1)).json()
        key = body["deliveryId"]

        assert (body["status"], body["route"]["status"], body.keys()) == ("PENDING", "AVAILABLE", plain.keys())
        assert body["route"].keys() == plain["route"].keys()
        assert api.get(INFO.format(key)).json().keys() == api.get(INFO.format(plain["deliveryId"])).json().keys()
        assert api.get(LOCATION.format(key)).json()["tracking"]["reason"] == "NOT_ASSIGNED"
        event = Delivery.objects.get(pk=key).events.get()
        assert '"status":"AVAILABLE"' in event.body
        assert "SCHEDULED" not in event.body

    def test_is_told_as_scheduled_in_the_detail_and_the_list(self, api, clock, request_ahead):
        key = request_ahead(90).json()["deliveryId"]

        detail = api.get(DETAIL.format(key)).json()
        assert (detail["status"], detail["route"]["status"]) == ("PENDING", "SCHEDULED")
        assert datetime.fromisoformat(detail["scheduledFor"]) == clock.now + timedelta(minutes=90)
        assert detail["transitions"][0]["routeStatus"] == "SCHEDULED"
        assert api.get(LIST).json()["data"][0]["route"]["status"] == "SCHEDULED"

    def test_has_its_offer_in_the_history(self, api, clock, request_ahead):
        key = request_ahead(90).json()["deliveryId"]
        clock.forward(80 * 60)

        schedule.offer_due(at=clock.now)

        detail = api.get(DETAIL.format(key)).json()
        assert detail["route"]["status"] == "AVAILABLE"
        assert [each["trigger"] for each in detail["transitions"]] == ["request", "offer"]
        assert detail["transitions"][1]["by"] == "system"
        assert datetime.fromisoformat(detail["offerExpiresAt"]) == clock.now + timedelta(minutes=60)
        assert len(detail["events"]) == 1

    def test_costs_nothing_to_cancel(self, api, request_ahead):
        key = request_ahead(90).json()["deliveryId"]

        assert api.get(INFO.format(key))["Cancellation-Fee"] == "0.00"
        cancelled = api.post(CANCEL.format(key), {})

        assert (cancelled.status_code, cancelled.json().keys()) == (
            200, {"deliveryId", "shippingValue", "driver", "orders"}
        )  # fmt: skip  # a pair
        detail = api.get(DETAIL.format(key)).json()
        assert (detail["status"], detail["route"]["status"], detail["cancellation"]["fee"]) == (
            "FAILED",
            "CANCELLED",
            0,
        )


class TestInTheSandbox:
    @pytest.fixture
    def token(self):
        TariffFactory.create()
        return TokenFactory.create(sandbox=True)

    def status(self, key):
        return Delivery.objects.get(pk=key).route_status

    def test_is_moved_by_the_simulated_driver_once_it_is_offered(self, api, clock, request_ahead):
        key = request_ahead(11).json()["deliveryId"]
        clock.forward(30)
        advance_all(at=clock.now)
        schedule.offer_due(at=clock.now)
        assert self.status(key) == "SCHEDULED"

        clock.forward(30)
        schedule.offer_due(at=clock.now)
        assert self.status(key) == "AVAILABLE"
        for _step in range(2):
            clock.forward(11)
            advance_all(at=clock.now)
        assert self.status(key) == "ACCEPTED"

    def test_is_offered_at_once_by_a_call_and_goes_on(self, api, clock, request_ahead):
        key = request_ahead(600).json()["deliveryId"]

        answer = api.post(OFFER.format(key), {})

        assert (answer.status_code, answer.json()["route"]["status"]) == (200, "AVAILABLE")
        for _step in range(2):
            clock.forward(11)
            advance_all(at=clock.now)
        assert self.status(key) == "ACCEPTED"

    def test_cannot_be_accepted_or_offered_twice(self, api, request_ahead):
        key = request_ahead(600).json()["deliveryId"]

        refused = assert_problem(api.post(f"/api/sandbox/deliveries/{key}/accept", {}), 422, "move_refused")
        assert "Possible now: offer, cancel." in refused["detail"]
        assert api.post(OFFER.format(key), {}).status_code == 200
        assert_problem(api.post(OFFER.format(key), {}), 422, "move_refused")
