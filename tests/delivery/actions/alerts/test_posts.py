"""Alerts that are posted to the URL of an account."""

import json
import socket
import threading

import pytest

from common import credentials
from delivery.actions import alerts
from delivery.models import (
    AlertPost,
    EndpointAlerts,
)
from delivery.webhooks import alert_posts
from tests import smtp
from tests.common.webhooks.conftest import Sink, sink
from tests.delivery.alerting import FAILS, NOW, change, fail
from tests.factories import BY, TokenFactory

__all__ = ["Sink", "sink"]


class TestPostDue:
    def test_posts_text_that_slack_takes(self, endpoint, channel):
        fail(endpoint)
        alerts.report_changes(at=NOW())

        alert_posts.post_due()
        alert_posts.post_due()

        ((headers, body),) = channel.received
        assert headers["content-type"] == "application/json; charset=utf-8"
        assert "authorization" not in headers
        content = json.loads(body)
        assert list(content) == ["text"]
        assert content["text"].startswith(FAILS)
        assert f"/panel/accounts/{endpoint.integrator_id}/live/webhook/" in content["text"]
        post = AlertPost.objects.get()
        assert (post.state, post.answer, post.tries) == ("sent", "200", 1)

    def test_lets_a_name_notify_no_channel(self, endpoint, channel):
        type(endpoint.integrator).objects.update(name="<!channel> & Co")
        fail(endpoint)
        alerts.report_changes(at=NOW())

        alert_posts.post_due()

        text = json.loads(channel.received[0][1])["text"]
        assert "&lt;!channel&gt; &amp; Co" in text
        assert "<" not in text

    @pytest.mark.parametrize(
        ("status", "state"), [(404, "failed"), (410, "failed"), (429, "waiting"), (500, "waiting"), (302, "waiting")]
    )
    def test_repeats_what_may_help(self, endpoint, channel, status, state):
        channel.answers = [(status, {"Location": "http://127.0.0.1:1/"}, b"")]
        fail(endpoint)
        alerts.report_changes(at=NOW())

        alert_posts.post_due()

        post = AlertPost.objects.get()
        assert (post.state, post.answer, len(channel.received)) == (state, str(status), 1)

    def test_ends_after_four_attempts(self, endpoint, channel):
        channel.answers = [(503, {}, b"")]
        fail(endpoint)
        alerts.report_changes(at=NOW())

        for _attempt in range(6):
            AlertPost.objects.update(due_at=NOW())
            alert_posts.post_due()

        assert (AlertPost.objects.get().state, len(channel.received)) == ("failed", 4)

    def test_is_sent_once_more_after_a_worker_was_killed(self, endpoint, channel):
        fail(endpoint)
        alerts.report_changes(at=NOW())
        alert_posts._claim(at=NOW())  # and the worker ends

        alert_posts.post_due()
        assert channel.received == []  # the lease has not ended
        AlertPost.objects.update(due_at=NOW())
        alert_posts.post_due()

        assert len(channel.received) == 1

    def test_says_that_the_url_was_removed_before_it_was_sent(self, endpoint, channel):
        fail(endpoint)
        alerts.report_changes(at=NOW())
        EndpointAlerts.objects.update(url_ciphertext="")

        alert_posts.post_due()

        assert (AlertPost.objects.get().answer, channel.received) == ("the URL was removed", [])

    def test_waits_a_bounded_time_and_not_one_url_for_another(self, endpoint, channel, monkeypatch):
        monkeypatch.setattr("common.webhooks.http_client.TOTAL_SECONDS", 0.5)
        other = TokenFactory.create(integrator__name="Outra").integrator.endpoints.get(environment="live")
        with smtp.hanging_server() as (url, connections):
            alerts.set_url(endpoint=endpoint, url=url.replace("smtp", "http"), language="en", by=BY, at=NOW())
            alerts.set_url(endpoint=other, url=channel.url, language="en", by=BY, at=NOW())
            for each in (endpoint, other):
                change(each, url="http://127.0.0.1:9/hook")
                fail(each)
            alerts.report_changes(at=NOW())

            alert_posts.post_due()

            assert len(connections) == 1
        answers = dict(AlertPost.objects.values_list("alerts__endpoint", "answer"))
        assert answers == {endpoint.pk: "timeout", other.pk: "200"}

    def test_waits_no_longer_for_a_name_that_is_being_looked_up(self, endpoint, channel, monkeypatch):
        monkeypatch.setattr("common.webhooks.http_client.TOTAL_SECONDS", 0.3)
        looked_up, answered = threading.Event(), []

        def look_up(*_host, **_options):
            answered.append(looked_up.wait(20))
            raise socket.gaierror

        monkeypatch.setattr(socket, "getaddrinfo", look_up)
        EndpointAlerts.objects.update(url_ciphertext=credentials.encrypt("http://localhost:9/"))
        fail(endpoint)
        alerts.report_changes(at=NOW())

        alert_posts.post_due()
        hung = answered == []
        looked_up.set()

        assert hung
        assert AlertPost.objects.get().answer == "timeout"

    def test_refuses_a_private_address_when_it_connects(self, endpoint, channel, settings):
        """The name was public when the URL was saved, or loopback was allowed."""
        settings.WEBHOOK_ALLOW_LOOPBACK = False
        fail(endpoint)
        alerts.report_changes(at=NOW())

        alert_posts.post_due()

        assert channel.received == []
        assert AlertPost.objects.get().answer == "address_refused"
