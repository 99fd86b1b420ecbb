"""What outcomes change of their endpoint: the breaker, and whether it is switched on."""

import logging
from datetime import timedelta
from functools import partial
from uuid import uuid4

import pytest
from django.utils import timezone

from common.webhooks import claims, endpoints, queue, replays
from common.webhooks.http_client import Result, StoredHead
from common.webhooks.settlement import settle
from delivery.models import EventState, OffBecause, WebhookEndpoint, WebhookEvent, WebhookQueueItem
from delivery.webhooks.outbox import OUTBOX
from tests.common.webhooks.settling import NOW, OK, REFUSED, attempt, claim, item_of
from tests.factories import BY, DeliveryFactory


@pytest.fixture(params=["url", "switch"])
def switch_on(request, endpoint, sink):
    """Sets another URL, or switches the endpoint on."""
    if request.param == "url":
        return partial(endpoints.set_url, endpoint=endpoint, url=sink.url + "/new", by=BY)
    return partial(endpoints.set_enabled, endpoint=endpoint, enabled=True, by=BY)


class TestEndpoint:
    def test_counts_failures_in_a_row_and_pauses_after_the_fifth(self, first, endpoint):
        for _try in range(5):
            attempt(first, REFUSED, at=NOW)

        endpoint.refresh_from_db()
        assert (endpoint.failures, endpoint.failing_since) == (5, NOW)
        assert endpoint.paused_until == NOW + timedelta(seconds=5)

    def test_one_success_makes_everything_due_that_waited(self, token, first, endpoint):
        for _try in range(5):
            attempt(first, REFUSED)
        waiting = DeliveryFactory.create(token=token)
        (claimed,) = claims.claim(OUTBOX, lease=uuid4(), at=NOW, limit=1)
        WebhookQueueItem.objects.exclude(pk=claimed.item_id).update(due_at=NOW + timedelta(hours=20))

        settle(OUTBOX, [(claimed, Result(**OK, at=NOW))], at=NOW)

        endpoint.refresh_from_db()
        assert (endpoint.failures, endpoint.paused_until, endpoint.failing_since) == (0, None, None)
        assert {item.due_at for item in WebhookQueueItem.objects.all()} == {NOW}
        assert WebhookQueueItem.objects.filter(delivery__in=[waiting, first.delivery]).exists()

    @pytest.mark.parametrize(("failures", "outcome"), [(1, OK), (5, REFUSED)])
    def test_keeps_what_waits_while_the_breaker_remains_closed_or_open(self, token, first, endpoint, failures, outcome):
        for _try in range(failures):
            attempt(first, REFUSED, at=NOW)
        at, due_at = NOW + timedelta(days=1), NOW + timedelta(days=2)
        waiting = item_of(DeliveryFactory.create(token=token))
        WebhookQueueItem.objects.filter(pk=waiting.pk).update(due_at=due_at)

        settle(OUTBOX, [(claim(at=at)[first.pk], Result(**outcome, at=at))], at=at)

        endpoint.refresh_from_db()
        assert endpoint.failures == (0 if outcome == OK else 6)
        assert WebhookQueueItem.objects.get(pk=waiting.pk).due_at == due_at

    def test_the_last_success_is_written_when_the_one_before_is_more_than_a_second_old(self, first, endpoint):
        first, second, third = first.delivery.events.order_by("sequence")
        for event, seconds in ((first, 0), (second, 1), (third, 2.1)):
            attempt(event, OK, at=NOW + timedelta(seconds=seconds))

            endpoint.refresh_from_db()
            assert endpoint.last_success_at == NOW + timedelta(seconds=0 if seconds <= 1 else seconds)

    @pytest.mark.parametrize("failures", [0, 3])
    def test_the_last_success_is_the_moment_at_which_its_request_was_sent(self, first, endpoint, failures):
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(failures=failures)

        settle(OUTBOX, [(claim(at=NOW)[first.pk], Result(**OK, at=NOW))], at=NOW + timedelta(seconds=8))

        endpoint.refresh_from_db()
        assert (endpoint.failures, endpoint.last_success_at) == (0, NOW)

    def test_410_switches_off_and_keeps_the_events(self, first, endpoint):
        attempt(first, {"status_code": 410}, at=NOW)

        endpoint.refresh_from_db()
        assert (endpoint.enabled, endpoint.off_because, endpoint.off_since) == (False, "gone", NOW)
        assert (first.state, item_of(first.delivery).event) == (EventState.PENDING, first)

    def test_a_late_410_keeps_the_reason_of_an_endpoint_that_a_person_switched_off(self, first, endpoint):
        claimed = claim(at=NOW)[first.pk]
        endpoints.set_enabled(endpoint=endpoint, enabled=False, by=BY, at=NOW)

        settle(OUTBOX, [(claimed, Result(status_code=410, at=NOW))], at=NOW + timedelta(seconds=1))

        endpoint.refresh_from_db()
        assert (endpoint.enabled, endpoint.off_because, endpoint.off_since) == (False, "staff", NOW)

    def test_a_410_of_a_request_sent_before_the_breaker_opened_switches_off(self, token, first, endpoint):
        DeliveryFactory.create(token=token)
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(failures=4, failing_since=NOW)
        one, other = claim(at=NOW).values()

        settle(OUTBOX, [(one, Result(**REFUSED, at=NOW))], at=NOW)
        settle(OUTBOX, [(other, Result(status_code=410, at=NOW))], at=NOW)

        endpoint.refresh_from_db()
        assert (endpoint.enabled, endpoint.off_because) == (False, "gone")

    def test_a_failure_of_a_request_sent_before_the_breaker_opened_does_not_count(self, token, first, endpoint):
        DeliveryFactory.create(token=token)
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(failures=4, failing_since=NOW)
        one, other = claim(at=NOW).values()

        settle(OUTBOX, [(one, Result(**REFUSED, at=NOW))], at=NOW)
        settle(OUTBOX, [(other, Result(**REFUSED, at=NOW))], at=NOW + timedelta(seconds=10))  # after the pause

        endpoint.refresh_from_db()
        assert endpoint.failures == 5

    def test_a_poisoned_event_does_not_count_as_a_failure(self, first, endpoint):
        WebhookQueueItem.objects.filter(event=first).update(is_ordered=False)
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(failures=5)

        attempt(first, {"status_code": 422}, at=NOW)

        endpoint.refresh_from_db()
        assert (endpoint.failures, endpoint.paused_until) == (5, None)

    def test_five_days_without_a_success_switch_off(self, first, endpoint):
        attempt(first, REFUSED, at=NOW)
        attempt(first, REFUSED, at=NOW + timedelta(days=4, hours=23))
        endpoint.refresh_from_db()
        assert endpoint.enabled

        attempt(first, REFUSED, at=NOW + timedelta(days=5))

        endpoint.refresh_from_db()
        assert (endpoint.enabled, endpoint.off_because) == (False, "failing")

    def test_a_new_url_and_switching_on_reset_the_breaker_and_make_the_backlog_due(self, first, endpoint, switch_on):
        attempt(first, {"status_code": 410})
        at = timezone.now()

        switch_on(at=at)

        endpoint.refresh_from_db()
        assert (endpoint.enabled, endpoint.off_because, endpoint.failures) == (True, "", 0)
        assert first.pk in claim(at=at)

    def test_a_new_url_and_switching_on_make_poisoned_events_due_too(self, first, switch_on):
        WebhookQueueItem.objects.update(is_ordered=False, due_at=NOW + timedelta(hours=9))

        switch_on(at=NOW)

        assert WebhookQueueItem.objects.get().due_at == NOW

    def test_what_fails_while_the_url_is_set_or_the_endpoint_switched_on_is_due_too(
        self, first, switch_on, monkeypatch, django_capture_on_commit_callbacks
    ):
        claimed, bring_forward = claim(at=NOW)[first.pk], queue.bring_forward
        meanwhile = iter([partial(settle, OUTBOX, [(claimed, Result(**REFUSED, at=NOW))], at=NOW)])

        def fail_after(*args, **values):
            bring_forward(*args, **values)
            next(meanwhile, lambda: None)()

        monkeypatch.setattr(queue, "bring_forward", fail_after)
        with django_capture_on_commit_callbacks(execute=True):
            switch_on(at=NOW)

        item = WebhookQueueItem.objects.get()
        assert (item.due_at, item.tries, item.lease) == (NOW, 0, None)

    @pytest.mark.parametrize("failure", [REFUSED, {"status_code": 410}])
    def test_a_late_failure_of_the_url_before_counts_neither_for_the_event_nor_for_the_endpoint(
        self, first, endpoint, sink, failure
    ):
        claimed = claim(at=NOW)[first.pk]
        endpoints.set_url(endpoint=endpoint, url=sink.url + "/new", by=BY, at=NOW)

        settle(OUTBOX, [(claimed, Result(**failure, at=NOW, request=StoredHead(sink.url)))], at=NOW)

        endpoint.refresh_from_db()
        assert (endpoint.failures, endpoint.enabled) == (0, True)
        item = WebhookQueueItem.objects.get()
        assert (item.due_at, item.tries, item.event.attempts_made) == (NOW, 0, 1)

    def test_a_late_success_of_the_url_before_is_one_so_that_nothing_is_received_twice(self, first, endpoint, sink):
        claimed = claim(at=NOW)[first.pk]
        endpoints.set_url(endpoint=endpoint, url=sink.url + "/new", by=BY, at=NOW)
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(failures=1)

        settle(OUTBOX, [(claimed, Result(**OK, at=NOW, request=StoredHead(sink.url)))], at=NOW)

        first.refresh_from_db()
        assert (first.state, item_of(first.delivery).event.sequence) == (EventState.SENT, 2)

    def test_a_test_event_that_is_refused_counts_as_a_failure(self, endpoint):
        event = endpoints.send_test(endpoint=endpoint, by=BY, at=NOW - timedelta(minutes=1))

        for _try in range(4):
            attempt(event, REFUSED, at=NOW)

        endpoint.refresh_from_db()
        assert (endpoint.failures, WebhookQueueItem.objects.get().event) == (4, event)

    def test_an_endpoint_that_recovers_repeatedly_does_not_use_up_the_schedule(self, token, first, endpoint):
        good = DeliveryFactory.create(token=token).events.get()
        for _time in range(30):
            WebhookQueueItem.objects.update(due_at=NOW, lease=None)
            WebhookEndpoint.objects.filter(pk=endpoint.pk).update(failures=0)
            claimed = claim(at=NOW)
            WebhookEndpoint.objects.filter(pk=endpoint.pk).update(failures=5)
            settle(OUTBOX, [(claimed[first.pk], Result(error="protocol", at=NOW))], at=NOW)
            settle(OUTBOX, [(claimed[good.pk], Result(**OK, at=NOW))], at=NOW)
            replays.replay(events=WebhookEvent.objects.filter(pk=good.pk), by=BY, at=timezone.now())

        first.refresh_from_db()
        assert (first.state, first.attempts_made) == (EventState.PENDING, 30)
        assert WebhookQueueItem.objects.get(event=first).tries <= 1


