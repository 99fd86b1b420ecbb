"""Alerts about an endpoint: once for each change of its state, by e-mail and to the URL of the account."""

import json
from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from common import clock
from common.accounts import Role
from common.mail import sending as mail_sending
from common.mail.models import Message
from common.webhooks import endpoints, health
from common.webhooks.address_guard import InvalidWebhookUrl
from common.webhooks.errors import EndpointCannotSend
from delivery.accounts import integrators
from delivery.actions import deliveries, stops
from delivery.alerts import actions as alerts
from delivery.alerts import posts as alert_posts
from delivery.alerts.models import CHOSEN, AlertKind, AlertPost, EndpointAlerts, ReportedTrouble
from delivery.errors import AccountSuspended
from delivery.lifecycle import Mode, OnFailure
from delivery.models import AuditEntry, OffBecause, WebhookAttempt, WebhookEndpoint
from delivery.payload import Options
from tests import smtp
from tests.common.webhooks.conftest import Sink, sink
from tests.delivery.proofs import asking_for
from tests.factories import BY, DeliveryFactory, TokenFactory, add_endpoint

__all__ = ["Sink", "sink"]
NOW = timezone.now
LATER = health.PAUSE + timedelta(seconds=1)
FAILS, OFF, WORKS = (f"Webhooks of Loja {what} (Live)" for what in ("fail", "are switched off", "work again"))


@pytest.fixture
def endpoint(db):
    """Of an account named Loja, with a URL that nobody listens at."""
    token = TokenFactory.create(integrator__name="Loja")
    found = token.integrator.endpoints.get(environment="live")
    return endpoints.set_url(endpoint=found, url="http://127.0.0.1:9/hook", by=BY, at=NOW())


@pytest.fixture
def ana(endpoint):
    """An owner with an address, who is told everything in English."""
    user = User.objects.create_user("ana", "ana@example.com")
    membership = endpoint.integrator.memberships.create(user=user)
    wanted = dict.fromkeys(("failing", "off", "recovered", "digest"), True)
    alerts.choose(membership=membership, environment="live", wanted=wanted, language="en")
    return membership


@pytest.fixture
def channel(endpoint, sink):
    """The URL of the account's alerts."""
    sink.answers = [(200, {}, b"ok")]
    alerts.set_url(endpoint=endpoint, url=sink.url, language="en", by=BY, at=NOW())
    return sink


def fail(endpoint, failures=5):
    change(endpoint, failures=failures, failing_since=NOW())


def report_failures(endpoint):
    fail(endpoint)
    alerts.tell_changes(at=NOW())


def recover(endpoint, at):
    change(endpoint, failures=0, failing_since=None, last_success_at=at, enabled=True, off_because="", off_since=None)


def switch_off(endpoint, because=OffBecause.GONE):
    change(endpoint, enabled=False, off_because=because, off_since=NOW())


def change(endpoint, **columns):
    WebhookEndpoint.objects.filter(pk=endpoint.pk).update(**columns)


