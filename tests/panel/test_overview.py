"""The overview counts the deliveries of the current day in the service's time zone, and lists the pickup points."""

from datetime import UTC, datetime

import pytest
from django.urls import reverse

from delivery.models import Environment, Integrator
from panel.views.overview import _midnight
from tests.factories import PickupPointFactory


@pytest.mark.parametrize(("hour", "minute", "day"), [(2, 59, 20), (3, 0, 21), (23, 59, 21)])
def test_the_day_begins_at_midnight_in_sao_paulo(hour, minute, day):
    """Which is 03:00 UTC."""
    assert _midnight(datetime(2026, 11, 21, hour, minute, tzinfo=UTC)) == datetime(2026, 11, day, 3, tzinfo=UTC)


class TestPickupPoints:
    def overview(self, client, account):
        return client.get(reverse("panel:overview", args=[account.pk, Environment.LIVE])).content.decode()

    def test_lists_the_active_ones_of_the_account(self, admin_client):
        point = PickupPointFactory.create(name="Loja Centro", radius_m=321)
        PickupPointFactory.create(name="Fechada", integrator=point.integrator, active=False)
        PickupPointFactory.create(name="Alheia")

        page = self.overview(admin_client, point.integrator)

        assert "Loja Centro" in page
        assert "-23.561414, -46.655881" in page
        assert "321 m" in page
        assert "Fechada" not in page
        assert "Alheia" not in page

    def test_says_that_there_is_none_or_that_none_is_needed(self, admin_client):
        account = PickupPointFactory.create(active=False).integrator
        assert "every request is refused" in self.overview(admin_client, account)

        Integrator.objects.update(allow_any_pickup=True)
        assert "requested from anywhere" in self.overview(admin_client, account)
