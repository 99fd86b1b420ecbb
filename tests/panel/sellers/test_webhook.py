"""What only the pages of a seller's webhooks have; the others are shown by those of an account, which are the same."""

import pytest
from django.urls import reverse
from django.utils import timezone

from common.webhooks import endpoints
from common.webhooks.endpoints import CheckedUrl
from integration.accounts import sellers
from integration.actions import orders
from integration.lifecycle import Status
from integration.models import EndpointChange, Order, WebhookEndpoint, WebhookEvent, WebhookQueueItem
from integration.webhooks import outbox
from panel.views import events
from tests.factories import BY
from tests.integration.factories import create_order
from tests.panel.conftest import table

URL = "http://127.0.0.1:9/hook"


@pytest.fixture
def address(seller):
    """The address of a page of the seller's webhooks, by its name without `seller_`."""

    def build(name, *arguments, environment="live"):
        return reverse(f"panel:seller_{name}", args=[seller.pk, environment, *arguments])

    return build


@pytest.fixture
def told(seller):
    endpoint = endpoints.first(WebhookEndpoint, owner=seller.pk, environment="live")
    return endpoints.store_url(endpoint=endpoint, url=CheckedUrl(URL), by=BY, at=timezone.now())


class TestWebhook:
    def test_has_an_endpoint_of_its_own_in_each_environment(self, member, seller, address):
        member.post(address("webhook", environment="sandbox"), {"url": URL})

        assert dict(WebhookEndpoint.objects.values_list("environment", "url")) == {"sandbox": URL}
        assert member.get(address("webhook")).status_code == 200
        assert WebhookEvent.objects.get().is_test

    def test_says_who_switched_it_off(self, member, told, address):
        member.post(address("webhook_switch"), {"enabled": "0"})

        assert "member switched webhooks off" in member.get(address("webhook")).content.decode()

    def test_of_a_suspended_seller_is_not_changed(self, member, told, seller, address):
        sellers.suspend(seller=seller, reason="unpaid", by=BY, at=timezone.now())

        response = member.post(address("webhook"), {"url": "http://127.0.0.1:9/new"})

        assert response.headers["Location"] == reverse("panel:seller", args=[seller.pk, "live"])
        assert WebhookEndpoint.objects.get().url == URL

    def test_does_not_show_the_secret_of_another_areas_endpoint(self, member, shop, told, address, url):
        WebhookEndpoint.objects.filter(pk=told.pk).update(id=shop.endpoint.pk)  # as if both had this key
        member.post(url("webhook_secret"))

        page = member.get(address("webhook"))

        assert told.secret not in page.content.decode()


class TestAuthentication:
    @pytest.mark.parametrize(
        ("kind", "secret", "stored"),
        [
            ("header", "open-sesame-2026", ("X-Api-Key", "open-sesame-2026")),
            ("bearer", "open-sesame-2026", ("", "open-sesame-2026")),
            ("basic", "ana:sesame", ("", "ana:sesame")),
            ("none", "open-sesame-2026", ("", "")),
        ],
    )
    def test_is_set_without_what_its_kind_has_none_of(self, member, told, address, kind, secret, stored):
        sent = {"kind": kind, "name": "X-Api-Key", "secret": secret}

        response = member.post(address("webhook_authentication"), sent)

        assert response.status_code == 302
        chosen = WebhookEndpoint.objects.get().authentication
        assert (chosen.kind, chosen.name, chosen.secret) == (kind, *stored)
        assert "sesame" not in member.get(address("webhook")).content.decode()

    @pytest.mark.parametrize(
        ("sent", "field"),
        [
            ({"kind": "header", "name": "Host", "secret": "a"}, "name"),
            ({"kind": "basic", "secret": "ana"}, "secret"),  # pragma: allowlist secret
            ({"kind": "digest"}, "kind"),
        ],
    )
    def test_is_refused_at_its_field(self, member, told, address, sent, field):
        response = member.post(address("webhook_authentication"), sent)

        assert response.status_code == 422
        assert list(response.context["authentication_form"].errors) == [field]
        assert WebhookEndpoint.objects.get().authentication_kind == "none"
        assert not EndpointChange.objects.filter(action="authentication_set").exists()