def subjects():
    return list(Message.objects.order_by("pk").values_list("subject", flat=True))


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
            assert alerts.tell_changes(at=at) == 1
            assert alerts.tell_changes(at=at + timedelta(seconds=5)) == 0
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

        assert alerts.tell_changes(at=NOW()) == 1

        assert [message.recipient for message in Message.objects.all()] == ["ana@example.com"]
        assert f"user {maria.pk} is not told" in caplog.text

    def test_says_why_and_where_to_look(self, endpoint, ana, mailbox, settings):
        event = DeliveryFactory.create(token=endpoint.integrator.tokens.get()).events.get()
        other = TokenFactory.create()
        other.integrator.endpoints.update(url=endpoint.url)
        DeliveryFactory.create(token=other)  # whose event waits for another endpoint
        WebhookAttempt.objects.create(event=event, number=1, at=NOW(), milliseconds=9, status_code=503)
        type(event).objects.update(attempts_made=1)
        report_failures(endpoint)

        mail_sending.send_due()

        text = smtp.body_of(mailbox.messages[0])
        assert "Last answer: HTTP 503" in text
        assert "Deliveries with events waiting: 1" in text
        assert f"{settings.SITE_URL}/panel/accounts/{endpoint.integrator_id}/live/webhook/" in text
        assert f"/panel/accounts/{endpoint.integrator_id}/live/alerts/" in text

    def test_of_a_further_endpoint_are_posted_to_the_url_of_all_and_name_its_own_page(
        self, endpoint, ana, mailbox, channel
    ):
        further = add_endpoint(endpoint.integrator.tokens.get())
        fail(further)

        assert alerts.tell_changes(at=NOW()) == 1
        alert_posts.post_due()

        ((_headers, body),) = channel.received
        assert subjects() == ["Webhooks of Loja fail (Live, endpoint 2 (127.0.0.1:9))"]
        assert f"/panel/accounts/{endpoint.integrator_id}/live/endpoints/2/webhook/" in json.loads(body)["text"]

    def test_waits_between_two_alerts(self, endpoint, ana, mailbox):
        now = NOW()
        fail(endpoint)
        alerts.tell_changes(at=now)
        recover(endpoint, now + timedelta(seconds=1))

        early = alerts.tell_changes(at=now + health.PAUSE - timedelta(seconds=1))
        late = alerts.tell_changes(at=now + health.PAUSE)

        assert (early, late, subjects()) == (0, 1, [FAILS, WORKS])

    def test_is_silent_about_changes_to_and_fro_within_the_pause(self, endpoint, ana, mailbox):
        now = NOW()
        fail(endpoint)
        alerts.tell_changes(at=now)
        for second in range(0, 300, 10):
            recover(endpoint, now + timedelta(seconds=second))
            alerts.tell_changes(at=now + timedelta(seconds=second))
            fail(endpoint)
            alerts.tell_changes(at=now + timedelta(seconds=second + 5))

        alerts.tell_changes(at=now + LATER)

        assert subjects() == [FAILS]

    def test_takes_no_success_for_granted(self, endpoint, ana, mailbox):
        """Switching on again resets the breaker, but nothing was received yet."""
        now = NOW()
        switch_off(endpoint)
        alerts.tell_changes(at=now)
        endpoints.set_enabled(endpoint=endpoint, enabled=True, by=BY, at=now)

        reported = alerts.tell_changes(at=now + LATER)

        assert (reported, subjects()) == (0, [OFF])

    def test_forgets_an_endpoint_whose_url_is_removed(self, endpoint, ana, mailbox):
        now = NOW()
        fail(endpoint)
        alerts.tell_changes(at=now)
        endpoints.set_url(endpoint=endpoint, url="", by=BY, at=now)

        reported = alerts.tell_changes(at=now + LATER)

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

        alerts.tell_changes(at=NOW())

        told = dict(Message.objects.values_list("recipient", "subject"))
        assert told == {"default@example.com": "Os webhooks de Loja falham (Produção)", "wants@example.com": FAILS}

    def test_tells_nobody_of_the_sandbox_who_has_not_asked(self, endpoint, ana, mailbox):
        sandbox = endpoint.integrator.endpoints.get(environment="sandbox")
        change(sandbox, url="http://127.0.0.1:9/hook")
        fail(sandbox)

        assert alerts.tell_changes(at=NOW()) == 1
        assert subjects() == []

    def test_reports_again_after_a_worker_was_killed_before_the_commit(self, endpoint, ana, mailbox, monkeypatch):
        fail(endpoint)
        with monkeypatch.context() as patch:
            patch.setattr(alerts, "post", _kill)
            with pytest.raises(KeyboardInterrupt):
                alerts.tell_changes(at=NOW())
        assert subjects() == []

        alerts.tell_changes(at=NOW())

        assert subjects() == [FAILS]

    def test_costs_one_query_while_nothing_is_to_be_told(self, endpoint, ana, django_assert_num_queries):
        now = NOW()
        with django_assert_num_queries(1):
            alerts.tell_changes(at=now)
        fail(endpoint)
        alerts.tell_changes(at=now)
        recover(endpoint, now + timedelta(seconds=1))

        with django_assert_num_queries(1):  # within the pause
            alerts.tell_changes(at=now + timedelta(seconds=2))


