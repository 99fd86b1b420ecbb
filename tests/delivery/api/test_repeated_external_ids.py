"""An externalId that the account has used in the last 24 hours: a warning, or a refusal for accounts that want one."""

from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.utils import timezone

from common.fields import new_id
from delivery.actions import deliveries
from delivery.models import Delivery, IdempotencyRecord, Integrator, Stop, WebhookEvent
from delivery.models.stop import _REPEATED
from tests.delivery.api.calls import CANCEL, QUOTE, REQUEST, assert_problem
from tests.factories import BY, DeliveryFactory, TokenFactory, payload

STRICT = {"HTTP_PREFER": "handling=strict"}


def warning(index, delivery_id):
    return f'"#/dropoffs/{index}/externalId";code=repeated_external_id;delivery="{delivery_id}"'


def request(api, *external_ids, **headers):
    """Request a delivery with these externalIds."""
    body = payload(stops=len(external_ids))
    for dropoff, external_id in zip(body["dropoffs"], external_ids, strict=True):
        dropoff["externalId"] = external_id
    return api.post(REQUEST, body, **headers)


def made(api, *external_ids):
    """The id of a new delivery with these externalIds."""
    return request(api, *external_ids).json()["deliveryId"]


@pytest.fixture
def refusing(token):
    Integrator.objects.update(refuse_repeated_external_ids=True)
    token.integrator.refresh_from_db()
    return token


@pytest.mark.django_db
class TestARepeatedExternalId:
    def test_is_accepted_with_a_warning_that_names_the_newest_delivery(self, api):
        made(api, "a")
        second, other = made(api, "a"), made(api, "b")

        response = request(api, "b", "c", "a")

        assert response.status_code == 201
        assert response["Rota-Warnings"] == f"{warning(0, other)}, {warning(2, second)}"

    def test_is_the_same_with_composed_and_with_decomposed_letters(self, api):
        first = made(api, "Pedido São")

        response = request(api, "Pedido Sa\u0303o", "x", "Pedido São")

        assert f"{warning(0, first)}, {warning(2, first)}" in response["Rota-Warnings"]
        assert '"#/dropoffs/2/externalId";code=duplicate_external_id' in response["Rota-Warnings"]

    def test_is_refused_strictly_and_nothing_is_written(self, api):
        first = made(api, "a")

        response = request(api, "b", "a", **STRICT, HTTP_IDEMPOTENCY_KEY="1")

        problem = assert_problem(response, 422, "invalid_payload")
        assert problem["errors"] == [
            {
                "pointer": "#/dropoffs/1/externalId",
                "code": "repeated_external_id",
                "detail": f"Delivery {first} of the last 24 hours has this externalId in an order that has not failed. "
                "Request each order once, or send another externalId.",
            }
        ]
        assert response["Rota-Warnings"] == warning(1, first)
        assert (Delivery.objects.count(), WebhookEvent.objects.count(), IdempotencyRecord.objects.count()) == (1, 1, 0)

    def test_is_none_after_24_hours(self, api, token):
        earlier = timezone.now() - timedelta(hours=24)
        DeliveryFactory.create(token=token, at=earlier)
        assert "Rota-Warnings" not in request(api, "order-1")

        recent = DeliveryFactory.create(token=token, at=earlier + timedelta(minutes=1), stops=2)
        assert request(api, "order-2")["Rota-Warnings"] == warning(0, recent.pk)

    def test_is_none_of_an_order_that_has_failed(self, api, token):
        delivery = DeliveryFactory.create(token=token, collected=True, stops=2)
        deliveries.fail(delivery=delivery, point="B", reason="closed", by=BY, at=timezone.now())
        cancelled = made(api, "a")
        api.post(CANCEL.format(cancelled), {})

        response = request(api, "a", "order-1", "order-2")

        assert response["Rota-Warnings"] == warning(2, delivery.pk)

    def test_is_found_behind_later_ones_that_were_cancelled(self, api):
        first = made(api, "a")
        api.post(CANCEL.format(made(api, "a")), {})

        assert request(api, "a")["Rota-Warnings"] == warning(0, first)

    @pytest.mark.parametrize("sandbox", [False, True])
    def test_is_none_of_another_account_or_environment(self, api, token, client_of, sandbox):
        integrator = {"integrator": token.integrator} if sandbox else {}
        other = client_of(TokenFactory.create(**integrator, sandbox=sandbox))
        made(other, "a")

        assert "Rota-Warnings" not in request(api, "a")

    def test_is_none_without_an_externalid(self, api):
        made(api, "", "")

        assert request(api, "")["Rota-Warnings"] == '"#/dropoffs/0/externalId";code=missing_external_id'

    def test_is_compared_with_its_case_and_white_space(self, api):
        made(api, "a")

        assert "Rota-Warnings" not in request(api, "A", " a", "a ")

    def test_is_none_of_a_quote_which_doubles_nothing(self, api):
        made(api, "order-1")

        assert "Rota-Warnings" not in api.post(QUOTE, payload())

    def test_is_none_of_a_call_that_is_repeated_with_its_key(self, api):
        first, again = (request(api, "a", HTTP_IDEMPOTENCY_KEY="1", **STRICT) for _call in range(2))

        assert (again.status_code, again.content, again["Idempotency-Replayed"]) == (201, first.content, "true")
        assert "Rota-Warnings" not in again


