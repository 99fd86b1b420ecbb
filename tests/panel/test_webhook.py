"""The webhook page: URL, test event, secret, pause and resume."""

import re
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.utils import timezone

from common.webhooks import endpoints
from delivery.actions import deliveries
from delivery.models import AuditEntry, EventState, OffBecause, WebhookAttempt, WebhookEndpoint, WebhookEvent
from panel.forms import UrlForm
from tests.factories import BY, DeliveryFactory, add_endpoint

URL = "http://127.0.0.1:9/hook"


def fresh(shop):
    return WebhookEndpoint.objects.get(pk=shop.endpoint.pk)


class TestUrl:
    def test_is_stored_and_a_test_event_sent(self, member, url, shop):
        response = member.post(url("webhook"), {"url": URL}, follow=True)

        assert fresh(shop).url == URL
        test = WebhookEvent.objects.get(delivery=None)
        assert response.redirect_chain[-1][0].endswith(f"?test={test.pk}")
        assert url("webhook_test_result", test.pk) in response.content.decode()
        actions = set(AuditEntry.objects.values_list("action", "subject", "by"))
        assert {("url_set", URL, "user member"), ("test_sent", "", "user member")} <= actions

    @pytest.mark.parametrize(
        ("bad", "why"),
        [
            ("http://shop.example.com/", "must begin with https://"),
            ("javascript:alert(1)", "must begin with https://"),
            ("https://[::ffff:127.0.0.1]/", "not an IP address"),
            ("https://" + "a" * 1990 + ".com", "2000"),
        ],
    )
    def test_is_refused_with_the_reason(self, member, url, shop, settings, bad, why):
        settings.WEBHOOK_ALLOW_LOOPBACK = False

        response = member.post(url("webhook"), {"url": bad})

        assert response.status_code == 422
        assert why in str(response.context["form"].errors)
        assert fresh(shop).url == ""
        assert not AuditEntry.objects.filter(action="url_set").exists()

    def test_can_be_removed(self, member, url, with_url):
        member.post(url("webhook"), {"url": ""})

        assert fresh(with_url).url == ""
        assert not WebhookEvent.objects.filter(delivery=None).exists()

    def test_of_a_paused_endpoint_stays_paused(self, member, url, with_url):
        member.post(url("webhook_switch"), {"enabled": "0"})

        response = member.post(url("webhook"), {"url": URL + "/2"}, follow=True)

        assert (fresh(with_url).url, fresh(with_url).enabled) == (URL + "/2", False)
        _paused, message = response.context["messages"]
        assert str(message) == "The URL was saved. Nothing is sent to it until you resume webhooks."
        assert not WebhookEvent.objects.filter(delivery=None).exists()


class TestResult:
    def result(self, member, url, shop, **attempt):
        event = endpoints.send_test(endpoint=shop.endpoint, by=BY, at=timezone.now())
        if attempt:
            WebhookAttempt.objects.create(event_id=event.pk, number=1, at=timezone.now(), milliseconds=12, **attempt)
        return member.get(url("webhook_test_result", event.pk), {"state": "1"}).content.decode()

    def test_is_loaded_again_until_there_is_one(self, member, url, with_url):
        content = self.result(member, url, with_url)

        assert 'hx-trigger="every 1s"' in content
        assert "hx-swap-oob" not in content  # the state of the endpoint stays as it is shown

    def test_shows_the_answer_and_brings_the_state_of_the_endpoint_up_to_date(self, member, url, with_url):
        WebhookEndpoint.objects.update(last_success_at=datetime(2026, 11, 20, 15, 4, 5, tzinfo=UTC))

        content = self.result(member, url, with_url, status_code=500, response_start="<b>no</b>")

        assert "500" in content
        assert "12 ms" in content
        assert "&lt;b&gt;no&lt;/b&gt;" in content
        assert "hx-trigger" not in content
        assert re.search(r'id="webhook-state"[^>]*hx-swap-oob="true"', content)
        assert "20 Nov 2026, 12:04:05" in content


class TestState:
    def test_counts_what_fails_and_links_to_it(self, member, url, with_url):
        WebhookEvent.objects.filter(pk=with_url.event.pk).update(state=EventState.DEAD)

        content = member.get(url("webhook")).content.decode()

        assert re.search(r'state=dead"\s*>\s*1\s*</a>', content)
        assert "state=failing" not in content

    def test_is_not_older_than_the_result_of_the_test_beside_it(self, member, url, with_url):
        """The attempt is settled after the view has read the endpoint, and before it reads the attempt."""
        test = endpoints.send_test(endpoint=with_url.endpoint, by=BY, at=timezone.now())

        settled: list[bool] = []

        def settle_before(execute, sql, *arguments):
            if 'FROM "delivery_webhookattempt"' in sql and not settled:
                settled.append(True)
                WebhookAttempt.objects.create(
                    event_id=test.pk, number=1, at=timezone.now(), milliseconds=9, status_code=204
                )
                WebhookEndpoint.objects.update(last_success_at=datetime(2026, 11, 20, 15, 4, 5, tzinfo=UTC))
            return execute(sql, *arguments)

        with connection.execute_wrapper(settle_before):
            content = member.get(url("webhook"), {"test": test.pk}).content.decode()

        assert "204" in content
        assert "20 Nov 2026, 12:04:05" in content


