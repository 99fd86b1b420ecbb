"""Alerts about an endpoint: once for each change of its state, to whoever wants to know."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User

from common.mail import sending as mail_sending
from common.mail.models import Message
from common.membership import Role
from delivery.actions import alerts, endpoints
from delivery.models import (
    AlertKind,
    EndpointAlerts,
    WebhookAttempt,
)
from tests import smtp
from tests.common.webhooks.conftest import Sink, sink
from tests.delivery.alerting import FAILS, LATER, NOW, OFF, WORKS, change, fail, recover, subjects, switch_off
from tests.factories import BY, DeliveryFactory, TokenFactory

__all__ = ["Sink", "sink"]


class TestReportChanges:
    def test_tells_once_for_each_change(self, endpoint, ana, mailbox):
        now = NOW()
        steps = [
            (fail, FAILS),
            (lambda it: recover(it, now + LATER), WORKS),
            (switch_off, OFF),
            (lambda it: recover(it, now + 3 * LATER), WORKS),
        ]

        for number, (step, subject) in enumerate(steps):
            step(endpoint)
            at = now + number * LATER + timedelta(seconds=number)
            assert alerts.report_changes(at=at) == 1
            assert alerts.report_changes(at=at + timedelta(seconds=5)) == 0
            assert subjects()[-1] == subject
        assert len(subjects()) == 4

    def test_tells_the_others_of_an_account_with_an_address_that_cannot_be_mailed_to(self, endpoint, mailbox, caplog):
        """Django takes such an address."""
        maria, ana = (
            User.objects.create_user(name, address)
            for name, address in (("maria", '"maria"@example.com'), ("ana", "ana@example.com"))
        )
        for user in (maria, ana):
            endpoint.integrator.memberships.create(user=user)
        fail(endpoint)

        assert alerts.report_changes(at=NOW()) == 1

        assert [message.recipient for message in Message.objects.all()] == ["ana@example.com"]
        assert f"user {maria.pk} is not told" in caplog.text

    def test_goes_on_after_an_endpoint_that_cannot_be_reported(self, endpoint, ana, mailbox, monkeypatch, caplog):
        other = TokenFactory.create().integrator.endpoints.get(environment="live")
        change(other, url=endpoint.url)
        for each in (endpoint, other):
            fail(each)
        context_of = alerts.context_of

        def fail_for_the_other(found, **page):
            if found == other:
                raise ZeroDivisionError
            return context_of(found, **page)

        monkeypatch.setattr(alerts, "context_of", fail_for_the_other)

        assert alerts.report_changes(at=NOW()) == 1

        assert subjects() == [FAILS]
        assert f"endpoint {other.pk}" in caplog.text

    def test_says_why_and_where_to_look(self, endpoint, ana, mailbox, settings):
        event = DeliveryFactory.create(token=endpoint.integrator.tokens.get()).events.get()
        other = TokenFactory.create()
        other.integrator.endpoints.update(url=endpoint.url)
        DeliveryFactory.create(token=other)  # whose event waits for another endpoint
        WebhookAttempt.objects.create(event=event, number=1, at=NOW(), milliseconds=9, status_code=503)
        type(event).objects.update(attempts_made=1)
        fail(endpoint)
        alerts.report_changes(at=NOW())

        mail_sending.send_due()

        text = smtp.body_of(mailbox.messages[0])
        assert "Last answer: HTTP 503" in text
        assert "Deliveries with events waiting: 1" in text
        assert f"{settings.SITE_URL}/panel/accounts/{endpoint.integrator_id}/live/webhook/" in text
        assert f"/panel/accounts/{endpoint.integrator_id}/live/alerts/" in text

    def test_waits_between_two_alerts(self, endpoint, ana, mailbox):
        now = NOW()
        fail(endpoint)
        alerts.report_changes(at=now)
        recover(endpoint, now + timedelta(seconds=1))

        early = alerts.report_changes(at=now + alerts.PAUSE - timedelta(seconds=1))
        late = alerts.report_changes(at=now + alerts.PAUSE)

        assert (early, late, subjects()) == (0, 1, [FAILS, WORKS])

    def test_is_silent_about_changes_to_and_fro_within_the_pause(self, endpoint, ana, mailbox):
        now = NOW()
        fail(endpoint)
        alerts.report_changes(at=now)
        for second in range(0, 300, 10):
            recover(endpoint, now + timedelta(seconds=second))
            alerts.report_changes(at=now + timedelta(seconds=second))
            fail(endpoint)
            alerts.report_changes(at=now + timedelta(seconds=second + 5))

        alerts.report_changes(at=now + LATER)

        assert subjects() == [FAILS]

    @pytest.mark.parametrize("failures", [0, 1, 4])
    def test_is_silent_before_the_fifth_failure(self, endpoint, ana, mailbox, failures):
        fail(endpoint, failures)

        assert alerts.report_changes(at=NOW()) == 0
        assert subjects() == []

    def test_takes_no_success_for_granted(self, endpoint, ana, mailbox):
        """Switching on again resets the breaker, but nothing was received yet."""
        now = NOW()
        switch_off(endpoint)
        alerts.report_changes(at=now)
        endpoints.set_enabled(endpoint=endpoint, enabled=True, by=BY, at=now)

        reported = alerts.report_changes(at=now + LATER)

        assert (reported, subjects()) == (0, [OFF])

    def test_forgets_an_endpoint_whose_url_is_removed(self, endpoint, ana, mailbox):
        now = NOW()
        fail(endpoint)
        alerts.report_changes(at=now)
        endpoints.set_url(endpoint=endpoint, url="", by=BY, at=now)

        reported = alerts.report_changes(at=now + LATER)

        assert (reported, subjects()) == (0, [FAILS])
        assert EndpointAlerts.objects.get().reported == AlertKind.RECOVERED

    def test_tells_those_who_want_it(self, endpoint, mailbox):
        def join(name, email="", is_active=True, **wanted):
            user = User.objects.create_user(name, email, is_active=is_active)
            membership = endpoint.integrator.memberships.create(user=user, role=Role.OWNER)
            if wanted:
                kinds = dict.fromkeys(("failing", "off", "recovered", "digest"), False) | wanted
                alerts.choose(membership=membership, environment="live", wanted=kinds, language="en")

        join("default", "default@example.com")
        join("wants", "wants@example.com", failing=True)
        join("wants-others", "others@example.com", off=True, recovered=True, digest=True)
        join("former", "former@example.com", is_active=False)
        join("without")
        User.objects.create_user("stranger", "stranger@example.com")
        fail(endpoint)

        alerts.report_changes(at=NOW())

        told = dict(Message.objects.values_list("recipient", "subject"))
        assert told == {"default@example.com": "Os webhooks de Loja falham (Produção)", "wants@example.com": FAILS}

    def test_tells_nobody_of_the_sandbox_who_has_not_asked(self, endpoint, ana, mailbox):
        sandbox = endpoint.integrator.endpoints.get(environment="sandbox")
        change(sandbox, url="http://127.0.0.1:9/hook")
        fail(sandbox)

        assert alerts.report_changes(at=NOW()) == 1
        assert subjects() == []

    def test_reports_again_after_a_worker_was_killed_before_the_commit(self, endpoint, ana, mailbox, monkeypatch):
        fail(endpoint)
        with monkeypatch.context() as patch:
            patch.setattr(alerts, "post", _kill)
            with pytest.raises(KeyboardInterrupt):
                alerts.report_changes(at=NOW())
        assert subjects() == []

        alerts.report_changes(at=NOW())

        assert subjects() == [FAILS]

    def test_costs_one_query_while_nothing_is_to_be_told(self, endpoint, ana, django_assert_num_queries):
        now = NOW()
        with django_assert_num_queries(1):
            alerts.report_changes(at=now)
        fail(endpoint)
        alerts.report_changes(at=now)
        recover(endpoint, now + timedelta(seconds=1))

        with django_assert_num_queries(1):  # within the pause
            alerts.report_changes(at=now + timedelta(seconds=2))


def _kill(*_arguments, **_more):
    raise KeyboardInterrupt
