import json
from datetime import timedelta
from functools import partial
from uuid import uuid4

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from common.webhooks import claims, endpoints
from common.webhooks.address_guard import InvalidWebhookUrl
from common.webhooks.endpoints import CheckedUrl
from common.webhooks.errors import EndpointCannotSend, EndpointStays, SecretRotatedLately, TooManyEndpoints
from delivery.accounts import integrators
from delivery.alerts import actions as alerts
from delivery.errors import AccountSuspended
from delivery.models import AuditEntry, Token, WebhookAttempt, WebhookEndpoint, WebhookEvent, WebhookQueueItem
from delivery.webhooks.outbox import OUTBOX
from integration.models import WebhookEndpoint as EndpointOfSeller
from tests.cases import in_turn
from tests.factories import BY, DeliveryFactory, IntegratorFactory, TokenFactory, add_endpoint
from tests.integration.factories import SellerFactory


@pytest.fixture
def endpoint(db):
    return IntegratorFactory.create().endpoints.get(environment="live")


class TestRotateSecret:
    def test_lets_both_secrets_sign_for_24_hours_and_is_possible_again_then(self, endpoint):
        old, now = endpoint.secret, timezone.now()
        replaced = endpoints.rotate_secret(endpoint=endpoint, by=BY, at=now)
        end = now + timedelta(hours=24)
        just_before = end - timedelta(microseconds=1)

        rotated = WebhookEndpoint.objects.get(pk=endpoint.pk)
        assert (rotated.secrets(at=just_before), rotated.secrets(at=end)) == ([replaced, old], [replaced])
        with pytest.raises(SecretRotatedLately):
            endpoints.rotate_secret(endpoint=endpoint, by=BY, at=just_before)
        new = endpoints.rotate_secret(endpoint=endpoint, by=BY, at=end)

        assert WebhookEndpoint.objects.get(pk=endpoint.pk).secrets(at=end) == [new, replaced]

    def test_ends_the_secret_before_only_for_whoever_saw_until_when_it_signs(self, endpoint):
        now = timezone.now()
        endpoints.rotate_secret(endpoint=endpoint, by=BY, at=now)
        until = now + timedelta(hours=24)
        later = {"at": now + timedelta(hours=1), "end_previous": until}
        endpoints.rotate_secret(endpoint=endpoint, by=BY, **later)
        secrets = WebhookEndpoint.objects.get(pk=endpoint.pk).secrets(at=later["at"])

        with pytest.raises(SecretRotatedLately):
            endpoints.rotate_secret(endpoint=endpoint, by="user bob", **later)

        assert WebhookEndpoint.objects.get(pk=endpoint.pk).secrets(at=later["at"]) == secrets

    def test_stores_no_clear_text(self, endpoint):
        row = " ".join(str(value) for value in WebhookEndpoint.objects.filter(pk=endpoint.pk).values_list()[0])

        assert endpoint.secret not in row
        assert "whsec_" not in row


