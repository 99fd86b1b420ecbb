"""`manage.py verify --after-failover`: what the access log says was answered, and the database does not have."""

import io
import logging
import sys
from contextlib import contextmanager
from uuid import uuid4

import pytest
from django.core.management import CommandError, call_command
from django.db import transaction
from django.utils import timezone

from config.monitoring.logs import JsonFormatter, LineFormatter
from delivery.models import Delivery
from integration.webhooks import outbox
from tests.delivery.drivers.phones import move, phone
from tests.factories import DeliveryFactory, payload
from tests.integration.factories import SellerFactory, key_of, order_body

pytestmark = pytest.mark.django_db
LONG_AGO = "2020-01-01T00:00Z"


@contextmanager
def lost():
    """What is committed within it is gone afterwards, as after a failover."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@pytest.fixture(params=[LineFormatter, JsonFormatter])
def log(request, caplog):
    """The lines of the access log as the service writes them, in both formats, behind what journald puts there."""
    caplog.set_level(logging.INFO, logger="rota.access")
    formatter, lines = request.param(), ["web-1 | not a line of the access log", '{"time": "2026-', "{}"]

    class Handler(logging.Handler):
        def emit(self, record):
            lines.append(f"Nov 29 10:00:00 host rota-web[7]: {formatter.format(record)}")

    handler = Handler()
    logging.getLogger("rota.access").addHandler(handler)
    yield lines
    logging.getLogger("rota.access").removeHandler(handler)


@pytest.fixture
def compare(monkeypatch, capsys):
    """What the command says of these lines: those that it lists, and its end."""

    def do(lines, since=LONG_AGO):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        try:
            call_command("verify", after_failover=since)
        except CommandError as error:
            return capsys.readouterr().out.splitlines(), str(error)
        *listed, end = capsys.readouterr().out.splitlines()
        return listed, end

    return do


@pytest.fixture
def seller(client, db):
    """A seller, and a call with its key."""
    made = SellerFactory.create()
    headers = {"Authorization": f"Basic {key_of(made)}"}

    def call(method, path, body=None):
        return getattr(client, method)(path, body or {}, content_type="application/json", headers=headers)

    return made, call


class TestDeliveries:
    def test_that_were_answered_201_and_are_gone_are_listed_with_the_call(self, api, token, log, compare):
        kept = api.post("/api/request-delivery", payload(), headers={"X-Request-Id": "kept-1234"})
        with lost():
            gone = api.post("/api/request-delivery", payload(), headers={"X-Request-Id": "gone-1234"})

        listed, end = compare(log)

        assert (kept.status_code, gone.status_code) == (201, 201)
        call = f"POST /api/request-delivery 201, {token.hint} [gone-1234]"
        call = f"POST /api/request-delivery 201, {token.hint} [gone-1234]"
        assert [line.partition(" ")[2] for line in listed] == [
            f"delivery {gone.json()['deliveryId']} is not there: {call}"
        ]
        assert end == f"1 of 2 answers name what is not there. Tell {token.hint} (1)."

    def test_that_are_there_are_counted(self, api, log, compare):
        api.post("/api/request-delivery", payload())

        assert compare(log) == ([], "What 1 answers name is there.")

    def test_whose_change_is_gone_are_listed(self, api, token, log, compare):
        delivery = DeliveryFactory.create(token=token)
        ana = phone()
        assert ana.post(f"offers/{delivery.pk}/accept/").status_code == 200
        with lost():
            assert ana.post("moves/", {"moves": [move(delivery)]}).json()["outcomes"][0]["done"]

        listed, end = compare(log)

        assert [line.partition(" ")[2].partition(" [")[0] for line in listed] == [
            f"the change of delivery {delivery.pk} is not there: POST /driver/moves/ 200, driver {ana.driver.pk}"
        ]
        assert end.endswith(f"Tell driver {ana.driver.pk} (1).")

    def test_that_are_gone_and_asked_for_since_are_listed(self, api, token, log, compare):
        ana, gone = phone(), Delivery(pk=uuid4())
        api.get(f"/api/info-delivery/{gone.pk}")
        ana.post("moves/", {"moves": [move(gone)]})

        listed, _end = compare(log)

        asked, moved = f"GET /api/info-delivery/{gone.pk} 404, {token.hint}", "POST /driver/moves/ 200"
        assert [line.partition(" ")[2].partition(" [")[0] for line in listed] == [
            f"delivery {gone.pk} is not there: {asked}",
            f"delivery {gone.pk} is not there: {moved}, driver {ana.driver.pk}",
        ]

    def test_that_were_refused_or_answered_before_are_not(self, api, log, compare):
        with lost():
            api.post("/api/request-delivery", payload())
        before = timezone.now().isoformat()
        api.post("/api/request-delivery", {})
        api.get("/api/info-delivery/x")

        listed, end = compare(log, since=before)

        assert listed == []
        assert end.startswith("The log has no call about a delivery or order since ")


class TestOrders:
    def test_that_are_gone_or_whose_change_is_are_listed(self, seller, log, compare):
        made, call = seller
        kept = call("post", "/api/integration/orders", order_body())
        with lost():
            cancelled = call("post", "/api/integration/orders/cancel", {"orderId": order_body()["orderId"]})
            gone = call("post", "/api/integration/orders", order_body(orderId="A-2", trackingCode="TRACK-2"))
            second = made.orders.get(code="A-2").pk

        listed, end = compare(log)

        assert [answer.status_code for answer in (kept, cancelled, gone)] == [201, 200, 201]
        number = made.orders.get().pk
        hint = made.keys.get().hint
        assert [line.partition(" ")[2].partition(", ")[0] for line in listed] == [
            f"the change of order {number} is not there: POST /api/integration/orders/cancel 200",
            f"order {second} is not there: POST /api/integration/orders 201",
        ]
        assert end == f"2 of 3 answers name what is not there. Tell {hint} (2)."

    def test_whose_change_was_answered_with_an_error_are_not(self, seller, client, log, compare, monkeypatch):
        """It was rolled back, and its caller knows of none."""

        def fail(**_arguments):
            raise ValueError("of a fault")

        _made, call = seller
        call("post", "/api/integration/orders", order_body())
        monkeypatch.setattr(outbox, "record", fail)
        client.raise_request_exception = False
        failed = call("post", "/api/integration/orders/cancel", {"orderId": order_body()["orderId"]})

        assert failed.status_code == 500
        assert compare(log) == ([], "What 2 answers name is there.")


def test_a_moment_that_cannot_be_read_is_refused():
    with pytest.raises(CommandError, match=r"^yesterday is not a moment"):
        call_command("verify", after_failover="yesterday")
