"""A web server that is killed in the middle of calls. Repeated with their Idempotency-Key, each makes exactly one."""

from contextlib import contextmanager
from threading import Thread

import pytest
from django.db import connection, transaction

from delivery.models import WebhookEvent
from tests.faults.calls import call, made, new_session
from tests.faults.outages import held_commits
from tests.faults.waiting import until


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


def _is_waiting():
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = %s::regclass",
            [WebhookEvent._meta.db_table],
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
