"""Two web servers, three workers and two schedulers on servers that are reached over TCP, as docs/deployment.md says.

PostgreSQL is behind PgBouncer in transaction mode, Redis is Debian's. A web server and a worker are killed.
"""

import time
from datetime import timedelta

import pytest
from django.utils import timezone

from common.webhooks.breaker import OPENS_AFTER
from common.webhooks.queue import IN_FLIGHT_PER_ENDPOINT
from delivery.actions import deliveries
from delivery.alerts import actions as alerts
from delivery.alerts.models import AlertPost, EndpointAlerts
from delivery.models import EventState, Transition, WebhookEvent
from dev import embedded
from tests.factories import BY, DeliveryFactory, validated_payload
from tests.faults.calls import Traffic, created, made, statuses
from tests.faults.redis_server import redis_server, version_of
from tests.faults.report import await_all, figures_of, print_figures, sequences
from tests.faults.waiting import until
from tests.pgbouncer import pgbouncer, variables

_OFFERS = 20
_SIMULATED = 5
_SPEED = 10  # 7 s to the end of a simulated delivery
_MOVES = ["request", "accept", "collect", "deliver"]


@pytest.fixture(scope="module")
def servers(program, tmp_path_factory):
    """The environment of the processes."""
    folder = tmp_path_factory.mktemp("pgbouncer")
    with (
        pgbouncer(program("pgbouncer"), embedded.postgres_url(), folder, default_pool_size=20) as postgres_url,
        redis_server(program("redis-server")) as redis_url,
    ):
        assert int(version_of(redis_url).partition(".")[0]) >= 7
        yield {
            "DATABASE_URL": f"{postgres_url}/rota",
            "REDIS_URL": redis_url,
            **variables(program("pgbouncer")),
            "ALLOWED_HOSTS": "127.0.0.1",
            **embedded.local_secrets(),
        }


@pytest.fixture(scope="module")
def schedulers(module_processes, servers):
    return [module_processes.start("beat", **servers) for _number in range(2)]


@pytest.fixture(scope="module")
def workers(module_processes, servers, schedulers):
    return [
        module_processes.start("worker", module="tests.faults.worker_to_loopback", **servers) for _number in range(3)
    ]


@pytest.fixture(scope="module")
def nodes(module_processes, servers):
    """The two web servers, each of one process, by their addresses."""
    environment = {**servers, "DATABASE_URL": f"{servers['DATABASE_URL']}_web", "WEB_WORKERS": "1"}
    started = [module_processes.start_web(**environment) for _number in range(2)]
    return {web.base: web for web in started}


# Fails if a lock is of the session instead of the transaction (`_SERIALIZE_CLAIMS` in common/webhooks/claims.py), or a
# statement is prepared in spite of DATABASE_PREPARE=0 (config/settings.py): the next transaction may get another
# connection. Fails if what a killed worker has claimed stays its own (LEASE in common/webhooks/claims.py).
@pytest.mark.ci
def test_one_of_two_web_servers_and_of_three_workers_are_killed(nodes, workers, callers, endpoint, shop):
    first, second = nodes
    with Traffic(callers, [first, second], per_second=50) as traffic:
        until(lambda: len(endpoint.receipts) > 30, what="30 webhooks received")
        nodes[first].kill()
        traffic.until_unanswered(10)
        nodes[first].start()
        back = time.monotonic()
        until(lambda: len(traffic.since(back)) > 100, what="100 answers")
        workers[0].kill()
        killed = time.monotonic()
        until(lambda: len(traffic.since(killed)) > 200, what="200 answers without the worker")
    unanswered = [answer for answer in traffic.answers if not answer.status]
    before_repetition = made(unanswered)
    repeated = traffic.repeat(second, unanswered)
    events = WebhookEvent.objects.filter(endpoint__integrator=shop.integrator)
    # Until the lease of what the killed worker was sending has ended.
    await_all(sequences(events), endpoint)
    until(lambda: not events.exclude(state=EventState.SENT).exists(), what="every event recorded as sent")

    figures = figures_of(sequences(events), endpoint.receipts)
    print_figures(
        "2 web servers and 3 workers, one of each killed", figures, calls=len(traffic.answers),
        unanswered=len(unanswered), made_without_an_answer=before_repetition[1],
        slowest_seconds_of_calls=max(each.seconds for each in traffic.answers if each.is_good),
    )  # fmt: skip  # one figure each
    assert statuses(traffic.answers).keys() == {0, 200, 201}
    assert statuses(repeated).keys() == {201}
    assert made(traffic.answers).keys() == {1}
    assert set(created((*traffic.answers, *repeated))) == {delivery for delivery, _sequence in sequences(events)}
    assert (figures.lost, figures.out_of_order) == (0, 0)
    assert figures.duplicated <= IN_FLIGHT_PER_ENDPOINT
    # What was sent twice is the same event.
    assert len({receipt.webhook_id for receipt in endpoint.receipts}) == figures.received