class TestSecret:
    def test_is_shown_on_request_only(self, member, url, shop):
        assert shop.endpoint.secret not in member.get(url("webhook")).content.decode()

        content = member.post(url("webhook_secret"), follow=True).content.decode()

        assert shop.endpoint.secret in content
        assert shop.endpoint.secret not in member.get(url("webhook")).content.decode()
        assert AuditEntry.objects.get(action="secret_shown").by == "user member"

    def test_is_not_rotated_twice_within_24_hours_without_confirmation(self, member, url, shop):
        first = shop.endpoint.secret
        member.post(url("webhook_secret_rotate"))

        response = member.post(url("webhook_secret_rotate"), follow=True)
        assert "rotated recently" in response.content.decode()
        assert fresh(shop).secrets(at=timezone.now())[1] == first

        (until,) = re.findall(r'name="end_previous" value="([^"]+)"', member.get(url("webhook")).content.decode())
        second = fresh(shop).secret
        for _press in range(2):
            member.post(url("webhook_secret_rotate"), {"end_previous": until})
        assert fresh(shop).secrets(at=timezone.now())[1:] == [second] != [first]

    def test_rotated_once_leaves_two_that_sign(self, member, url, shop):
        old = shop.endpoint.secret

        response = member.post(url("webhook_secret_rotate"), follow=True)

        assert fresh(shop).secrets(at=timezone.now()) == [response.context["fresh_secret"], old]
        assert response.context["fresh_secret"] != old


class TestSwitch:
    def test_pauses_and_resumes(self, member, url, with_url):
        member.post(url("webhook_switch"), {"enabled": "0"})
        assert fresh(with_url).off_because == OffBecause.STAFF

        member.post(url("webhook_switch"), {"enabled": "1"})
        assert fresh(with_url).enabled
        assert {"endpoint_off", "endpoint_on"} <= set(AuditEntry.objects.values_list("action", flat=True))

    def test_names_who_has_switched_this_endpoint_off_the_last_time(self, member, url, with_url):
        further = add_endpoint(with_url.token)
        switched = [(with_url.endpoint, "ana"), (with_url.endpoint, ""), (with_url.endpoint, "bia"), (further, "caio")]
        for number, (endpoint, name) in enumerate(switched):
            at = timezone.now() + timedelta(seconds=number)
            endpoints.set_enabled(endpoint=endpoint, enabled=not name, by=f"user {name or 'ana'}", at=at)

        content = member.get(url("webhook")).content.decode()

        assert re.findall(r"(\w+) switched webhooks off", content) == ["bia"]

    def test_shows_the_state_of_a_failing_endpoint(self, member, url, with_url):
        WebhookEndpoint.objects.filter(pk=with_url.endpoint.pk).update(failures=7, failing_since=timezone.now())

        assert "Failing since" in member.get(url("webhook")).content.decode()

    def test_says_that_single_events_are_retried(self, member, url, with_url):
        event = endpoints.send_test(endpoint=with_url.endpoint, by=BY, at=timezone.now())
        WebhookEvent.objects.filter(pk=event.pk).update(attempts_made=1)

        found = member.get(url("webhook")).content.decode()

        assert "1 event is retried; your server takes the others." in found
        assert "Failures in a row" not in found
        assert [each.pk for each in WebhookEndpoint.objects.failing()] == [with_url.endpoint.pk]

    def test_sends_no_test_while_off(self, member, url, with_url):
        member.post(url("webhook_switch"), {"enabled": "0"})

        response = member.post(url("webhook_test"), follow=True)

        assert "Webhooks are off; resume them first." in response.content.decode()
        assert not WebhookEvent.objects.filter(delivery=None).exists()


class TestFilter:
    def test_is_stored(self, member, url, shop):
        member.post(url("webhook_filter"), {"statuses": ["DELIVERED", "FAILED"]})

        assert fresh(shop).statuses == ["DELIVERED", "FAILED"]

    def test_of_nothing_is_refused(self, member, url, shop):
        response = member.post(url("webhook_filter"), {})

        assert response.status_code == 422
        assert "Choose at least one." in response.content.decode()
        assert fresh(shop).statuses == []
        assert not AuditEntry.objects.filter(action="filter_set").exists()