def _kill(*_arguments, **_more):
    raise KeyboardInterrupt


class TestPostDue:
    def test_posts_text_that_slack_takes(self, endpoint, channel):
        report_failures(endpoint)

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
        report_failures(endpoint)

        alert_posts.post_due()

        text = json.loads(channel.received[0][1])["text"]
        assert "&lt;!channel&gt; &amp; Co" in text
        assert "<" not in text

    @pytest.mark.parametrize(
        ("status", "state"),
        [(404, "failed"), (410, "failed"), (408, "waiting"), (429, "waiting"), (500, "waiting"), (302, "waiting")],
    )
    def test_repeats_what_may_help(self, endpoint, channel, status, state):
        channel.answers = [(status, {"Location": "http://127.0.0.1:1/"}, b"")]
        report_failures(endpoint)

        alert_posts.post_due()

        post = AlertPost.objects.get()
        assert (post.state, post.answer, len(channel.received)) == (state, str(status), 1)

    def test_ends_after_four_attempts_with_longer_and_longer_pauses(self, endpoint, channel, monkeypatch):
        channel.answers = [(503, {}, b"")]
        report_failures(endpoint)
        tried: list[datetime] = []
        monkeypatch.setattr(clock, "now", lambda: tried[-1])

        for _attempt in range(6):
            tried.extend(AlertPost.objects.filter(state="waiting").values_list("due_at", flat=True))
            alert_posts.post_due()

        assert [(after - before).total_seconds() / 60 for before, after in pairwise(tried)] == [1, 5, 15]
        assert (AlertPost.objects.get().state, len(channel.received)) == ("failed", 4)

    def test_is_sent_once_more_after_a_worker_was_killed(self, endpoint, channel):
        report_failures(endpoint)
        alert_posts._claim(at=NOW())  # and the worker ends

        alert_posts.post_due()
        assert channel.received == []  # the lease has not ended
        AlertPost.objects.update(due_at=NOW())
        alert_posts.post_due()

        assert len(channel.received) == 1

    def test_says_that_the_url_was_removed_before_it_was_sent(self, endpoint, channel):
        report_failures(endpoint)
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
            alerts.tell_changes(at=NOW())

            alert_posts.post_due()

            assert len(connections) == 1
        answers = dict(AlertPost.objects.values_list("alerts__endpoint", "answer"))
        assert answers == {endpoint.pk: "timeout", other.pk: "200"}

    def test_refuses_a_private_address_when_it_connects(self, endpoint, channel, settings):
        """The name was public when the URL was saved, or loopback was allowed."""
        settings.WEBHOOK_ALLOW_LOOPBACK = False
        report_failures(endpoint)

        alert_posts.post_due()

        assert channel.received == []
        assert AlertPost.objects.get().answer == "address_refused"