@pytest.mark.django_db
@pytest.mark.usefixtures("refusing")
class TestAnAccountThatRefusesThem:
    def test_is_told_which_delivery_has_it(self, api):
        first = made(api, "a")

        response = request(api, "b", "a")

        problem = assert_problem(response, 409, "external_id_in_use")
        assert problem["deliveryId"] == first
        assert problem["detail"] == f"Delivery {first} has an order with the externalId 'a' already."
        assert "Rota-Warnings" not in response
        assert (Delivery.objects.count(), Stop.objects.count(), WebhookEvent.objects.count()) == (1, 1, 1)

    def test_may_use_it_again_once_its_delivery_is_cancelled(self, api):
        api.post(CANCEL.format(made(api, "a")), {})

        assert request(api, "a").status_code == 201

    def test_gets_the_stored_answer_for_a_repeated_key(self, api):
        first, again = (request(api, "a", HTTP_IDEMPOTENCY_KEY="1") for _call in range(2))

        assert (again.status_code, again.content, again["Idempotency-Replayed"]) == (201, first.content, "true")
        assert_problem(request(api, "a", HTTP_IDEMPOTENCY_KEY="2"), 409, "external_id_in_use")

    def test_may_repeat_a_refused_call_with_its_key(self, api):
        first = made(api, "a")
        assert_problem(request(api, "a", HTTP_IDEMPOTENCY_KEY="1"), 409, "external_id_in_use")

        api.post(CANCEL.format(first), {})

        assert request(api, "a", HTTP_IDEMPOTENCY_KEY="1").status_code == 201

    def test_may_send_one_twice_in_a_delivery_with_a_warning(self, api):
        response = request(api, "a", "a")

        assert response.status_code == 201
        assert response["Rota-Warnings"] == '"#/dropoffs/1/externalId";code=duplicate_external_id'


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("refusing")
class TestThirtyCallsAtOnce:
    @pytest.mark.parametrize("has_key", [False, True])
    def test_make_one_delivery(self, token, client_of, at_once, has_key):
        def call():
            headers = {"HTTP_IDEMPOTENCY_KEY": str(uuid4())} if has_key else {}
            return request(client_of(token), "a", "b", **headers)

        answers = at_once(*[call] * 30)

        assert sorted(answer.status_code for answer in answers) == [201] + [409] * 29
        (delivery,) = Delivery.objects.all()
        refusals = [answer.json() for answer in answers if answer.status_code == 409]
        assert {(body["code"], body["deliveryId"]) for body in refusals} == {("external_id_in_use", str(delivery.pk))}
        assert WebhookEvent.objects.count() == 1

    def test_with_the_same_externalids_in_another_order_do_not_deadlock(self, token, client_of, at_once):
        orders = [("a", "b", "c"), ("c", "b", "a"), ("b", "c", "a")]

        answers = at_once(*[lambda ids=ids: request(client_of(token), *ids) for ids in orders * 10])

        assert sorted(answer.status_code for answer in answers) == [201] + [409] * 29


@pytest.mark.django_db
def test_of_many_is_found_by_an_index_among_the_newest_twenty(token):
    pattern = DeliveryFactory.create(token=token, stops=1)
    same = {field.attname: getattr(pattern, field.attname) for field in Delivery._meta.concrete_fields}
    (stop,) = pattern.ordered_stops
    place = {name: getattr(stop, name) for name in ("latitude", "longitude", "address")}
    rows = Delivery.objects.bulk_create(
        Delivery(**{**same, "id": new_id(), "route_id": new_id()}) for _row in range(3000)
    )
    Stop.objects.bulk_create(
        Stop(
            delivery=row,
            index=0,
            status="FAILED",
            external_id_digest=stop.external_id_digest if number % 3 else Stop.digest_of(str(number), token=token),
            **place,
        )
        for number, row in enumerate(rows)
    )
    values = {"digests": [stop.external_id_digest], "since": pattern.created_at - timedelta(hours=24)}

    with connection.cursor() as cursor:
        cursor.execute("ANALYZE delivery_delivery, delivery_stop")
        cursor.execute(f"EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF) {_REPEATED}", values)
        plan = "\n".join(row[0] for row in cursor.fetchall())

    assert "stop_repeated_external_id" in plan
    assert "rows=20" in plan
    assert "rows=3" not in plan
    assert "Seq Scan" not in plan
