"""The page of alerts."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.urls import reverse
from django.utils import timezone

from common.mail.models import Message
from common.webhooks import endpoints
from delivery.actions import deliveries
from delivery.alerts import actions as alerts
from delivery.alerts.chats import SERVICES
from delivery.alerts.models import AlertChoice, AlertPost, EndpointAlerts
from delivery.lifecycle import OnFailure
from delivery.models import WebhookEndpoint
from delivery.payload import Options
from panel import open_alerts
from tests.cases import in_turn
from tests.delivery.proofs import asking_for
from tests.factories import BY, DeliveryFactory, TokenFactory


@pytest.fixture
def choices(member, url, mailbox):
    """Which boxes of the page are ticked. The service and the person have e-mail, without which there are none."""
    User.objects.update(email="ana@example.com")

    def read():
        text = member.get(url("alerts")).content.decode()
        return [name for name, ticked in re.findall(r'type="checkbox" name="(\w+)" (checked)?', text) if ticked]

    return read


class TestAlerts:
    def test_begins_with_everything_in_production_and_nothing_in_the_sandbox(self, member, url, choices, shop):
        assert choices() == ["failing", "off", "recovered", "trouble", "digest"]
        assert "checked" not in member.get(url("alerts").replace("/live/", "/sandbox/")).content.decode()

    def test_keeps_what_the_person_chooses(self, member, url, choices):
        sandbox = url("alerts_choose").replace("/live/", "/sandbox/")
        member.post(url("alerts_choose"), {"off": "on", "made_up": "on"})
        member.post(sandbox, {"digest": "on"})

        assert choices() == ["off"]
        assert {choice.environment: choice.language for choice in AlertChoice.objects.all()} == {
            "live": "en", "sandbox": "en"
        }  # fmt: skip  # a table
        member.post(url("alerts_choose"))
        assert choices() == []
        assert AlertChoice.objects.get(environment="sandbox").digest

    def test_has_no_choices_for_account_staff(self, as_role, url):
        staff = as_role("account staff")

        assert 'type="checkbox"' not in staff.get(url("alerts")).content.decode()
        assert staff.post(url("alerts_choose"), {"off": "on"}).status_code == 404
        assert AlertChoice.objects.count() == 0

    def test_says_what_is_missing_for_e_mail(self, member, url, mailbox, settings):
        assert "Your log-in has no email address" in member.get(url("alerts")).content.decode()
        User.objects.update(email="ana@example.com")
        assert "To ana@example.com" in member.get(url("alerts")).content.decode()
        settings.EMAIL_URL = ""
        content = member.get(url("alerts")).content.decode()
        assert "sends no email yet" in content
        assert 'type="checkbox"' not in content
        assert ">Send a test</button>" not in content

    def test_saves_a_url_and_never_shows_it(self, member, url, shop):
        path = "services/T000/HIDDEN"

        text = member.post(url("alerts_url"), {"url": f"http://127.0.0.1:9/{path}"}, follow=True).content.decode()

        assert "127.0.0.1:9" in text
        assert path not in text
        assert EndpointAlerts.objects.get().url_host == "127.0.0.1:9"
        assert "alerts_set" in shop.integrator.audit.values_list("action", flat=True)

    @in_turn("bad", ["https://10.0.0.1/x", "http://example.com/", "x" * 2001, "https://a b/", "slack://T0A/B0B/c?x=1"])
    def test_says_why_a_url_is_refused(self, member, url, bad):
        answer = member.post(url("alerts_url"), {"url": bad})

        assert answer.status_code == 422
        assert 'class="errorlist"' in answer.content.decode()
        assert not EndpointAlerts.objects.exclude(url_ciphertext="").exists()

    def test_sends_a_test_and_shows_what_became_of_it(self, member, url, mailbox):
        User.objects.update(email="ana@example.com")
        member.post(url("alerts_url"), {"url": "http://127.0.0.1:9/x"})

        member.post(url("alerts_test"))
        AlertPost.objects.update(state="failed", answer="connect")

        text = member.get(url("alerts")).content.decode()
        assert "Failed, no more retries" in text
        assert "The connection was refused or timed out." in text
        assert Message.objects.get().recipient == "ana@example.com"

    def test_says_whether_a_chat_has_taken_a_post(self, member, url):
        token = "b" * 24
        member.post(url("alerts_url"), {"url": f"https://hooks.slack.com/services/T0A/B0B/{token}"})
        member.post(url("alerts_test"))

        for answer, texts in (
            ("taken by Slack", ("taken by Slack", "aceito por Slack")),
            ("not taken by Slack", ("not taken by Slack", "não aceito por Slack")),
        ):
            AlertPost.objects.update(answer=answer)
            for language, text in zip(("en", "pt-br"), texts, strict=True):
                member.post(reverse("set_language"), {"language": language, "next": "/"})
                content = member.get(url("alerts")).content.decode()
                assert f">{text}</td>" in content
                assert "<code>Slack</code>" in content
                assert token not in content

    def test_shows_the_addresses_of_every_chat(self, member, url):
        content = member.get(url("alerts")).content.decode()

        assert [name for name in SERVICES if f">{name}</dt>" not in content] == []

    def test_says_that_a_test_has_nowhere_to_go(self, member, url, settings):
        settings.EMAIL_URL = ""

        text = member.post(url("alerts_test"), follow=True).content.decode()

        assert "There is nowhere to send it" in text

    def test_changes_nothing_of_a_suspended_account(self, member, url, shop):
        now = timezone.now()
        alerts.set_url(endpoint=shop.endpoint, url="http://127.0.0.1:9/x", language="en", by="tester", at=now)
        type(shop.integrator).objects.update(suspended_at=now, suspended_by="x", suspension_reason="x")

        member.post(url("alerts_url"), {"url": ""})

        assert EndpointAlerts.objects.exclude(url_ciphertext="").count() == 1


class TestOfAllAccounts:
    @pytest.fixture
    def page(self, staff):
        def read(**query):
            return [(each.kind, each.subject) for each in staff.get(reverse("panel:all_alerts"), query).context["rows"]]

        return read

    @pytest.fixture
    def trouble(self, with_url):
        """A webhook that is off, and a delivery of each kind, of two accounts; the newest last."""
        now, other = timezone.now(), TokenFactory.create()
        WebhookEndpoint.objects.filter(pk=with_url.endpoint.pk).update(failing_since=now - timedelta(hours=9))
        endpoints.set_enabled(endpoint=with_url.endpoint, enabled=False, by=BY, at=now - timedelta(hours=5))
        failed = DeliveryFactory.create(token=other, at=now - timedelta(hours=4))
        deliveries.expire(delivery=failed, by=BY, at=now - timedelta(hours=3))
        late = DeliveryFactory.create(token=other, accepted=True, at=now - timedelta(hours=2))
        untaken = DeliveryFactory.create(token=with_url.token, at=now - timedelta(minutes=12))
        cancelled = DeliveryFactory.create(token=other, at=now - timedelta(minutes=30))
        deliveries.cancel(delivery=cancelled, reason="", by=BY, at=now)
        return [("webhook", with_url.endpoint), ("failed", failed), ("late", late), ("untaken", untaken)]

    def test_are_the_open_ones_with_the_newest_first(self, page, trouble):
        assert page() == trouble[::-1]

    def test_say_since_when_a_webhook_is_off_that_has_failed_before(self, staff, trouble):
        (row,) = staff.get(reverse("panel:all_alerts"), {"kind": "webhook"}).context["rows"]

        assert row.since == WebhookEndpoint.objects.get(pk=row.subject.pk).off_since

    def test_say_why_and_that_a_driver_comes_again(self, staff, page):
        retry = asking_for(Options(on_failure=OnFailure.RETRY), Options(), collected=True)
        for point, code in (("B", "ABSENT"), ("C", "REFUSED")):
            deliveries.fail(delivery=retry, point=point, code=code, reason="", by=BY, at=timezone.now())

        assert page() == [("attempt", retry)]
        content = staff.get(reverse("panel:all_alerts")).content.decode()
        assert "B: Nobody there" in content
        assert "C: " not in content

    def test_say_after_how_long_a_delivery_is_one(self, staff):
        content = " ".join(staff.get(reverse("panel:all_alerts")).content.decode().split())

        assert re.findall(r"after (\d+) min, or the account", content) == ["10", "15"]

    def test_are_narrowed_to_one_kind(self, page, trouble):
        assert page(kind="late") == [trouble[2]]
        assert page(kind="made-up") == trouble[::-1]

    def test_count_more_than_they_show(self, staff, trouble, monkeypatch):
        monkeypatch.setattr(open_alerts, "MOST", 1)

        assert "1+" in staff.get(reverse("panel:all_alerts")).content.decode()
