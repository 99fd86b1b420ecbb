from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from delivery.models import Delivery, IdempotencyRecord, WebhookEvent
from delivery.tasks import prune_idempotency_records
from tests.cases import in_turn
from tests.delivery.api.calls import REQUEST, assert_nothing_written, assert_problem, changed
from tests.factories import TokenFactory, payload
from tests.overlapping import overlap

KEY = {"HTTP_IDEMPOTENCY_KEY": "order-1"}


def age(**by):
    """Make the stored answers this old."""
    IdempotencyRecord.objects.update(created_at=timezone.now() - timedelta(**by))


@pytest.mark.django_db
class TestARepeatedRequest:
    def test_is_answered_with_the_first_answer_and_creates_nothing(self, api):
        first = api.post(REQUEST, payload(), **KEY)

        second = api.post(REQUEST, payload(), **KEY)

        assert (first.status_code, second.status_code) == (201, 201)
        assert second.content == first.content
        assert second["Content-Type"] == first["Content-Type"] == "application/json"
        assert "Idempotency-Replayed" not in first
        assert second["Idempotency-Replayed"] == "true"
        assert (Delivery.objects.count(), WebhookEvent.objects.count()) == (1, 1)

    def test_may_have_its_keys_in_another_order(self, api):
        first = api.post(REQUEST, payload(), **KEY)

        second = api.post(REQUEST, dict(reversed(payload().items())), **KEY)

        assert (second.content, second["Idempotency-Replayed"]) == (first.content, "true")

    def test_is_answered_the_same_after_the_delivery_has_changed(self, api):
        first = api.post(REQUEST, payload(), **KEY)
        api.post(f"/api/cancel-delivery/{first.json()['deliveryId']}", {})

        assert api.post(REQUEST, payload(), **KEY).json()["status"] == "PENDING"

    def test_is_answered_for_24_hours(self, api):
        api.post(REQUEST, payload(), **KEY)
        age(hours=23, minutes=59)

        assert api.post(REQUEST, payload(), **KEY)["Idempotency-Replayed"] == "true"
        assert Delivery.objects.count() == 1

    def test_counts_as_new_after_24_hours(self, api):
        first = api.post(REQUEST, payload(), **KEY).json()
        age(hours=24)

        second = api.post(REQUEST, payload(deliveryMode="RETURN"), **KEY)

        assert second.json()["deliveryId"] != first["deliveryId"]
        assert "Idempotency-Replayed" not in second
        assert Delivery.objects.count() == 2
        assert api.post(REQUEST, payload(deliveryMode="RETURN"), **KEY).json() == second.json()

    def test_with_another_body_is_refused(self, api):
        api.post(REQUEST, payload(), **KEY)

        assert_problem(api.post(REQUEST, payload(stops=1), **KEY), 422, "idempotency_key_reused")

        assert Delivery.objects.count() == 1

    @pytest.mark.parametrize("key", ["a", "~" * 255, '"8e03978e-40d5-43dd-bc93-6894a57f9324"', "a key; with=signs"])
    def test_may_have_any_printable_key(self, api, key):
        first, second = (api.post(REQUEST, payload(), HTTP_IDEMPOTENCY_KEY=key) for _ in range(2))

        assert first.content == second.content
        assert IdempotencyRecord.objects.get().key == key


@pytest.mark.django_db
class TestTheScopeOfAKey:
    def test_is_the_account_and_the_environment(self, api, token, client_of):
        others = [TokenFactory.create(), TokenFactory.create(integrator=token.integrator, sandbox=True)]

        answers = [client.post(REQUEST, payload(), **KEY).json() for client in (api, *map(client_of, others))]

        assert len({answer["deliveryId"] for answer in answers}) == 3

    def test_includes_the_other_tokens_of_the_account(self, api, token, client_of):
        rotated = TokenFactory.create(integrator=token.integrator)
        first = api.post(REQUEST, payload(), **KEY)

        assert client_of(rotated).post(REQUEST, payload(), **KEY).content == first.content