class TestSendTest:
    @pytest.fixture
    def addressed(self, endpoint):
        TokenFactory.create(integrator=endpoint.integrator)
        return endpoints.set_url(endpoint=endpoint, url="http://127.0.0.1:9/hook", by=BY, at=timezone.now())

    def test_is_claimed_before_everything_that_waits(self, addressed):
        DeliveryFactory.create(token=addressed.integrator.tokens.get())
        WebhookQueueItem.objects.update(due_at=timezone.now() - timedelta(days=365))

        event = endpoints.send_test(endpoint=addressed, by=BY, at=timezone.now())
        assert event.next_attempt_at == event.created_at

        (claimed,) = claims.claim(OUTBOX, lease=uuid4(), at=timezone.now(), limit=1)
        assert (claimed.event_id, claimed.is_test) == (event.pk, True)

    def test_goes_at_once_during_a_probe_pause_of_the_breaker(self, addressed):
        pause = timezone.now() + timedelta(hours=1)
        WebhookEndpoint.objects.filter(pk=addressed.pk).update(failures=9, paused_until=pause)

        endpoints.send_test(endpoint=addressed, by=BY, at=timezone.now())

        assert len(claims.claim(OUTBOX, lease=uuid4(), at=timezone.now(), limit=1)) == 1

    def test_waits_until_a_pause_has_ended_that_the_endpoint_asked_for(self, addressed):
        at = timezone.now()
        end = at + timedelta(minutes=30)
        WebhookEndpoint.objects.filter(pk=addressed.pk).update(failures=9, paused_until=end, retry_after_until=end)

        endpoints.send_test(endpoint=addressed, by=BY, at=at)

        assert claims.claim(OUTBOX, lease=uuid4(), at=end - timedelta(seconds=1), limit=1) == []
        assert len(claims.claim(OUTBOX, lease=uuid4(), at=end, limit=1)) == 1

    def test_has_every_key_of_a_real_event(self, addressed):
        test = json.loads(endpoints.send_test(endpoint=addressed, by=BY, at=timezone.now()).body)
        real = json.loads(DeliveryFactory.create(stops=1).events.get().body)

        assert shape(test) == shape(real)

    @pytest.mark.parametrize(
        ("prevent", "why"),
        [
            (lambda _endpoint: WebhookEndpoint.objects.update(url=""), "no URL"),
            (lambda _endpoint: Token.objects.update(revoked_at=timezone.now()), "no valid token"),
            (
                lambda endpoint: endpoints.set_enabled(endpoint=endpoint, enabled=False, by=BY, at=timezone.now()),
                "resume them first",
            ),
        ],
    )
    def test_is_refused_to_an_endpoint_that_cannot_send(self, addressed, prevent, why):
        prevent(addressed)

        with pytest.raises(EndpointCannotSend, match=why):
            endpoints.send_test(endpoint=addressed, by=BY, at=timezone.now())

        assert not WebhookEvent.objects.exists()

    def test_is_refused_after_60_within_an_hour(self, addressed):
        start = timezone.now()
        for minute in range(endpoints.TESTS_PER_HOUR):
            endpoints.send_test(endpoint=addressed, by=BY, at=start + timedelta(seconds=30 * minute))

        with pytest.raises(EndpointCannotSend, match="60 test events"):
            endpoints.send_test(endpoint=addressed, by=BY, at=start + timedelta(minutes=59))
        written = WebhookEvent.objects.count()
        endpoints.send_test(endpoint=addressed, by=BY, at=start + timedelta(hours=1))

        assert (written, WebhookEvent.objects.count()) == (60, 61)


def shape(value):
    """The keys of a body, nested ones included."""
    if isinstance(value, dict):
        return {key: shape(item) for key, item in value.items()}
    return [shape(item) for item in value] if isinstance(value, list) else None


class TestAdd:
    def test_takes_the_lowest_free_number(self, endpoint):
        token = TokenFactory.create(integrator=endpoint.integrator)
        second, third = add_endpoint(token), add_endpoint(token)
        endpoints.remove(endpoint=second, by=BY, at=timezone.now())

        added = add_endpoint(token, statuses=["FAILED", "PENDING"])

        assert (second.number, third.number, added.number) == (2, 3, 2)
        assert added.statuses == ["PENDING", "FAILED"]
        assert added.secret != third.secret
        entries = AuditEntry.objects.filter(action="endpoint_added").order_by("id")
        assert [entry.subject for entry in entries] == [f"#{each.number} {each.url}" for each in (second, third, added)]

    def test_with_the_longest_url_is_recorded(self, endpoint):
        url = f"https://shop.example/{'x' * 1979}"

        added = add_endpoint(TokenFactory.create(integrator=endpoint.integrator), url=url)

        assert (added.url, len(url)) == (url, 2000)
        assert AuditEntry.objects.get(action="endpoint_added").subject == f"#2 {url}"[:2000]

    def test_of_the_url_of_another_endpoint_is_refused(self, endpoint):
        token = TokenFactory.create(integrator=endpoint.integrator)
        second = add_endpoint(token)

        with pytest.raises(InvalidWebhookUrl, match="Endpoint 2 has this URL already"):
            add_endpoint(token, url=second.url)

        assert WebhookEndpoint.objects.get(url=second.url) == second
        sandbox = TokenFactory.create(integrator=endpoint.integrator, sandbox=True)
        for other in (sandbox, TokenFactory.create()):
            assert add_endpoint(other, url=second.url).number == 2

    def test_a_url_is_not_changed_to_that_of_another_endpoint(self, endpoint):
        token = TokenFactory.create(integrator=endpoint.integrator)
        second, third = add_endpoint(token), add_endpoint(token)
        endpoints.store_url(endpoint=second, url=CheckedUrl(second.url), by=BY, at=timezone.now())  # its own

        with pytest.raises(InvalidWebhookUrl, match="Endpoint 2 has this URL already"):
            endpoints.store_url(endpoint=third, url=CheckedUrl(second.url), by=BY, at=timezone.now())

        assert WebhookEndpoint.objects.get(url=second.url) == second

    def test_of_a_sixth_one_is_refused(self, endpoint):
        token = TokenFactory.create(integrator=endpoint.integrator)
        for _number in range(4):
            add_endpoint(token)

        with pytest.raises(TooManyEndpoints, match="There are 5 endpoints"):
            add_endpoint(token)

        assert endpoint.integrator.endpoints.filter(environment="live").count() == 5
        assert add_endpoint(TokenFactory.create(integrator=endpoint.integrator, environment="sandbox")).number == 2

    def test_to_a_suspended_account_is_refused(self, endpoint):
        integrators.suspend(integrator=endpoint.integrator, reason="unpaid", by=BY, at=timezone.now())

        with pytest.raises(AccountSuspended):
            add_endpoint(TokenFactory.create(integrator=endpoint.integrator))

        assert endpoint.integrator.endpoints.filter(environment="live").get() == endpoint

    @pytest.mark.parametrize("number", [0, 6])
    def test_of_another_number_is_refused_by_the_database(self, endpoint, number):
        with pytest.raises(IntegrityError, match="endpoint_number"):
            WebhookEndpoint.objects.filter(pk=endpoint.pk).update(number=number)


