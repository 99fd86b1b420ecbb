"""The event log: filters, pages, attempts, sending again."""

import re
from datetime import timedelta
from uuid import uuid4

import pgtrigger
import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from common.accounts import Role
from common.brazil.formats import moment
from delivery.actions import deliveries
from delivery.models import (
    EventState,
    IntegratorMembership,
    WebhookAttempt,
    WebhookEndpoint,
    WebhookEvent,
    WebhookQueueItem,
)
from tests.factories import BY, DeliveryFactory


def shown(member, url, **query):
    return [event.pk for event in member.get(url("events"), query).context["rows"]]


@pytest.fixture
def events(with_url):
    """The events of a collected delivery: sent, dead, and waiting."""
    delivery = DeliveryFactory.create(token=with_url.token, collected=True)
    made = list(WebhookEvent.objects.filter(delivery=delivery).order_by("sequence"))
    WebhookEvent.objects.filter(pk=made[0].pk).update(state=EventState.SENT)
    WebhookEvent.objects.filter(pk=made[1].pk).update(state=EventState.DEAD)
    WebhookQueueItem.objects.filter(delivery=delivery).update(event=made[2])
    return made


class TestList:
    def test_filters(self, member, url, events):
        sent, dead, pending = ([event.pk] for event in events)

        assert [shown(member, url, state=state) for state in ("sent", "dead", "pending")] == [sent, dead, pending]
        assert shown(member, url, name="ACCEPT") == dead

    def test_filters_by_delivery_and_order(self, member, url, events, shop):
        newest_first = [event.pk for event in reversed(events)]

        assert shown(member, url, q=str(events[0].delivery_id)) == newest_first
        assert set(newest_first) < set(shown(member, url, q="order-1"))
        assert shown(member, url, q="order") == []

    def test_names_the_orders_and_the_first_words_of_a_failed_answer(self, member, url, events):
        _sent, dead, _pending = events
        dead.attempts.all().delete()
        WebhookEvent.objects.filter(pk=dead.pk).update(attempts_made=1)
        failed = {"status_code": 503, "response_start": "Out of paper", "milliseconds": 5}
        WebhookAttempt.objects.create(event=dead, number=1, at=timezone.now(), **failed)

        found = member.get(url("events"), {"state": "dead"}).content.decode()

        assert "Out of paper" in found
        assert dead.delivery.ordered_stops[0].external_id in found

    def test_ignores_malformed_filters(self, member, url, events):
        queries = [{"state": "x"}, {"since": "yesterday"}, {"before": "x|y"}, {"q": "é" * 300}]

        assert [member.get(url("events"), query).status_code for query in queries] == [200] * 4

    def test_makes_no_more_queries_for_more_events(self, member, url, with_url, django_assert_max_num_queries):
        for _number in range(10):
            DeliveryFactory.create(token=with_url.token, stops=1)
        with django_assert_max_num_queries(15):
            member.get(url("events"))


class TestOne:
    def test_shows_every_attempt(self, member, url, events):
        WebhookAttempt.objects.create(
            event=events[1], number=1, at=timezone.now(), milliseconds=31, status_code=503, response_start="<script>1"
        )
        WebhookAttempt.objects.create(
            event=events[1], number=2, at=timezone.now(), milliseconds=15000, error="no answer in 15 s"
        )

        content = member.get(url("event", events[1].pk)).content.decode()

        assert all(
            text in content for text in ("503", "31 ms", "no answer in 15 s", "&lt;script&gt;1", str(events[1].pk))
        )
        assert "<script>1" not in content

    def test_without_a_url_leads_to_where_one_is_set(self, member, url, shop):
        pages = [member.get(address).content.decode() for address in (url("events"), url("event", shop.event.pk))]

        for content in pages:
            assert "No webhook URL is set" in content
            assert f'href="{url("webhook")}">Set the URL' in " ".join(content.split()).replace("> ", ">")
            assert "Send again" not in content
            assert "Recover failed events" not in content

    def test_without_a_url_leads_nobody_there_who_may_not_set_one(self, member, url, shop):
        shop.integrator.memberships.create(user=User.objects.create_user("boss"), role=Role.OWNER)
        own = IntegratorMembership.objects.exclude(user__username="boss")
        own.update(role=Role.MEMBER, may_request=False)

        for address in (url("events"), url("event", shop.event.pk)):
            content = member.get(address).content.decode()
            assert "No webhook URL is set" in content
            assert "Set the URL" not in content

    def test_has_the_other_events_of_its_delivery(self, member, url, events):
        content = member.get(url("event", events[1].pk)).content.decode()

        section = content.partition('id="others"')[2].partition("</section>")[0]
        assert [event.pk for event in events if url("event", event.pk) in section] == [event.pk for event in events]
        assert section.count("aria-current") == 1

    def test_is_not_sent_again_without_a_url(self, member, url, shop):
        response = member.post(url("event_resend", shop.event.pk), follow=True)

        assert "has no URL" in response.content.decode()


