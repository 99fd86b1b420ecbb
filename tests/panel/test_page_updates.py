"""Who is told of what has changed, and how a page that is open loads it."""

import pytest
from django.urls import reverse

from common.pages.page_updates import STREAM


@pytest.fixture
def updates(shop):
    return reverse("panel:updates", args=[shop.integrator.pk, "live"])


class TestStream:
    def test_of_an_account_has_its_deliveries_and_webhooks(self, as_role, shop, updates):
        client = as_role("member")

        response = client.get(updates)

        topics = (f"account:{shop.integrator.pk}:live", f"endpoint:{shop.endpoint.pk}")
        requested = response.wsgi_request.META[STREAM]
        assert (response.status_code, response["Content-Type"]) == (200, "text/event-stream")
        assert (requested.topics, requested.user) == (topics, client.session["_auth_user_id"])

    def test_of_the_board_has_one_environment(self, as_role, shop):
        response = as_role("dispatcher").get(reverse("panel:board_updates", args=["sandbox"]))

        assert response.wsgi_request.META[STREAM].topics == ("board:sandbox",)

    def test_tells_the_page_to_ask_where_there_is_no_stream(self, as_role, updates):
        assert as_role("member").get(updates).content == b"retry: 10000\nevent: away\ndata: -\n\n"


class TestLoading:
    def test_leaves_messages_to_the_page_that_shows_them(self, as_role, shop):
        client = as_role("member")
        address = reverse("panel:webhook", args=[shop.integrator.pk, "live"])
        client.post(reverse("panel:webhook_switch", args=[shop.integrator.pk, "live"]), {"enabled": "0"})

        part = client.get(address, headers={"HX-Request": "true", "Rota-Automatic": "yes"})
        page = client.get(address)

        text = "Webhooks are paused."
        assert (text in part.content.decode(), text in page.content.decode()) == (False, True)

    def test_has_the_webhooks_of_a_delivery_among_its_ids(self, as_role, shop):
        page = as_role("member").get(reverse("panel:delivery", args=[shop.integrator.pk, "live", shop.delivery.pk]))

        ids = f"delivery:{shop.delivery.pk} position:{shop.delivery.pk} event:{shop.event.pk}"
        assert f'<span id="live-ids">{ids}</span>' in page.content.decode()
