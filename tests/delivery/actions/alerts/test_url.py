"""The URL of an account's alerts: setting it and its test."""

import json
from datetime import timedelta

import pytest

from common.mail import sending as mail_sending
from common.webhooks.address_guard import InvalidWebhookUrl
from delivery.actions import alerts
from delivery.errors import AccountSuspended, EndpointCannotSend
from delivery.models import (
    AlertPost,
    AuditEntry,
    EndpointAlerts,
)
from delivery.webhooks import alert_posts
from tests.common.webhooks.conftest import Sink, sink
from tests.delivery.alerting import NOW, fail
from tests.factories import BY

__all__ = ["Sink", "sink"]


class TestSetUrl:
    def test_refuses_what_webhooks_are_refused(self, endpoint, settings):
        settings.WEBHOOK_ALLOW_LOOPBACK = False

        for url in ("http://hooks.example.com/x", "https://10.0.0.5/x", "https://localhost:8443/x"):
            with pytest.raises(InvalidWebhookUrl):
                alerts.set_url(endpoint=endpoint, url=url, language="en", by=BY, at=NOW())

        assert not EndpointAlerts.objects.exclude(url_ciphertext="").exists()

    def test_keeps_the_url_encrypted_and_records_its_host(self, endpoint, channel):
        row = EndpointAlerts.objects.values().get()

        assert channel.url not in str(row)
        assert row["url_host"] == f"127.0.0.1:{channel.server_port}"
        entry = AuditEntry.objects.get(action="alerts_set")
        assert (entry.subject, entry.by) == (row["url_host"], BY)

    @pytest.mark.parametrize("rest", ["?token=s3cret", "#s3cret", "/?token=s3cret", "/s3cret"])
    def test_shows_and_records_nothing_but_the_host(self, endpoint, channel, rest):
        url = channel.url.rpartition("/")[0]

        alerts.set_url(endpoint=endpoint, url=f"{url}{rest}", language="en", by=BY, at=NOW())

        host = f"127.0.0.1:{channel.server_port}"
        assert EndpointAlerts.objects.get().url_host == host
        assert {entry.subject for entry in AuditEntry.objects.filter(action="alerts_set")} == {host}

    def test_ends_with_an_empty_one(self, endpoint, channel):
        alerts.set_url(endpoint=endpoint, url="", language="en", by=BY, at=NOW())
        fail(endpoint)

        alerts.report_changes(at=NOW())

        assert AlertPost.objects.count() == 0

    def test_is_refused_while_the_account_is_suspended(self, endpoint, channel):
        type(endpoint.integrator).objects.update(suspended_at=NOW(), suspended_by=BY, suspension_reason="x")
        endpoint.refresh_from_db()

        with pytest.raises(AccountSuspended):
            alerts.set_url(endpoint=endpoint, url="", language="en", by=BY, at=NOW())

        assert EndpointAlerts.objects.exclude(url_ciphertext="").exists()


class TestSendTest:
    def test_reaches_the_person_and_the_url(self, endpoint, channel, mailbox):
        alerts.send_test(endpoint=endpoint, email="ana@example.com", language="en", by=BY, at=NOW())

        mail_sending.send_due()
        alert_posts.post_due()

        assert [each["Subject"] for each in mailbox.messages] == ["Test alert of Loja (Live)"]
        assert json.loads(channel.received[0][1])["text"].startswith("Test alert of Loja (Live)")

    def test_is_refused_with_nowhere_to_go(self, endpoint, settings):
        settings.EMAIL_URL = ""

        with pytest.raises(EndpointCannotSend, match="nowhere to send it"):
            alerts.send_test(endpoint=endpoint, email="ana@example.com", language="en", by=BY, at=NOW())

        assert not AuditEntry.objects.filter(action="alert_tested").exists()

    def test_is_refused_after_20_within_an_hour(self, endpoint, channel):
        now = NOW()
        for _test in range(20):
            alerts.send_test(endpoint=endpoint, email="", language="en", by=BY, at=now)

        with pytest.raises(EndpointCannotSend, match="20 test alerts"):
            alerts.send_test(endpoint=endpoint, email="", language="en", by=BY, at=now)

        assert AlertPost.objects.count() == 20
        alerts.send_test(endpoint=endpoint, email="", language="en", by=BY, at=now + timedelta(hours=1))
