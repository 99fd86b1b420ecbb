"""What pages say about attempts: the request that was sent, the answer in words, why an endpoint fails."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone

from common.webhooks import endpoints
from delivery.models import EventState, WebhookAttempt, WebhookEndpoint, WebhookEvent, WebhookQueueItem
from panel.templatetags import webhooks
from tests.cases import in_turn
from tests.factories import DeliveryFactory


def fail(event, *, number=1, **answer):
    """Let an attempt at the event fail; it waits for the next one."""
    values = {"at": timezone.now(), "milliseconds": 47, **answer}
    attempt = WebhookAttempt.objects.create(event=event, number=number, **values)
    WebhookEvent.objects.filter(pk=event.pk).update(attempts_made=number, state=EventState.PENDING)
    WebhookQueueItem.objects.get_or_create(
        event=event, defaults={"delivery": event.delivery, "endpoint": event.endpoint, "due_at": timezone.now()}
    )
    WebhookEndpoint.objects.filter(pk=event.endpoint_id).update(failures=number)
    return attempt


class TestRuns:
    """Attempts in a row with the same answer, on the page of their event."""

    def test_are_folded_and_each_attempt_can_be_found(self, member, url, with_url):
        start = timezone.localtime().replace(hour=10, minute=2)
        for number, status in enumerate((500, 500, 500, 404, 500), start=1):
            fail(with_url.event, number=number, status_code=status, at=start + timedelta(minutes=number))

        page = member.get(url("event", with_url.event.pk))

        assert [[each.number for each in run] for run in page.context["runs"]] == [[5], [4], [3, 2, 1]]
        content = page.content.decode()
        assert "3 × 500 Internal Server Error" in content
        assert "10:03 \N{EN DASH} 10:05" in content
        assert [content.count(f'id="attempt-{number}"') for number in range(1, 6)] == [1] * 5

    def test_of_other_bodies_are_apart(self, member, url, with_url):
        for number, text in enumerate(("busy", "locked"), start=1):
            fail(with_url.event, number=number, status_code=500, response_start=text)

        assert [len(run) for run in member.get(url("event", with_url.event.pk)).context["runs"]] == [1, 1]

    def test_have_the_url_that_they_were_sent_to(self, member, url, with_url):
        for number, path in enumerate(("old", "old", "new", "new"), start=1):
            fail(with_url.event, number=number, status_code=500, url=f"https://example.com/{path}")

        content = member.get(url("event", with_url.event.pk)).content.decode()

        section = content.partition('id="attempts-made"')[2].partition("</section>")[0]
        assert re.findall(r"<b>POST</b> <code>(.*?)</code>|(2 × 500)", section) == [
            ("", "2 × 500"), ("https://example.com/new", ""), ("", "2 × 500"), ("https://example.com/old", ""),
        ]  # fmt: skip  # in pairs


class TestGist:
    @pytest.mark.parametrize(
        ("answer", "shown"),
        [
            ({"status_code": 422, "response_start": " no such order "}, "no such order"),
            ({"status_code": 502, "response_start": "<html><head>"}, "Bad Gateway"),
            ({"status_code": 599, "response_start": ""}, ""),
            ({"error": "dns"}, "The host name could not be resolved. Check its spelling."),
        ],
    )
    def test_is_one_line(self, answer, shown):
        assert webhooks.gist(WebhookAttempt(**answer)) == shown


class TestReason:
    """On the page of the webhook, which "see why" opens."""

    def test_is_the_last_failure_in_words_with_code_time_and_the_attempt(self, member, url, with_url):
        fail(with_url.event, number=1, status_code=500, at=timezone.now() - timedelta(minutes=5))
        fail(with_url.event, number=2, status_code=404, response_start="no <such> page")

        content = member.get(url("webhook")).content.decode()

        assert "Why it fails" in content
        assert "Why it fails" in member.get(url("events")).content.decode()
        assert "404</span>" in content
        assert "Your server has nothing at this address" in content
        assert "no &lt;such&gt; page" in content
        assert "47 ms" in content
        assert f"{url('event', with_url.event.pk)}#attempt-2" in content
        assert url("event_resend", with_url.event.pk) in content
        assert 'id="attempt-2"' in member.get(url("event", with_url.event.pk)).content.decode()

    def test_is_that_of_a_dead_event_when_none_is_retried(self, member, url, with_url):
        fail(with_url.event, error="tls")
        WebhookEvent.objects.filter(pk=with_url.event.pk).update(state=EventState.DEAD)
        WebhookQueueItem.objects.all().delete()

        assert "TLS certificate" in member.get(url("webhook")).content.decode()

    def test_is_not_shown_when_the_endpoint_takes_everything(self, member, url, with_url):
        fail(with_url.event, status_code=404)
        WebhookAttempt.objects.create(
            event=with_url.event, number=2, at=timezone.now(), milliseconds=9, status_code=204
        )
        WebhookEvent.objects.filter(pk=with_url.event.pk).update(attempts_made=2, state=EventState.SENT)
        WebhookQueueItem.objects.all().delete()
        WebhookEndpoint.objects.update(failures=0)

        assert "Why it fails" not in member.get(url("webhook")).content.decode()

    def test_is_not_shown_of_webhooks_that_were_switched_off_by_hand(self, member, url, with_url):
        fail(with_url.event, status_code=404)
        endpoints.set_enabled(endpoint=with_url.endpoint, enabled=False, by="user ana", at=timezone.now())

        content = member.get(url("webhook")).content.decode()

        assert "Why it fails" not in content
        assert "ana switched webhooks off on" in content

    def test_is_not_that_of_another_account(self, member, url, with_url):
        fail(DeliveryFactory.create().events.get(), status_code=404)

        assert WebhookAttempt.objects.count() == 1
        assert "Why it fails" not in member.get(url("webhook")).content.decode()


class TestAdvice:
    @in_turn(
        ("status", "words"),
        [
            (300, "redirected"), (302, "redirected"), (399, "redirected"),
            (400, "could not read"), (401, "did not accept the token"), (403, "lets these requests through"),
            (404, "Check the path"), (405, "takes no POST"), (410, "gone for good"), (413, "the size of the body"),
            (418, "Any answer other than 2xx"), (422, "refused its content"), (429, "fewer requests"),
            (499, "Any answer other than 2xx"), (500, "had an error"), (503, "had an error"),
        ],
    )  # fmt: skip  # a table
    def test_says_what_the_status_means(self, status, words):
        assert words in webhooks.advice(WebhookAttempt(status_code=status))

    def test_of_an_attempt_without_an_answer_is_that_of_its_error(self):
        assert "did not answer within 15 seconds" in webhooks.advice(WebhookAttempt(error="timeout"))


class TestRequestHead:
    def test_is_not_shown_of_attempts_that_were_made_before_it_was_stored(self, member, url, with_url):
        fail(with_url.event, status_code=500)

        assert "Request headers" not in member.get(url("event", with_url.event.pk)).content.decode()