class TestMany:
    def again(self, member, url, since, until):
        times = {"since": since.strftime("%Y-%m-%dT%H:%M"), "until": until.strftime("%Y-%m-%dT%H:%M")}
        return member.post(url("events_resend"), times, follow=True)

    def test_sends_what_failed_in_the_range(self, member, url, events):
        now = timezone.localtime()

        response = self.again(member, url, now - timedelta(hours=1), now + timedelta(hours=1))

        assert "again_count=2" in response.redirect_chain[0][0]  # the dead one, and one before the URL
        assert WebhookEvent.objects.get(pk=events[1].pk).state == EventState.PENDING
        assert WebhookEvent.objects.get(pk=events[0].pk).state == EventState.SENT
        assert url("events_progress") in response.content.decode()

    @pytest.mark.parametrize("hours", [0, 1])
    def test_refuses_a_range_that_ends_before_or_when_it_begins(self, member, url, events, hours):
        now = timezone.localtime()

        response = self.again(member, url, now, now - timedelta(hours=hours))

        assert response.status_code == 422
        assert "The end lies before the beginning" in response.content.decode()

    def test_shows_the_progress(self, member, url, events):
        span = {
            "again_since": "2026-01-01T00:00:00+00:00",
            "again_until": "2099-01-01T00:00:00+00:00",
            "again_count": "2",
        }

        waiting = member.get(url("events_progress"), span).content.decode()
        WebhookEvent.objects.filter(state=EventState.PENDING).update(state=EventState.SENT)
        done = member.get(url("events_progress"), span).content.decode()

        assert "0 of 2 events received" in waiting
        assert "every 1s" in waiting
        assert "1 of 2 received, 1 failed without further retries" in done
        assert "every 1s" not in done

    def test_answers_404_for_the_progress_of_no_range(self, member, url):
        assert member.get(url("events_progress"), {"again_since": "x"}).status_code == 404