class TestLog:
    @pytest.fixture
    def lines(self, caplog, endpoint):
        """A function that returns what was logged of the endpoint since its last call."""
        caplog.set_level(logging.INFO, logger="common.webhooks.settlement")

        def taken():
            messages = [record.getMessage() for record in caplog.records]
            caplog.clear()
            return [message.removeprefix(f"webhook endpoint {endpoint.pk} ") for message in messages]

        return taken

    def test_says_once_that_the_breaker_opened_and_once_that_it_closed(self, first, lines):
        outcomes = [*[REFUSED] * 6, OK]
        logged = []

        for outcome in outcomes:
            attempt(first, outcome, at=NOW)
            logged.append(lines())

        assert logged == [[], [], [], [], ["failed 5 times in a row"], [], ["accepts events again"]]

    def test_says_nothing_of_a_success_after_fewer_failures(self, first, lines):
        attempt(first, REFUSED, at=NOW)
        attempt(first, OK, at=NOW)

        assert lines() == []

    def test_says_once_that_and_why_an_endpoint_was_switched_off(self, token, first, lines):
        DeliveryFactory.create(token=token)
        one, other = claim(at=NOW).values()

        settle(OUTBOX, [(one, Result(status_code=410, at=NOW))], at=NOW)
        logged = lines()
        settle(OUTBOX, [(other, Result(status_code=410, at=NOW))], at=NOW)

        assert logged == [f"switched off: {OffBecause.GONE.label}"]
        assert lines() == []