class TestEvents:
    def test_are_found_by_their_order(self, member, seller, told, address):
        create_order(seller)
        create_order(seller, orderId="A-2")

        page = member.get(address("events"), {"q": "A-2"})

        assert [row.order.code for row in page.context["rows"]] == ["A-2"]
        order = page.context["rows"][0].order_id
        assert reverse("panel:seller_order", args=[seller.pk, "live", order]) in page.content.decode()

    def test_are_exported_with_the_order(self, member, seller, told, address, caplog):
        create_order(seller)
        caplog.set_level("INFO", "panel.views.events")

        (row,) = table(member.get(address("events_export")))

        assert f"member exported events of seller {seller.reference}" in caplog.text
        assert (row["orderId"], row["Event"], row["webhook-sequence"]) == ("A-1", "pending", "1")

    def test_of_the_sandbox_are_exported_in_a_file_that_says_so(self, member, seller, address):
        response = member.get(address("events_export", environment="sandbox"))

        assert "sandbox-events" in response["Content-Disposition"]

    def test_say_what_they_wait_for(self, member, seller, told, address):
        order = create_order(seller)
        orders.move(order=order, to=Status.COLLECTED, by=BY, at=timezone.now())
        second = order.events.get(sequence=2)

        page = member.get(address("event", second.pk))

        assert page.context["blocked_by"] == order.events.get(sequence=1)

    def test_without_a_url_are_recovered(self, member, seller, address):
        create_order(seller)
        endpoint = endpoints.first(WebhookEndpoint, owner=seller.pk, environment="live")
        endpoints.store_url(endpoint=endpoint, url=CheckedUrl(URL), by=BY, at=timezone.now())

        member.post(address("events_resend"), {"period": "hour"})

        assert WebhookQueueItem.objects.get(order__code="A-1").event

    def test_without_a_url_are_listed(self, member, seller, address):
        create_order(seller)

        page = member.get(address("events"))

        assert [row.order.code for row in page.context["rows"]] == ["A-1"]

    @pytest.mark.parametrize(("most", "recovered", "says_so"), [(4, 3, False), (2, 2, True)])
    def test_of_many_orders_without_a_url_are_recovered(
        self, member, seller, address, monkeypatch, most, recovered, says_so
    ):
        monkeypatch.setattr(outbox, "_MOST_ORDERS", 1)
        monkeypatch.setattr(events, "_MOST_RECORDINGS", most)
        for number in range(3):
            create_order(seller, orderId=f"A-{number}")
        endpoints.first(WebhookEndpoint, owner=seller.pk, environment="live")
        WebhookEndpoint.objects.update(url=URL)

        dialog = member.get(address("events_resend"), {"period": "hour"})
        counted, said = dialog.context["count"], "Not all events" in dialog.content.decode()
        WebhookEvent.objects.all().delete()
        Order.objects.update(unrecorded_at=timezone.now())
        page = member.post(address("events_resend"), {"period": "hour"}, follow=True)

        assert (counted, said) == (recovered, says_so)
        assert WebhookQueueItem.objects.count() == recovered
        assert ("Not all events" in page.content.decode()) is says_so

    def test_of_another_environment_are_not_found(self, member, seller, told, address):
        event = create_order(seller).events.get()

        assert member.get(address("event", event.pk, environment="sandbox")).status_code == 404


class TestNotices:
    def test_of_failing_webhooks_stand_above_the_orders(self, member, seller, told, address):
        WebhookEndpoint.objects.update(failures=5, failing_since=timezone.now())

        page = member.get(reverse("panel:seller_orders", args=[seller.pk, "live"])).content.decode()

        assert "The webhook failed 5 times in a row" in page
        assert address("webhook") in page


class TestUpdates:
    def test_are_of_its_own_endpoints(self, member, told, address):
        response = member.get(address("updates"))

        assert response.wsgi_request.META["rota.page_stream"].topics == (f"seller-endpoint:{told.pk}",)