class TestFurtherEndpoints:
    @pytest.fixture
    def further(self, with_url):
        return add_endpoint(with_url.token, url="http://127.0.0.1:9/further", statuses=["FAILED"])

    def test_are_added_with_the_secret_shown_once(self, member, url, shop):
        response = member.post(url("webhook_add"), {"url": URL, "statuses": ["FAILED"]}, follow=True)

        added = WebhookEndpoint.objects.get(number=2)
        assert (added.url, added.statuses, added.secret_shown) == (URL, ["FAILED"], True)
        assert not WebhookEndpoint.objects.get(pk=shop.endpoint.pk).secret_shown
        assert response.redirect_chain[-1][0] == url("webhook", 2)
        assert added.secret in response.content.decode()
        assert added.secret not in member.get(url("webhook", 2)).content.decode()

    def test_are_not_added_with_the_url_of_another_one(self, member, url, further):
        response = member.post(url("webhook_add"), {"url": further.url, "statuses": ["FAILED"]})

        assert (response.status_code, WebhookEndpoint.objects.filter(number=3).exists()) == (422, False)
        assert "Endpoint 2 has this URL already." in response.content.decode()

    @pytest.mark.parametrize(
        ("sent", "why"),
        [
            ({"url": "ftp://shop.example/", "statuses": ["FAILED"]}, "must begin with https://"),
            ({"url": "", "statuses": ["FAILED"]}, "This field is required."),
            ({"url": URL, "statuses": ["EXPIRED"]}, "EXPIRED is not one of the available choices"),
        ],
    )
    def test_are_not_added_with_a_wrong_form(self, member, url, shop, sent, why):
        response = member.post(url("webhook_add"), sent)

        assert (response.status_code, WebhookEndpoint.objects.filter(number=2).exists()) == (422, False)
        assert why in response.content.decode()

    def test_are_not_added_over_five(self, member, url, shop):
        offered = []
        for _number in range(4):
            offered.append(member.get(url("webhook")).context["can_add"])
            add_endpoint(shop.token)

        response = member.post(url("webhook_add"), {"url": URL, "statuses": ["FAILED"]})

        assert [*offered, member.get(url("webhook")).context["can_add"]] == [True] * 4 + [False]
        assert response.status_code == 422
        assert "There are 5 endpoints" in response.content.decode()

    def test_are_listed_with_their_state(self, member, url, further):
        WebhookEndpoint.objects.filter(pk=further.pk).update(failures=7, failing_since=timezone.now())

        page = member.get(url("webhook")).content.decode()

        assert f'href="{url("webhook", 2)}"' in page
        assert re.search(r"Failing</span>.*?FAILED.*?>7<", page, re.DOTALL)

    def test_have_the_same_pages_as_the_first(self, member, url, with_url, further):
        member.post(url("webhook", 2), {"url": URL + "/new"})
        member.post(url("webhook_switch", 2), {"enabled": "0"})
        page = member.post(url("webhook_secret", 2), follow=True).content.decode()

        changed = WebhookEndpoint.objects.get(pk=further.pk)
        assert (changed.url, changed.enabled, fresh(with_url).enabled) == (URL + "/new", False, True)
        assert further.secret in page
        assert "member switched webhooks off" in page
        assert WebhookEvent.objects.get(delivery=None).endpoint == further

    def test_have_secrets_and_tests_that_no_other_page_shows(self, member, url, with_url, further):
        member.post(url("webhook_secret"))
        assert further.secret not in member.get(url("webhook", 2)).content.decode()
        test = endpoints.send_test(endpoint=with_url.endpoint, by=BY, at=timezone.now())

        for number, shown in ((1, test), (2, None)):
            assert member.get(url("webhook", number), {"test": test.pk}).context["test"] == shown

    def test_have_their_own_events(self, member, url, with_url, further):
        delivery = DeliveryFactory.create(token=with_url.token)
        deliveries.cancel(delivery=delivery, reason="", by=BY, at=timezone.now())
        event = delivery.events.get(endpoint=further)

        assert [row.pk for row in member.get(url("events", 2)).context["rows"]] == [event.pk]
        assert str(event.copy_of) in member.get(url("event", 2, event.pk)).content.decode()
        assert member.get(url("event", event.pk)).status_code == 404

    def test_are_removed(self, member, url, further):
        response = member.post(url("webhook_remove", 2), follow=True)

        assert response.redirect_chain[-1][0] == url("webhook")
        assert member.get(url("webhook", 2)).status_code == 404
        assert WebhookEndpoint.objects.get(pk=further.pk).number is None

    def test_leave_the_first_one(self, member, url, with_url):
        response = member.post(url("webhook_remove"), follow=True)

        assert "The first endpoint stays." in response.content.decode()
        assert fresh(with_url).number == 1

    @pytest.mark.parametrize("number", [0, 2, 3, 99999999999999999999])
    def test_that_do_not_exist_are_not_found(self, member, url, shop, number):
        for page in ("webhook", "events"):
            assert member.get(url(page, number)).status_code == 404
        assert member.post(url("webhook_switch", number), {"enabled": "0"}).status_code == 404
        assert fresh(shop).enabled

    def test_are_named_in_the_notices_of_the_overview(self, member, url, further):
        WebhookEndpoint.objects.filter(pk=further.pk).update(failures=7, failing_since=timezone.now())

        page = member.get(url("overview")).content.decode()

        assert "127.0.0.1:9: The webhook failed 7 times in a row" in page
        assert url("webhook", 2) in page


class TestUrlForm:
    @pytest.mark.parametrize("is_allowed", [True, False])
    def test_mentions_local_addresses_where_they_are_allowed(self, settings, is_allowed):
        settings.WEBHOOK_ALLOW_LOOPBACK = is_allowed

        assert ("http://127.0.0.1" in str(UrlForm().fields["url"].help_text)) == is_allowed