class TestSetUrl:
    def test_refuses_what_webhooks_are_refused(self, endpoint, settings):
        settings.WEBHOOK_ALLOW_LOOPBACK = False

        for url in ("http://hooks.example.com/x", "https://10.0.0.5/x", "https://localhost:8443/x"):
            with pytest.raises(InvalidWebhookUrl):
                alerts.set_url(endpoint=endpoint, url=url, language="en", by=BY, at=NOW())

        assert not EndpointAlerts.objects.exclude(url_ciphertext="").exists()

    @pytest.mark.parametrize("rest", ["?token=s3cret", "#s3cret", "/?token=s3cret", "/s3cret"])
    def test_shows_and_records_nothing_but_the_host(self, endpoint, rest):
        alerts.set_url(endpoint=endpoint, url=f"http://127.0.0.1:9{rest}", language="en", by=BY, at=NOW())

        row = EndpointAlerts.objects.values().get()
        assert (row["url_host"], "s3cret" in str(row)) == ("127.0.0.1:9", False)
        entry = AuditEntry.objects.get(action="alerts_set")
        assert (entry.subject, entry.by) == ("127.0.0.1:9", BY)

    def test_ends_with_an_empty_one(self, endpoint, channel):
        alerts.set_url(endpoint=endpoint, url="", language="en", by=BY, at=NOW())
        fail(endpoint)

        alerts.tell_changes(at=NOW())

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
        sandbox = endpoint.integrator.endpoints.get(environment="sandbox")
        for of in (sandbox, *[endpoint] * 20):  # neither that of the sandbox counts nor what else was done
            for url in ("", channel.url):
                alerts.set_url(endpoint=of, url=url, language="en", by=BY, at=now)
            alerts.send_test(endpoint=of, email="", language="en", by=BY, at=now)

        with pytest.raises(EndpointCannotSend, match="20 test alerts"):
            alerts.send_test(endpoint=endpoint, email="", language="en", by=BY, at=now)

        assert AlertPost.objects.count() == 21
        alerts.send_test(endpoint=sandbox, email="", language="en", by=BY, at=now)
        alerts.send_test(endpoint=endpoint, email="", language="en", by=BY, at=now + timedelta(hours=1))


