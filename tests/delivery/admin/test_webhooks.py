"""Webhooks in the admin: attempts, sending again, test events, switching endpoints on and off."""

import html
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from common.webhooks import endpoints
from delivery.models import EventState, WebhookAttempt, WebhookEndpoint, WebhookEvent, WebhookQueueItem
from tests.delivery.admin.conftest import person
from tests.factories import BY, DeliveryFactory, TokenFactory, add_endpoint

ENDPOINTS, EVENTS = (
    reverse("admin:delivery_webhookendpoint_changelist"),
    reverse("admin:delivery_webhookevent_changelist"),
)


def post(client, url, action, *chosen):
    answer = client.post(
        url, {"action": action, "_selected_action": [str(one.pk) for one in chosen], "confirmed": "yes"}, follow=True
    )
    return [str(message) for message in answer.context["messages"]] if answer.context else [str(answer.status_code)]


def section(client, event):
    """What the page of the event says about its outcome."""
    content = client.get(reverse("admin:delivery_webhookevent_change", args=[event.pk])).content.decode()
    return content.partition('id="outcome"')[2].partition("</section>")[0]


@pytest.fixture
def endpoint(db):
    endpoint = TokenFactory.create().integrator.endpoints.get(environment="live")
    return endpoints.set_url(endpoint=endpoint, url="http://127.0.0.1:9/", by=BY, at=timezone.now())


@pytest.fixture
def dead(endpoint):
    """An event that was given up, with one attempt."""
    event = DeliveryFactory.create(token=endpoint.integrator.tokens.get()).events.get()
    WebhookQueueItem.objects.all().delete()
    WebhookEvent.objects.update(state=EventState.DEAD, attempts_made=17)
    WebhookAttempt.objects.create(
        event=event, number=17, at=timezone.now(), milliseconds=31, status_code=503, response_start="come back later"
    )
    return event


class TestEvents:
    def test_show_every_attempt(self, admin_client, dead):
        page = admin_client.get(reverse("admin:delivery_webhookevent_change", args=[dead.pk])).content.decode()

        assert "503" in page
        assert "come back later" in page

    def test_are_sent_again(self, admin_client, dead):
        assert post(admin_client, EVENTS, "replay", dead) == ["Events on their way again: 1."]

        dead.refresh_from_db()
        assert (dead.state, dead.queue_item.tries) == (EventState.PENDING, 0)

    def test_say_on_their_page_what_was_answered_and_are_sent_again_there(self, admin_client, dead):
        page = reverse("admin:delivery_webhookevent_change", args=[dead.pk])

        outcome = section(admin_client, dead)
        answer = admin_client.post(
            EVENTS, {"action": "replay", "_selected_action": dead.pk, "from_page": "yes", "confirmed": "yes"}
        )

        assert "503 Service Unavailable" in outcome
        assert 'name="action" value="replay"' in outcome
        assert answer.headers["Location"] == page
        dead.refresh_from_db()
        assert dead.state == EventState.PENDING

    def test_lead_to_the_endpoint_where_no_url_is_set(self, admin_client, dead, endpoint):
        endpoints.set_url(endpoint=endpoint, url="", by=BY, at=timezone.now())

        outcome = section(admin_client, dead)

        assert "replay" not in outcome
        assert reverse("admin:delivery_webhookendpoint_change", args=[endpoint.pk]) in outcome

    def test_lead_to_an_endpoint_that_is_switched_off(self, admin_client, dead, endpoint):
        endpoints.set_enabled(endpoint=endpoint, enabled=False, by=BY, at=timezone.now())

        outcome = section(admin_client, dead)

        assert "replay" not in outcome
        assert "Webhooks are off" in outcome
        assert reverse("admin:delivery_webhookendpoint_change", args=[endpoint.pk]) in outcome

    def test_lead_to_no_endpoint_that_was_removed(self, admin_client, endpoint):
        token = endpoint.integrator.tokens.get()
        further = add_endpoint(token)
        event = DeliveryFactory.create(token=token).events.get(endpoint=further)
        endpoints.remove(endpoint=further, by=BY, at=timezone.now())

        outcome = section(admin_client, event)

        assert "The endpoint was removed." in outcome
        assert "href" not in outcome

    def test_are_not_sent_again_without_a_url(self, admin_client, dead, endpoint):
        endpoints.set_url(endpoint=endpoint, url="", by=BY, at=timezone.now())

        (message,) = post(admin_client, EVENTS, "replay", dead)

        assert "no URL" in message
        assert not WebhookQueueItem.objects.exists()

    def test_are_not_sent_again_by_a_user_without_the_permission(self, client, dead):
        client.force_login(person("otto", "view_webhookevent"))

        post(client, EVENTS, "replay", dead)

        assert not WebhookQueueItem.objects.exists()
        assert "replay" not in section(client, dead)