# Fails if an alert is not remembered as reported (`_tell` in delivery/alerts/actions.py). It does not show what locks
# are for: the tasks of the two seldom run in the same moment.
@pytest.mark.ci
def test_two_schedulers_do_nothing_twice(schedulers, workers, shop_at, new_endpoint):
    """Overdue offers, simulated deliveries and an alert, whose tasks both of them send to the workers."""
    endpoint, channel, later_channel = new_endpoint(), new_endpoint(), new_endpoint()
    now = timezone.now()
    shop, tester = shop_at(endpoint.url), shop_at(endpoint.url, sandbox=True)
    simulated = [
        deliveries.request(
            token=tester, payload=validated_payload(stops=1), by=BY, at=now, simulation_speed=_SPEED
        )
        for _number in range(_SIMULATED)
    ]  # fmt: skip  # one call
    offers = [DeliveryFactory.create(token=shop, at=now - timedelta(hours=2)) for _number in range(_OFFERS)]
    failing = _failing_endpoint(shop_at(endpoint.url), channel)

    def triggers(found):
        return [list(each.transitions.order_by("pk").values_list("trigger", flat=True)) for each in found]

    until(lambda: triggers(offers) == [["request", "expire"]] * _OFFERS, what="each offer expired once")
    until(lambda: triggers(simulated) == [_MOVES] * _SIMULATED, what="each simulated move made once")
    until(lambda: channel.receipts, what="the alert")
    _failing_endpoint(shop_at(endpoint.url), later_channel)
    until(lambda: later_channel.receipts, what="an alert of a later turn")
    events = WebhookEvent.objects.filter(delivery__in=[*offers, *simulated])
    await_all(sequences(events), endpoint)
    figures = figures_of(sequences(events), endpoint.receipts)

    print_figures("Two schedulers", figures, offers_expired=_OFFERS, simulated=_SIMULATED, alerts=len(channel.receipts))
    assert [scheduler.is_running for scheduler in schedulers] == [True, True]
    assert triggers(offers) == [["request", "expire"]] * _OFFERS
    assert triggers(simulated) == [_MOVES] * _SIMULATED
    assert AlertPost.objects.filter(alerts__endpoint=failing).count() == len(channel.receipts) == 1
    assert (figures.lost, figures.duplicated, figures.out_of_order) == (0, 0, 0)
    assert Transition.objects.filter(delivery__in=[*offers, *simulated]).count() == events.count()


def _failing_endpoint(shop, channel):
    """One whose breaker is open, which is told to `channel`."""
    endpoint = shop.integrator.endpoints.get(environment="live")
    alerts.set_url(endpoint=endpoint, url=channel.url, language="en", by=BY, at=timezone.now())
    # The digest of the morning would be a second message to the same URL.
    EndpointAlerts.objects.filter(endpoint=endpoint).update(digest_on=timezone.localdate())
    type(endpoint).objects.filter(pk=endpoint.pk).update(failures=OPENS_AFTER)
    return endpoint