class TestReportTrouble:
    @pytest.fixture
    def told(self, ana, mailbox):
        alerts.choose(
            membership=ana, environment="live", wanted={**dict.fromkeys(CHOSEN, False), "trouble": True}, language="en"
        )

    @pytest.fixture
    def request_at(self, endpoint):
        token = TokenFactory.create(integrator=endpoint.integrator)
        return lambda at, **traits: DeliveryFactory.create(**{"token": token, "at": at, "stops": 1, **traits})

    def test_names_each_delivery_once_and_all_of_a_quarter_of_an_hour_together(self, told, request_at):
        now = NOW()
        for minutes in (11, 12):
            request_at(now - timedelta(minutes=minutes))
        request_at(now - timedelta(minutes=9))

        assert [alerts.tell_trouble(at=now) for _again in range(2)] == [1, 0]
        later = now + timedelta(minutes=2)
        assert alerts.tell_trouble(at=later) == 0
        assert alerts.tell_trouble(at=now + alerts.TROUBLE_PAUSE) == 1
        assert alerts.tell_trouble(at=now + 3 * alerts.TROUBLE_PAUSE) == 0

        assert subjects() == [
            "2 deliveries of Loja need attention (Live)",
            "1 delivery of Loja needs attention (Live)",
        ]

    def test_tells_of_late_and_failed_ones_of_each_account_and_environment_apart(
        self, told, endpoint, request_at, channel, monkeypatch
    ):
        monkeypatch.setattr(alerts, "_MOST_NAMED", 1)
        now = NOW()
        for token in (TokenFactory.create(integrator=endpoint.integrator, sandbox=True), TokenFactory.create()):
            request_at(now - timedelta(minutes=46), token=token)
        late = request_at(now - timedelta(minutes=46), accepted=True)
        request_at(now - timedelta(minutes=44), accepted=True)
        expired = request_at(now - timedelta(hours=1))
        deliveries.expire(delivery=expired, by=BY, at=now)
        cancelled = request_at(now - timedelta(hours=1))
        deliveries.cancel(delivery=cancelled, reason="", by=BY, at=now)

        assert alerts.tell_trouble(at=now + timedelta(seconds=1)) == 3

        assert subjects() == ["2 deliveries of Loja need attention (Live)"]
        reported = ReportedTrouble.objects.order_by("trouble").values_list("delivery", "trouble")
        assert list(reported)[:2] == [(expired.pk, "failed"), (late.pk, "late")]
        post = AlertPost.objects.get()
        assert (post.kind, "and 1 more" in post.text) == (AlertKind.TROUBLE, True)

    def test_tells_of_a_failure_by_its_code_while_the_driver_is_on_the_way_back(self, request_at, channel, settings):
        now = NOW()
        failed = request_at(now, collected=True)
        text = "the neighbour says that Mara Pinto has moved"
        deliveries.fail(delivery=failed, point="B", code="CLOSED", reason=text, by=BY, at=now)

        assert alerts.tell_trouble(at=now + timedelta(seconds=1)) == 1
        deliveries.return_(delivery=failed, by=BY, at=now + timedelta(minutes=20))
        assert alerts.tell_trouble(at=now + timedelta(minutes=21)) == 0

        body = AlertPost.objects.get().text
        assert "order-1: Returning to the shop, not delivered, B: Place closed, requested" in body
        assert f"{settings.SITE_URL}/panel/accounts/{failed.integrator_id}/live/deliveries/{failed.pk}/" in body
        assert "you can say there" not in body

    def test_tells_once_of_one_that_failed_in_part_while_the_driver_is_on_the_way_back(self, told, request_at):
        now = NOW()
        failed = request_at(now, collected=True, stops=2)
        deliveries.deliver(delivery=failed, point="B", by=BY, at=now)
        deliveries.fail(delivery=failed, point="C", code="CLOSED", reason="", by=BY, at=now)

        assert alerts.tell_trouble(at=now + timedelta(seconds=1)) == 1
        deliveries.return_(delivery=failed, by=BY, at=now + timedelta(minutes=20))
        assert alerts.tell_trouble(at=now + timedelta(minutes=21)) == 0

    @pytest.mark.parametrize(
        ("mode", "name"), [(Mode.DEFAULT, "Voltando à loja, não entregue"), (Mode.REVERSE, "Não coletado")]
    )
    def test_names_a_failure_in_the_language_that_was_chosen(self, request_at, channel, mode, name):
        EndpointAlerts.objects.update(language="pt-br")
        now = NOW()
        failed = request_at(now, mode=mode, **{"accepted" if mode == Mode.REVERSE else "collected": True})
        deliveries.fail(delivery=failed, point="B", code="ABSENT", reason="", by=BY, at=now)

        alerts.tell_trouble(at=now + timedelta(seconds=1))

        assert f"order-1: {name}, B: Ninguém" in AlertPost.objects.get().text

    def test_says_of_an_expired_offer_what_became_of_it_and_why(self, request_at, channel):
        now = NOW()
        deliveries.expire(delivery=request_at(now - timedelta(hours=1)), by=BY, at=now)

        alerts.tell_trouble(at=now + timedelta(seconds=1))

        assert "order-1: Not delivered, Offer expired, requested" in AlertPost.objects.get().text

    def test_has_nothing_that_a_driver_wrote(self, request_at, channel):
        now = NOW()
        failed = request_at(now, collected=True)
        deliveries.fail(delivery=failed, point="B", code="OTHER", reason="Mara has moved", by=BY, at=now)

        alerts.tell_trouble(at=now + timedelta(seconds=1))

        assert "B: Another reason, requested" in AlertPost.objects.get().text

    def test_counts_a_delivery_with_two_first_failures_once_and_delays_nothing_by_them(
        self, told, endpoint, request_at, channel, monkeypatch
    ):
        monkeypatch.setattr(alerts, "_MOST_NAMED", 1)
        now, retry = NOW(), Options(on_failure=OnFailure.RETRY)
        token = TokenFactory.create(integrator=endpoint.integrator)
        delivery = asking_for(retry, retry, collected=True, token=token)
        for point in "BC":
            deliveries.fail(delivery=delivery, point=point, code="ABSENT", reason="", by=BY, at=now)
        assert alerts.tell_trouble(at=now) == 1
        request_at(now - timedelta(minutes=11))

        assert alerts.tell_trouble(at=now + timedelta(minutes=1)) == 1

        assert subjects() == ["1 delivery of Loja needs attention (Live)"] * 2
        assert not any("more" in text for text in AlertPost.objects.values_list("text", flat=True))

    def test_tells_each_first_failure_at_once_and_where_to_answer_it(self, told, endpoint, request_at, channel):
        now = NOW()
        request_at(now - timedelta(minutes=11))
        alerts.tell_trouble(at=now)
        token, retry = TokenFactory.create(integrator=endpoint.integrator), Options(on_failure=OnFailure.RETRY)
        delivery = asking_for(retry, retry, collected=True, token=token)

        for second, point in ((1, "B"), (2, "C")):
            at = now + timedelta(seconds=second)
            deliveries.fail(delivery=delivery, point=point, code="ABSENT", reason="", by=BY, at=at)
            assert [alerts.tell_trouble(at=at) for _again in range(2)] == [1, 0]

        texts = list(AlertPost.objects.order_by("pk").values_list("text", flat=True))[1:]
        page = f"/panel/accounts/{endpoint.integrator_id}/live/deliveries/{delivery.pk}/stops"
        for (order, point), body in zip((("order-1", "B"), ("order-2", "C")), texts, strict=True):
            assert f"{order}: First attempt failed, {point}: Nobody there, requested" in body
            assert f"{page}/{point}/\n" in body
            assert "you can say there what follows" in body
        assert len(subjects()) == 3

    def test_is_silent_about_a_first_failure_that_was_answered_or_tried_again(self, told, endpoint):
        now, retry = NOW(), Options(on_failure=OnFailure.RETRY)
        token = TokenFactory.create(integrator=endpoint.integrator)
        delivery = asking_for(retry, retry, collected=True, token=token)
        for point in "BC":
            deliveries.fail(delivery=delivery, point=point, code="ABSENT", reason="", by=BY, at=now)
        deliveries.deliver(delivery=delivery, point="B", by=BY, at=now)
        stops.instruct(delivery=delivery, point="C", answer=OnFailure.RETURN, instructions=None, by=BY, at=now)

        assert not alerts.first_failures().exists()

    def test_waits_as_long_as_the_account_wants(self, told, endpoint, request_at):
        now = NOW()
        request_at(now - timedelta(minutes=3))
        for late in (1, 2, 2):
            alerts.set_times(endpoint=endpoint, untaken_minutes=4, late_minutes=late, by=BY, at=now)

        assert alerts.tell_trouble(at=now) == 0
        assert alerts.tell_trouble(at=now + timedelta(minutes=2)) == 1
        written = AuditEntry.objects.filter(action="alert_times_set").order_by("id")
        assert [entry.subject for entry in written] == ["4 min, 1 min", "4 min, 2 min"]

    def test_goes_by_the_rules_of_now(self, told, request_at, rules):
        now = NOW()
        request_at(now - timedelta(minutes=46), accepted=True)
        rules(late_pickup_minutes=60)
        assert alerts.tell_trouble(at=now) == 0

        rules(late_pickup_minutes=30)
        assert alerts.tell_trouble(at=now) == 1

    def test_times_of_a_suspended_account_stay(self, endpoint):
        integrators.suspend(integrator=endpoint.integrator, reason="unpaid", by=BY, at=NOW())
        endpoint.integrator.refresh_from_db()

        with pytest.raises(AccountSuspended):
            alerts.set_times(endpoint=endpoint, untaken_minutes=4, late_minutes=1, by=BY, at=NOW())

        assert not EndpointAlerts.objects.filter(untaken_minutes=4).exists()
