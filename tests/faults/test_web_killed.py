"""A web server that is killed in the middle of calls. Repeated with their Idempotency-Key, each makes exactly one."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from http import HTTPStatus
from threading import Thread

import pytest
import requests
from django.db import connection, transaction
from django.utils import timezone

from delivery.models import DriverPosition, WebhookEvent
from tests.factories import PICKUP, DriverFactory
from tests.faults.calls import call, made, new_session
from tests.faults.drivers import log_in
from tests.faults.outages import held_commits
from tests.faults.waiting import DEADLINE_SECONDS, until


@pytest.fixture(scope="module")
def server(module_processes):
    return module_processes.start_web()


@contextmanager
def made_meanwhile(base, request):
    """Make a request within a `with` block, which sets its end. Yields a list, which has the answer after the block."""
    answers = []
    with new_session() as session:
        thread = Thread(target=lambda: answers.append(call(session, base, request)))
        thread.start()
        yield answers
        thread.join()


# Fails if the record of the key is committed before the delivery (`run_once` in common/api/idempotency.py without its
# transaction), and if the event is written in another transaction than the delivery (delivery/actions/deliveries.py).
@pytest.mark.ci
def test_the_delivery_of_a_killed_transaction_is_made_by_the_repetition(server, callers):
    """The transaction has written the delivery, and waits to write its event, when the server is killed."""
    request, events = callers.delivery(), WebhookEvent.objects.count()
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute(f"LOCK TABLE {WebhookEvent._meta.db_table} IN SHARE ROW EXCLUSIVE MODE")
        with made_meanwhile(server.base, request) as answers:
            until(_is_waiting, what="a transaction waits for the lock")
            server.kill()
    (unanswered,) = answers
    until(lambda: not _is_waiting(), what="the transaction has ended")
    assert (unanswered.status, made(answers)) == (0, {0: 1})
    server.start()

    with new_session() as session:
        first, again = call(session, server.base, request), call(session, server.base, request)

    assert (first.status, again.status, first.body) == (201, 201, again.body)
    assert "idempotency-replayed" not in first.headers
    assert made(answers) == {1: 1}
    assert WebhookEvent.objects.count() == events + 1


# Fails if a position that was stored without an answer is not recognised (`_repeated` in
# delivery/geo/position_filter.py), or if the answer is given before the commit.
@pytest.mark.ci
def test_positions_of_a_killed_report_are_stored_once(server):
    """The statement that stores them waits when the server is killed, and stores them although nobody is answered."""
    with new_session() as session:
        driver = DriverFactory.create(on_duty=True)
        log_in(session, server.base, driver)
        headers = {"X-CSRFToken": session.get(f"{server.base}/driver/state/", timeout=DEADLINE_SECONDS).json()["csrf"]}

        def send(*found):
            body = {"sentAt": timezone.now().isoformat(), "positions": found}
            url = f"{server.base}/driver/positions/"
            return session.post(url, json=body, headers=headers, timeout=DEADLINE_SECONDS)

        answered, unanswered = ([_found(ago) for ago in moments] for moments in ((9, 8, 7), (6, 5, 4)))
        assert send(*answered).json()["kept"] == len(answered)
        with transaction.atomic(), ThreadPoolExecutor(1) as pool:
            with connection.cursor() as cursor:
                cursor.execute(f"LOCK TABLE {DriverPosition._meta.db_table} IN SHARE ROW EXCLUSIVE MODE")
            sending = pool.submit(send, *unanswered)
            until(lambda: _is_waiting(DriverPosition), what="the statement waits for the lock")
            server.kill()
            assert isinstance(sending.exception(), requests.ConnectionError)
        until(lambda: not _is_waiting(DriverPosition), what="the statement has ended")
        server.start()

        assert send(*unanswered, later := _found(1)).status_code == HTTPStatus.OK

        stored = driver.positions.order_by("recorded_at").values_list("told_at", flat=True)
        assert [each.isoformat() for each in stored] == [each["at"] for each in (*answered, *unanswered, later)]


def _found(ago):
    at = timezone.now() - timedelta(seconds=ago)
    return {"latitude": PICKUP.latitude, "longitude": PICKUP.longitude, "accuracy": 8, "at": at.isoformat()}


def _is_waiting(model=WebhookEvent):
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = %s::regclass", [model._meta.db_table]
        )
        return cursor.fetchone() != (0,)


# Fails if the answer is stored after the commit of the delivery, or not looked for (`run_once` and `_reserve` in
# common/api/idempotency.py): the repetition would make another delivery, or be refused.
@pytest.mark.ci
def test_the_delivery_of_a_killed_answer_is_that_of_the_repetition(server, callers):
    """The transaction is committed, and the server does not know that yet, when it is killed."""
    with new_session() as session:
        call(session, server.base, callers.delivery())  # writes when the token was used, for a while
    request, events = callers.delivery(), WebhookEvent.objects.count()
    with held_commits() as is_held, made_meanwhile(server.base, request) as answers:
        until(is_held, what="a commit that is not answered")
        server.kill()
    (unanswered,) = answers
    until(lambda: made(answers) == {1: 1}, what="PostgreSQL shows what is committed")
    assert (unanswered.status, WebhookEvent.objects.count()) == (0, events + 1)
    server.start()

    with new_session() as session:
        repeated = call(session, server.base, request)

    assert (repeated.status, repeated.headers.get("idempotency-replayed")) == (201, "true")
    assert made(answers) == {1: 1}
    assert WebhookEvent.objects.get(delivery=repeated.json["deliveryId"]).sequence == 1
    assert WebhookEvent.objects.count() == events + 1