class TestRemove:
    @pytest.fixture
    def further(self, endpoint):
        return add_endpoint(TokenFactory.create(integrator=endpoint.integrator))

    @pytest.fixture
    def delivery(self, further):
        return DeliveryFactory.create(token=further.integrator.tokens.get(), collected=True)

    def test_sends_nothing_more(self, further, delivery):
        endpoints.remove(endpoint=further, by=BY, at=timezone.now())
        DeliveryFactory.create(token=delivery.token)

        assert claims.claim(OUTBOX, lease=uuid4(), at=timezone.now(), limit=10) == []
        assert WebhookEvent.objects.filter(endpoint=further).count() == 3
        assert AuditEntry.objects.get(action="endpoint_removed").subject.startswith("#2 http://127.0.0.1:9/further")

    def test_deletes_its_events_and_attempts_later_and_no_others(self, further, delivery, monkeypatch):
        monkeypatch.setattr(endpoints, "_EVENTS_OF_BATCH", 2)
        event, at = further.events.get(sequence=1), timezone.now()
        WebhookAttempt.objects.create(event=event, number=1, at=at, milliseconds=1)
        first_of_seller = endpoints.first(EndpointOfSeller, owner=SellerFactory.create().pk, environment="live")
        url = CheckedUrl("https://shop.example/")
        of_seller = endpoints.add(beside=first_of_seller, url=url, statuses=(), by=BY, at=at)
        for removed in (further, of_seller):
            endpoints.remove(endpoint=removed, by=BY, at=at)

        assert endpoints.delete_removed() == 2

        assert not WebhookEndpoint.objects.filter(pk=further.pk).exists()
        assert EndpointOfSeller.objects.get() == first_of_seller
        assert not WebhookAttempt.objects.exists()
        assert delivery.events.count() == 3
        assert endpoints.delete_removed() == 0

    def test_of_the_first_one_is_refused(self, endpoint):
        with pytest.raises(EndpointStays):
            endpoints.remove(endpoint=endpoint, by=BY, at=timezone.now())

        assert WebhookEndpoint.objects.get(pk=endpoint.pk).number == 1

    @in_turn(
        ("act", "values"),
        [
            (endpoints.set_url, {"url": "http://127.0.0.1:9/"}),
            (endpoints.set_filter, {"statuses": ["FAILED"]}),
            (endpoints.set_enabled, {"enabled": False}),
            (endpoints.set_enabled, {"enabled": True}),
            (endpoints.rotate_secret, {}),
            (endpoints.send_test, {}),
            (endpoints.remove, {}),
        ],
    )
    def test_leaves_nothing_to_change(self, further, act, values):
        endpoints.remove(endpoint=further, by=BY, at=timezone.now())

        with pytest.raises(WebhookEndpoint.DoesNotExist):
            act(endpoint=further, by=BY, at=timezone.now(), **values)


