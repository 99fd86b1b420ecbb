"""The daily digest, at 8:00 in the service's time zone and only if something happened."""

from datetime import UTC, datetime, timedelta

import pytest
from django.contrib.auth.models import User

from common import clock
from common.mail import sending
from common.mail.models import Message
from common.webhooks import endpoints, health
from delivery.alerts import actions as alerts
from delivery.alerts.models import AlertPost, EndpointAlerts
from delivery.models import WebhookEndpoint, WebhookEvent
from tests import smtp
from tests.factories import BY, DeliveryFactory, TokenFactory
from tests.moments import HALF_AN_HOUR, at_each_midnight

EIGHT = datetime(2026, 11, 22, 11, 0, tzinfo=UTC)  # 8:00 in São Paulo
YESTERDAY = EIGHT - timedelta(hours=20)


@pytest.fixture
def token(db):
    token = TokenFactory.create(integrator__name="Loja")
    membership = token.integrator.memberships.create(user=User.objects.create_user("ana", "ana@example.com"))
    wanted = dict.fromkeys(("failing", "off", "recovered", "digest"), True)
    alerts.choose(membership=membership, environment="live", wanted=wanted, language="en")
    return token


@pytest.fixture
def mailbox(mailbox, monkeypatch):
    """Mails are sent at eight, because a digest is not sent a day later."""
    monkeypatch.setattr(clock, "now", lambda: EIGHT)
    return mailbox


@pytest.fixture
def busy(token):
    """Three deliveries of yesterday; the events of two were sent or given up."""
    for _delivery in range(3):
        DeliveryFactory.create(token=token, at=YESTERDAY)
    first, second, _third = WebhookEvent.objects.order_by("pk")
    WebhookEvent.objects.filter(pk=first.pk).update(state="sent", sent_at=YESTERDAY)
    WebhookEvent.objects.filter(pk=second.pk).update(state="dead")
    return token


@pytest.fixture
def told(monkeypatch):
    """What the digests that are recorded say."""
    contexts = []
    monkeypatch.setattr(alerts, "tell", lambda _alerts, _kind, context, **_options: contexts.append(context))
    return contexts


class TestSendDue:
    def test_counts_what_happened(self, busy, mailbox):
        assert alerts.record_digests(at=EIGHT) == 1
        sending.send_due()

        (message,) = mailbox.messages
        text = smtp.body_of(message)
        day = EIGHT - timedelta(days=1)
        assert message["Subject"].startswith(f"Loja on {day.day} {day:%b %Y} ")
        for line in ("Deliveries requested: 3", "received by your endpoint: 1", "no more retries: 1"):
            assert line in text

    def test_counts_the_changes_of_the_account_and_the_environment_only(self, busy, told):
        """And of the day before: `test_is_about_the_day_before_in_the_services_time_zone`."""
        for account, environment in ((busy.integrator, "sandbox"), (TokenFactory.create().integrator, "live")):
            token = TokenFactory.create(integrator=account, environment=environment)
            DeliveryFactory.create(token=token, stops=1, at=YESTERDAY)
        endpoint = busy.integrator.endpoints.get(environment="live")
        url = endpoints.set_url(endpoint=endpoint, url="http://127.0.0.1:9/x", by=BY, at=EIGHT)
        for state in ("sent", "dead", "pending"):
            test = endpoints.send_test(endpoint=url, by=BY, at=YESTERDAY)
            tried = {"sent_at": YESTERDAY} if state == "sent" else {"attempts_made": 3}
            WebhookEvent.objects.filter(pk=test.pk).update(state=state, **tried)
        changes = WebhookEvent.objects.filter(delivery__isnull=False)
        changes.exclude(endpoint=endpoint).update(state="pending", attempts_made=3)
        changes.filter(endpoint=endpoint, state="unaddressed").update(state="pending")  # not tried yet

        alerts.record_digests(at=EIGHT)

        (context,) = [each for each in told if each["endpoint"] == endpoint]
        names = ("requested", "delivered", "failed", "sent", "failing", "dead")
        assert [context[name] for name in names] == [3, 0, 0, 1, 0, 1]

    @at_each_midnight
    def test_is_about_the_day_before_in_the_services_time_zone(self, token, midnight, told):
        day = timedelta(days=1)
        first = midnight.start - day
        for at in (first - HALF_AN_HOUR, first, midnight.before, midnight.before, midnight.start, midnight.after):
            DeliveryFactory.create(token=token, stops=1, at=at)

        alerts.record_digests(at=midnight.start + timedelta(hours=8))

        assert [(context["day"], context["requested"]) for context in told] == [(midnight.eve, 3)]
        assert set(EndpointAlerts.objects.values_list("digest_on", flat=True)) == {midnight.day}

    @pytest.mark.parametrize(("minutes", "number"), [(-1, 0), (0, 1), (239, 1), (240, 0), (900, 0)])
    def test_is_sent_in_the_morning(self, busy, mailbox, minutes, number):
        assert alerts.record_digests(at=EIGHT + timedelta(minutes=minutes)) == number
        assert Message.objects.count() == number

    def test_is_sent_once_a_day(self, busy, mailbox):
        sent = [alerts.record_digests(at=EIGHT + timedelta(minutes=minute)) for minute in (0, 1, 60)]

        assert (sent, Message.objects.count()) == ([1, 0, 0], 1)

    def test_of_as_many_accounts_as_are_done_at_once_are_all_sent_whatever_the_number_of_members(
        self, busy, mailbox, monkeypatch
    ):
        other = TokenFactory.create()
        DeliveryFactory.create(token=other, at=YESTERDAY)
        for number in range(3):
            user = User.objects.create_user(f"user-{number}", f"user-{number}@example.com")
            for integrator in (busy.integrator, other.integrator):
                integrator.memberships.create(user=user)
        monkeypatch.setattr(health, "MOST_AT_ONCE", 4)  # two accounts in two environments

        assert alerts.record_digests(at=EIGHT) == 2

    def test_is_silent_when_nothing_happened(self, token, mailbox):
        assert alerts.record_digests(at=EIGHT) == 0
        assert Message.objects.count() == 0

    @pytest.mark.parametrize(
        ("columns", "text"),
        [
            ({"enabled": False, "off_because": "staff", "off_since": YESTERDAY}, "Webhooks are switched off now."),
            ({"failures": 7, "failing_since": YESTERDAY}, "The endpoint fails now."),
        ],
    )
    def test_says_that_the_endpoint_does_not_work(self, token, mailbox, columns, text):
        WebhookEndpoint.objects.filter(environment="live").update(url="https://example.com/", **columns)

        alerts.record_digests(at=EIGHT)
        sending.send_due()

        assert text in smtp.body_of(mailbox.messages[0])

    def test_is_not_sent_to_who_does_not_want_it(self, busy, mailbox):
        membership = busy.integrator.memberships.get()
        wanted = {**dict.fromkeys(("failing", "off", "recovered"), True), "digest": False}
        alerts.choose(membership=membership, environment="live", wanted=wanted, language="en")

        alerts.record_digests(at=EIGHT)

        assert Message.objects.count() == 0

    def test_reaches_the_url_of_an_account_without_members(self, busy, db):
        busy.integrator.memberships.all().delete()
        endpoint = busy.integrator.endpoints.get(environment="live")
        alerts.set_url(endpoint=endpoint, url="http://127.0.0.1:9/x", language="pt-br", by="tester", at=EIGHT)

        alerts.record_digests(at=EIGHT)

        day = EIGHT - timedelta(days=1)
        assert AlertPost.objects.get().text.startswith(f"Loja em {day:%d/%m/%Y} (Produção)")