class TestFailing:
    """Events that were tried and will be tried again, apart from those that were not tried."""

    @pytest.fixture
    def failing(self, events, with_url):
        """The delivery's third event, which was answered 503 and is due in an hour; its fourth waits behind it."""
        deliveries.deliver(delivery=events[0].delivery, point="B", by=BY, at=timezone.now())
        event = events[2]
        WebhookAttempt.objects.create(event=event, number=1, at=timezone.now(), milliseconds=31, status_code=500)
        WebhookAttempt.objects.create(event=event, number=2, at=timezone.now(), milliseconds=47, status_code=503)
        WebhookEvent.objects.filter(pk=event.pk).update(attempts_made=2)
        WebhookQueueItem.objects.filter(event=event).update(due_at=timezone.now() + timedelta(hours=1), tries=2)
        return event

    def test_are_a_state_of_the_filter_apart_from_waiting(self, member, url, failing):
        assert shown(member, url, state="failing") == [failing.pk]
        assert shown(member, url, state="pending") == [failing.delivery.events.get(sequence=4).pk]

    def test_are_shown_with_the_last_answer_and_the_next_attempt(self, member, url, failing):
        content = member.get(url("events"), {"state": "failing"}).content.decode()

        due_at = WebhookQueueItem.objects.get(event=failing).due_at
        assert "503</span>" in content
        assert "500</span>" not in content
        assert "47 ms" in content
        assert re.search(rf'title="{re.escape(moment(due_at))}">in (1 h 0|60) min</time>', content)
        assert ">Failing</span>" in content

    def test_an_event_that_was_received_and_is_sent_again_is_waiting(self, member, url, events):
        member.post(url("event_resend", events[0].pk))
        WebhookEvent.objects.filter(pk=events[0].pk).update(attempts_made=1, sent_at=timezone.now())
        WebhookQueueItem.objects.filter(delivery=events[0].delivery).update(event=events[0])

        assert shown(member, url, state="failing") == []
        assert WebhookEvent.objects.get(pk=events[0].pk).shown_state == "pending"

    def test_one_is_tried_now(self, member, url, failing):
        response = member.post(url("event_resend", failing.pk), {"waits": "1"}, follow=True)

        assert "It is being tried now" in response.content.decode()
        assert WebhookQueueItem.objects.get(event=failing).due_at <= timezone.now()

    def test_one_that_waits_behind_another_says_so_and_the_other_is_tried(self, member, url, failing):
        behind = failing.delivery.events.get(sequence=4)
        assert f"#{failing.sequence}" in member.get(url("event", behind.pk)).content.decode()

        response = member.post(url("event_resend", behind.pk), {"waits": "1"}, follow=True)

        assert "An earlier event has to be received first" in response.content.decode()
        assert WebhookQueueItem.objects.get(event=failing).due_at <= timezone.now()

    def test_one_that_was_received_meanwhile_is_not_sent_again(self, member, url, events):
        response = member.post(url("event_resend", events[0].pk), {"waits": "1"}, follow=True)

        assert "It was received meanwhile" in response.content.decode()
        assert WebhookEvent.objects.get(pk=events[0].pk).state == EventState.SENT

    def test_a_pause_that_the_endpoint_asked_for_is_named(self, member, url, failing, with_url):
        until = timezone.now() + timedelta(minutes=7)
        WebhookEndpoint.objects.filter(pk=with_url.endpoint.pk).update(paused_until=until, retry_after_until=until)

        response = member.post(url("event_resend", failing.pk), {"waits": "1"}, follow=True)

        assert f"asked for a pause until {moment(until)}" in response.content.decode()
        past = {"paused_until": None, "retry_after_until": timezone.now()}
        WebhookEndpoint.objects.filter(pk=with_url.endpoint.pk).update(**past)
        response = member.post(url("event_resend", failing.pk), {"waits": "1"}, follow=True)
        assert "asked for a pause" not in response.content.decode()

    def test_are_recovered_with_those_that_are_not_retried_any_more(self, member, url, events, failing):
        TestMany().again(
            member, url, timezone.localtime() - timedelta(hours=1), timezone.localtime() + timedelta(hours=1)
        )

        assert WebhookEvent.objects.get(pk=events[1].pk).state == EventState.PENDING
        assert WebhookQueueItem.objects.get(event=failing).due_at <= timezone.now()