@pytest.mark.django_db
class TestARefusal:
    @pytest.mark.parametrize(
        ("change", "wrong", "status", "code"),
        [
            ({}, changed("#/pickup/address/latitude", -23.7), 404, "pickup_not_linked"),
            ({}, changed("#/vehicleType", "CAR"), 400, "price_unavailable"),
            ({}, changed("#/dropoffs", []), 422, "invalid_payload"),
            ({"HTTP_QUOTE_ID": "wrong"}, payload(), 422, "quote_mismatch"),
        ],
    )
    def test_is_not_kept_so_that_the_corrected_call_may_have_the_same_key(self, api, change, wrong, status, code):
        first, again = (assert_problem(api.post(REQUEST, wrong, **KEY, **change), status, code) for _time in range(2))
        assert first == again
        assert_nothing_written()

        corrected = api.post(REQUEST, payload(), **KEY)

        assert corrected.status_code == 201
        assert "Idempotency-Replayed" not in corrected
        assert api.post(REQUEST, payload(), **KEY).content == corrected.content
        assert Delivery.objects.count() == 1

    def test_that_the_previous_version_kept_is_not_replayed(self, api):
        api.post(REQUEST, payload(stops=1), **KEY)
        IdempotencyRecord.objects.update(status=404, body="{}")

        made = api.post(REQUEST, payload(), **KEY)

        assert (made.status_code, "Idempotency-Replayed" in made) == (201, False)
        assert api.post(REQUEST, payload(), **KEY).content == made.content

    def test_by_an_unexpected_error_is_not_stored(self, api, monkeypatch):
        api.raise_request_exception = False
        with monkeypatch.context() as patch:
            patch.setattr("delivery.bodies.creation", lambda _delivery: 1 / 0)
            assert api.post(REQUEST, payload(), **KEY).status_code == 500
        assert_nothing_written()

        assert api.post(REQUEST, payload(), **KEY).status_code == 201
        assert Delivery.objects.count() == 1

    @in_turn("key", ["", "x" * 256, "ação", "a\tb", "a\x7f", "x" * 8000])
    def test_of_a_key_says_what_a_key_is(self, api, key):
        problem = assert_problem(api.post(REQUEST, payload(), HTTP_IDEMPOTENCY_KEY=key), 422, "invalid_idempotency_key")

        assert "1 to 255 printable ASCII characters" in problem["detail"]
        assert_nothing_written()


@pytest.mark.django_db(transaction=True)
class TestConcurrentRequests:
    def test_wait_for_the_first_no_longer_than_the_deadline(self, token, api, client_of, at_once, monkeypatch):
        monkeypatch.setattr("common.api.idempotency.WAIT_SECONDS", 0.2)
        api.get("/api/info-delivery/x")  # writes the token's last use, for which the second call would wait too
        with transaction.atomic(), connection.cursor():
            # The first call, whose transaction has not ended.
            assert api.post(REQUEST, payload(), **KEY).status_code == 201

            [waiting] = at_once(lambda: client_of(token).post(REQUEST, payload(), **KEY))

        problem = assert_problem(waiting, 409, "call_in_progress")
        assert problem["retryable"] is True
        assert waiting["Retry-After"] == "5"
        assert Delivery.objects.count() == 1

    def test_that_are_refused_while_the_first_is_made_get_its_answer(self, token, api, client_of):
        api.get("/api/info-delivery/x")  # as above
        again = client_of(token)

        first, second = overlap(
            lambda: api.post(REQUEST, payload(), **KEY),
            lambda: again.post(REQUEST, payload(), **KEY, HTTP_QUOTE_ID="wrong"),
        )

        assert (first.status_code, second.status_code, second.content) == (201, 201, first.content)
        assert Delivery.objects.count() == 1

    def test_whose_answer_was_lost_after_the_commit_are_answered_again(self, api, monkeypatch):
        api.raise_request_exception = False
        with monkeypatch.context() as patch:
            patch.setattr("common.api.idempotency.HttpResponse", lambda *_args, **_options: 1 / 0)
            assert api.post(REQUEST, payload(), **KEY).status_code == 500

        answer = api.post(REQUEST, payload(), **KEY)

        assert answer.status_code == 201
        assert answer["Idempotency-Replayed"] == "true"
        assert answer.json()["deliveryId"] == str(Delivery.objects.get().pk)


def test_records_are_deleted_after_24_hours(api):
    for key in ("a", "b"):
        api.post(REQUEST, payload(), HTTP_IDEMPOTENCY_KEY=key)
        if key == "a":
            age(hours=24, seconds=1)

    prune_idempotency_records()

    assert IdempotencyRecord.objects.get().key == "b"
    assert Delivery.objects.count() == 2