class TestEndpoint:
    def test_sends_a_test_event_and_redirects_to_it(self, admin_client, endpoint):
        off = add_endpoint(endpoint.integrator.tokens.get())
        endpoints.set_enabled(endpoint=off, enabled=False, by=BY, at=timezone.now())

        refused, message = post(admin_client, ENDPOINTS, "send_test", endpoint, off)

        assert refused == f"{off}: Webhooks are off; resume them first."
        assert message.startswith("The test event is being sent.")
        assert WebhookEvent.objects.get().is_test

    def test_shows_the_new_secret_of_each_that_was_rotated_and_goes_on_after_one_that_was_not(
        self, admin_client, endpoint
    ):
        lately, last = (add_endpoint(endpoint.integrator.tokens.get()) for _number in range(2))
        endpoints.rotate_secret(endpoint=lately, by=BY, at=timezone.now())
        chosen = [str(each.pk) for each in (endpoint, lately, last)]

        answer = admin_client.post(
            ENDPOINTS, {"action": "rotate_secret", "_selected_action": chosen, "confirmed": "yes"}
        )

        content = html.unescape(answer.content.decode())
        now = {each.number: each.secret in content for each in WebhookEndpoint.objects.filter(environment="live")}
        assert now == {1: True, 2: False, 3: True}
        (refused,) = answer.context["messages"]
        assert str(refused).startswith(f"{lately}: The secret was rotated recently")
        assert not any(each.secret in content for each in (endpoint, lately, last))  # as they were

    def test_is_switched_off_and_on(self, admin_client, endpoint):
        post(admin_client, ENDPOINTS, "switch_off", endpoint)
        endpoint.refresh_from_db()
        assert (endpoint.enabled, endpoint.off_because) == (False, "staff")

        post(admin_client, ENDPOINTS, "switch_on", endpoint)
        endpoint.refresh_from_db()
        assert (endpoint.enabled, endpoint.off_because, endpoint.off_since) == (True, "", None)

    def test_is_edited_on_its_page(self, admin_client, endpoint):
        url = reverse("admin:delivery_webhookendpoint_change", args=[endpoint.pk])

        admin_client.post(url, {"url": "http://127.0.0.1:9/new"})

        endpoint.refresh_from_db()
        assert (endpoint.url, endpoint.enabled, endpoint.off_because) == ("http://127.0.0.1:9/new", False, "staff")

    def test_is_not_changed_by_a_user_without_the_permission(self, client, endpoint):
        client.force_login(person("otto", "view_webhookendpoint"))
        before = (endpoint.enabled, endpoint.secret)

        for action in ("send_test", "switch_off", "rotate_secret"):
            post(client, ENDPOINTS, action, endpoint)

        endpoint.refresh_from_db()
        assert ((endpoint.enabled, endpoint.secret), WebhookEvent.objects.count()) == (before, 0)


class TestFurtherEndpoints:
    def add(self, client, endpoint, **fields):
        sent = {"integrator": str(endpoint.integrator_id), "environment": "live", **fields}
        return client.post(reverse("admin:delivery_webhookendpoint_add"), sent, follow=True)

    def test_are_added_and_removed(self, admin_client, endpoint):
        self.add(admin_client, endpoint, url="http://127.0.0.1:9/2", statuses=["FAILED"])
        added = WebhookEndpoint.objects.get(number=2)
        assert (added.url, added.statuses) == ("http://127.0.0.1:9/2", ["FAILED"])

        messages = post(admin_client, ENDPOINTS, "remove", added, endpoint)

        assert [message for message in messages if "The first endpoint stays." in message]
        assert sorted(WebhookEndpoint.objects.values_list("number", flat=True), key=str) == [1, 1, None]

    def test_are_not_added_over_five(self, admin_client, endpoint):
        for _number in range(4):
            add_endpoint(endpoint.integrator.tokens.get())

        answer = self.add(admin_client, endpoint, url="http://127.0.0.1:9/6")

        assert "There are 5 endpoints" in answer.content.decode()
        assert WebhookEndpoint.objects.filter(environment="live").count() == 5

    def test_are_not_added_or_removed_by_a_user_without_the_permission(self, client, endpoint):
        client.force_login(person("otto", "view_webhookendpoint"))
        further = add_endpoint(endpoint.integrator.tokens.get())

        self.add(client, endpoint, url="http://127.0.0.1:9/3")
        post(client, ENDPOINTS, "remove", further)

        assert list(WebhookEndpoint.objects.filter(environment="live").values_list("number", flat=True)) == [1, 2]

    def test_have_a_filter_on_their_page(self, admin_client, endpoint):
        url = reverse("admin:delivery_webhookendpoint_change", args=[endpoint.pk])

        admin_client.post(url, {"url": endpoint.url, "enabled": "on", "statuses": ["FAILED", "ACCEPT"]})

        endpoint.refresh_from_db()
        assert endpoint.statuses == ["ACCEPT", "FAILED"]


class TestStates:
    def test_of_webhooks_are_named_as_in_the_panel(self, admin_client, endpoint):
        off: dict[str, Any] = {"enabled": False, "off_since": timezone.now()}
        cases: list[tuple[dict[str, Any], str]] = [
            ({}, "Working"),
            ({"failures": 5}, "Failing"),
            ({**off, "off_because": "staff"}, "Paused"),
            ({**off, "off_because": "gone"}, "Off: It answered 410 Gone"),
            ({"url": ""}, "No URL"),
        ]

        for changes, state in cases:
            type(endpoint).objects.filter(pk=endpoint.pk).update(**changes)

            page = admin_client.get(ENDPOINTS, {"environment__exact": "live"}).content.decode()

            assert f">{state}</span>" in page

    def test_of_events_have_code_and_milliseconds_of_the_last_attempt(self, admin_client, dead):
        WebhookAttempt.objects.create(event=dead, number=16, at=timezone.now(), milliseconds=9, status_code=500)

        page = admin_client.get(EVENTS).content.decode()

        assert ">503</td>" in page
        assert ">31</td>" in page
        assert "Failed, no more retries</span>" in page


def test_the_body_of_an_event_is_indented_and_copied_as_it_was_sent(admin_client, dead):
    page = html.unescape(
        admin_client.get(reverse("admin:delivery_webhookevent_change", args=[dead.pk])).content.decode()
    )

    assert f'\n  "deliveryId": "{dead.delivery_id}"' in page
    assert f'data-copy="{dead.body}"' in page