class TestDialog:
    """To recover what failed: it is loaded when it opens, and counts the events of the chosen time."""

    @pytest.fixture
    def old(self, events):
        """The dead event, three days old."""
        at = timezone.now() - timedelta(days=3)
        with pgtrigger.ignore("delivery.WebhookEvent:event_body_immutable"):
            WebhookEvent.objects.filter(pk=events[1].pk).update(created_at=at)
        return at

    def test_begins_at_the_first_failure(self, member, url, old, events):
        content = member.get(url("events_resend")).content.decode()

        assert f"Since the first failure, {moment(old)}" in content
        assert "Send 2 events" in content  # the other was recorded before the URL
        assert re.search(r'value="failure"[^>]*checked', content)
        earlier = old - timedelta(days=1)
        failing = {"state": EventState.PENDING, "attempts_made": 1, "created_at": earlier}
        with pgtrigger.ignore("delivery.WebhookEvent:event_body_immutable"):
            WebhookEvent.objects.filter(pk=events[2].pk).update(**failing)
        content = member.get(url("events_resend")).content.decode()
        assert f"Since the first failure, {moment(earlier)}" in content

    def test_begins_with_a_day_where_nothing_failed(self, member, url, with_url):
        content = member.get(url("events_resend")).content.decode()

        assert "Since the first failure" not in content
        assert re.search(r'value="day"[^>]*checked', content)

    def test_counts_what_failed_in_a_period(self, member, url, old):
        for period, text in {"hour": "Send 1 event<", "day": "Send 1 event<", "week": "Send 2"}.items():
            content = member.get(url("events_resend"), {"period": period}).content.decode()

            assert text in re.sub(r"\s*<", "<", content), period

    def test_takes_the_times_of_the_filter(self, member, url, old):
        times = {"since": "2026-11-01T08:00", "until": "2026-11-02T09:30"}

        content = member.get(url("events_resend"), times).content.decode()

        assert all(f'value="{moment}"' in content for moment in times.values())
        assert "<b>0 events</b>" in content
        assert re.search(r'<button class="button prime" disabled', content)

    def test_cannot_be_sent_without_a_time(self, member, url, old):
        for query in ({"period": "range"}, {"since": "yesterday"}, {"period": "x"}):
            content = member.get(url("events_resend"), query).content.decode()

            assert re.search(r'<button class="button prime" disabled', content), query

    def test_sends_what_failed_in_a_period(self, member, url, events, old):
        member.post(url("events_resend"), {"period": "day"})
        assert WebhookEvent.objects.get(pk=events[1].pk).state == EventState.DEAD

        member.post(url("events_resend"), {"period": "failure"})
        assert WebhookEvent.objects.get(pk=events[1].pk).state == EventState.PENDING

    def test_is_not_computed_for_the_list(self, member, url, old):
        with CaptureQueriesContext(connection) as queries:
            member.get(url("events"))

        assert [query["sql"] for query in queries if "MIN(" in query["sql"]] == []


class TestSelected:
    def send(self, member, url, *keys, query=""):
        return member.post(url("events_resend_selected") + query, {"event": [str(key) for key in keys]}, follow=True)

    def test_are_sent_but_for_those_that_were_received_and_lead_back_to_the_same_list(self, member, url, events):
        response = self.send(member, url, events[0].pk, events[1].pk, query="?state=dead&q=x")

        assert response.redirect_chain == [(f"{url('events')}?state=dead&q=x", 302)]
        assert "1 event is on its way." in response.content.decode()
        states = list(events[0].delivery.events.order_by("sequence").values_list("state", flat=True))
        assert states == [EventState.SENT, EventState.PENDING, EventState.PENDING]

    @pytest.mark.parametrize("keys", [[], ["x"], ["'"], ["1" * 5000]])
    def test_are_none_without_a_valid_id(self, member, url, events, keys):
        response = self.send(member, url, *keys)

        assert "No event is selected" in response.content.decode()
        assert WebhookEvent.objects.get(pk=events[1].pk).state == EventState.DEAD

    def test_are_at_most_one_page(self, member, url, events):
        response = self.send(member, url, events[1].pk, *(uuid4() for _number in range(50)))

        assert "At most 50 events" in response.content.decode()
        assert WebhookEvent.objects.get(pk=events[1].pk).state == EventState.DEAD

    def test_of_another_account_are_not_sent(self, member, url, events):
        foreign = DeliveryFactory.create().events.get()
        WebhookEvent.objects.filter(pk=foreign.pk).update(state=EventState.DEAD)

        self.send(member, url, foreign.pk)

        assert WebhookEvent.objects.get(pk=foreign.pk).state == EventState.DEAD
