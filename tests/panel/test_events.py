"""The event log: filters, pages, attempts, sending again."""

from datetime import timedelta

import pytest
from django.utils import timezone

from delivery.models import EventState, WebhookAttempt, WebhookEvent, WebhookQueueItem
from tests.factories import DeliveryFactory


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
    @pytest.mark.parametrize(("query", "which"), [
        ({"state": "sent"}, [0]), ({"state": "dead"}, [1]), ({"state": "pending"}, [2]), ({"name": "ACCEPT"}, [1]),
    ])  # fmt: skip  # a table
    def test_filters(self, member, url, events, query, which):
        assert shown(member, url, **query) == [events[number].pk for number in which]

    def test_filters_by_delivery_and_order(self, member, url, events, shop):
        newest_first = [event.pk for event in reversed(events)]

        assert shown(member, url, q=str(events[0].delivery_id)) == newest_first
        assert set(newest_first) < set(shown(member, url, q="order-1"))
        assert shown(member, url, q="order") == []

    def test_filters_by_time(self, member, url, events):
        tomorrow = (timezone.localtime() + timedelta(days=1)).strftime("%Y-%m-%dT%H:%M")

        assert shown(member, url, since=tomorrow) == []
        assert len(shown(member, url, until=tomorrow)) == 4

    @pytest.mark.parametrize("query", [{"state": "x"}, {"since": "yesterday"}, {"before": "x|y"}, {"q": "é" * 300}])
    def test_ignores_malformed_filters(self, member, url, events, query):
        assert member.get(url("events"), query).status_code == 200

    def test_pages_contain_every_event_once(self, member, url, with_url, monkeypatch):
        monkeypatch.setattr("panel.filters.PER_PAGE", 2)
        DeliveryFactory.create(token=with_url.token, collected=True)
        seen, before = [], ""
        while True:
            context = member.get(url("events"), {"before": before}).context
            seen += [event.pk for event in context["rows"]]
            before = context["older"]
            if not before:
                break

        assert seen == list(WebhookEvent.objects.order_by("-created_at", "-pk").values_list("pk", flat=True))

    def test_makes_no_more_queries_for_more_events(self, member, url, with_url, django_assert_max_num_queries):
        for _number in range(10):
            DeliveryFactory.create(token=with_url.token, stops=1)
        with django_assert_max_num_queries(12):
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

    def test_is_sent_again(self, member, url, events):
        member.post(url("event_resend", events[1].pk))

        assert WebhookEvent.objects.get(pk=events[1].pk).state == EventState.PENDING

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

        assert "2 events are on their way again" in response.content.decode()  # the dead one, and one before the URL
        assert WebhookEvent.objects.get(pk=events[1].pk).state == EventState.PENDING
        assert WebhookEvent.objects.get(pk=events[0].pk).state == EventState.SENT
        assert url("events_progress") in response.content.decode()

    def test_leaves_events_outside_the_range(self, member, url, events):
        now = timezone.localtime()

        self.again(member, url, now - timedelta(hours=2), now - timedelta(hours=1))

        assert WebhookEvent.objects.get(pk=events[1].pk).state == EventState.DEAD

    def test_refuses_a_range_that_ends_before_it_begins(self, member, url, events):
        now = timezone.localtime()

        response = self.again(member, url, now, now - timedelta(hours=1))

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

        assert "0 of 2 events" in waiting
        assert "every 1s" in waiting
        assert "every 1s" not in done

    def test_answers_404_for_the_progress_of_no_range(self, member, url):
        assert member.get(url("events_progress"), {"again_since": "x"}).status_code == 404
