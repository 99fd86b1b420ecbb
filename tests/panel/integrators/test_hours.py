"""What an account sees of the hours of service."""

from datetime import UTC, datetime, timedelta

import pytest
from django.urls import reverse

from common import clock
from delivery.models import Delivery
from tests.service_hours import make

NIGHT = datetime(2026, 11, 21, 2, tzinfo=UTC)  # Friday 23:00 in São Paulo


@pytest.fixture
def at(monkeypatch):
    def set_to(moment):
        monkeypatch.setattr(clock, "now", lambda: moment)

    set_to(NIGHT)
    return set_to


def page(client, account, name, environment="live"):
    return " ".join(client.get(reverse(f"panel:{name}", args=[account.pk, environment])).content.decode().split())


class TestOverview:
    def test_shows_the_next_week(self, admin_client, token, at):
        make("08:00-18:00", time_zone="America/Manaus")

        shown = page(admin_client, token.integrator, "overview")

        assert "Closed, opens Sat 08:00" in shown
        assert "By the clocks of Manaus." in shown
        assert shown.count("<dd>08:00–18:00</dd>") == 7

    def test_shows_its_own_hours_alone(self, admin_client, token, at):
        make("08:00-18:00")
        make("10:00-11:00", integrator=token.integrator)

        shown = page(admin_client, token.integrator, "overview")

        assert shown.count("Hours of service") == 1
        assert shown.count("<dd>10:00–11:00</dd>") == 7

    @pytest.mark.parametrize(("environment", "has_hours"), [("sandbox", True), ("live", False)])
    def test_says_nothing_in_the_sandbox_and_without_hours(self, admin_client, token, at, environment, has_hours):
        if has_hours:
            make()

        assert "Hours of service" not in page(admin_client, token.integrator, "overview", environment)


@pytest.mark.parametrize("name", ["request", "upload"])
def test_requests_say_before_that_it_is_closed(admin_client, token, at, name):
    make("08:00-18:00", integrator=token.integrator)

    assert "Closed, opens Sat 08:00. Deliveries" in page(admin_client, token.integrator, name)
    assert "Closed" not in page(admin_client, token.integrator, name, "sandbox")
    at(NIGHT + timedelta(hours=9))
    assert "Closed" not in page(admin_client, token.integrator, name)


def test_the_price_of_a_request_says_when_it_opens(admin_client, token, at):
    make("08:00-18:00", integrator=token.integrator)
    point = token.integrator.pickup_points.get()
    typed = {
        "vehicle_type": "MOTORCYCLE", "a-point": str(point.pk), "a-name": "Loja", "a-phone": "+55 11 3333-0000",
        "b-position": "-23.552, -46.65", "step": "request",
    }  # fmt: skip  # a form

    shown = admin_client.post(
        reverse("panel:request_price", args=[token.integrator.pk, "live"]),
        typed,
        headers={"Accept-Language": "pt-BR"},
    ).content.decode()

    assert "abre Sáb 08:00" in shown
    assert not Delivery.objects.exists()