class TestSetUrl:
    @pytest.mark.parametrize(("because", "is_on"), [("staff", False), ("gone", True), ("failing", True)])
    def test_switches_it_on_unless_a_person_has_switched_it_off(self, endpoint, because, is_on):
        at = timezone.now()
        off = {"enabled": False, "off_because": because, "off_since": at, "failures": 9, "failing_since": at}
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(**off)

        stored = endpoints.set_url(endpoint=endpoint, url="http://127.0.0.1:9/hook", by=BY, at=at)

        stored.refresh_from_db()
        assert (stored.enabled, stored.failures) == ((True, 0) if is_on else (False, 9))
        assert (stored.off_because, stored.off_since) == (("", None) if is_on else ("staff", at))


@pytest.mark.parametrize(
    "act",
    [endpoints.set_url, endpoints.set_up, partial(alerts.set_url, language="en")],
    ids=["url", "set up", "alerts"],
)
def test_no_url_is_looked_up_inside_a_transaction(endpoint, act):
    """Its locks would be held for the seconds that this takes."""
    with transaction.atomic(), pytest.raises(RuntimeError, match="durable"):
        act(endpoint=endpoint, url="http://127.0.0.1:9/hook", by=BY, at=timezone.now())

    assert WebhookEndpoint.objects.get(pk=endpoint.pk).url == ""


class TestSetEnabled:
    def test_off_is_a_persons_decision_from_then_on_about_one_that_was_off_before(self, endpoint):
        since = timezone.now() - timedelta(days=2)
        off = {"enabled": False, "off_because": "failing", "off_since": since, "failures": 9}
        WebhookEndpoint.objects.filter(pk=endpoint.pk).update(**off)

        endpoints.set_enabled(endpoint=endpoint, enabled=False, by=BY, at=timezone.now())
        stored = endpoints.set_url(endpoint=endpoint, url="http://127.0.0.1:9/hook", by=BY, at=timezone.now())

        assert (stored.enabled, stored.off_because, stored.off_since) == (False, "staff", since)


class TestSetFilter:
    @pytest.mark.parametrize(
        ("chosen", "stored"),
        [
            (["FAILED", "ACCEPT", "ACCEPT"], ["ACCEPT", "FAILED"]),
            (["PENDING", "ACCEPT", "COLLECTED", "DELIVERED", "FAILED"], []),
            ([], []),
        ],
    )
    def test_stores_the_statuses_in_their_order_and_all_as_none(self, endpoint, chosen, stored):
        WebhookEndpoint.objects.update(statuses=["COLLECTED"])

        endpoints.set_filter(endpoint=endpoint, statuses=chosen, by=BY, at=timezone.now())

        assert WebhookEndpoint.objects.get(pk=endpoint.pk).statuses == stored
        assert AuditEntry.objects.get(action="filter_set").subject == (" ".join(stored) or "*")

    def test_of_another_status_is_refused_by_the_database(self, endpoint):
        with pytest.raises(IntegrityError, match="endpoint_statuses"):
            WebhookEndpoint.objects.filter(pk=endpoint.pk).update(statuses=["EXPIRED"])


class TestSetUp:
    def test_returns_the_secret_once(self, endpoint):
        url, at = "http://127.0.0.1:9/hook", timezone.now()

        stored, first = endpoints.set_up(endpoint=endpoint, url=url, by=BY, at=at)
        _stored, second = endpoints.set_up(endpoint=endpoint, url=url, by=BY, at=at)

        assert (stored.url, first, second) == (url, endpoint.secret, None)

    @pytest.mark.parametrize("show", [endpoints.show_secret, endpoints.rotate_secret])
    def test_returns_none_that_a_person_has_seen(self, endpoint, show):
        show(endpoint=endpoint, by=BY, at=timezone.now())

        assert endpoints.set_up(endpoint=endpoint, url="", by=BY, at=timezone.now())[1] is None
