"""The page of the rules of dispatch."""

from decimal import Decimal

import pytest
from django.urls import reverse

from delivery.models import DispatchRules, DispatchRulesChange, Rules
from delivery.models.dispatch_rules import RANGES

CHANGE, HISTORY = (reverse(f"admin:delivery_dispatchrules_{page}", args=[1]) for page in ("change", "history"))


@pytest.fixture
def form(db):
    """The fields as the page has them."""
    row = DispatchRules.objects.get_or_create()[0]
    return {name: str(getattr(row, name)) for name in RANGES}


class TestPage:
    def test_is_opened_by_its_list(self, admin_client, form):
        response = admin_client.get(reverse("admin:delivery_dispatchrules_changelist"))

        assert response.headers["Location"] == CHANGE

    def test_changes_what_was_typed_and_shows_who_did(self, admin_client, form):
        response = admin_client.post(CHANGE, form | {"dispatch_radius_km": "7,5", "driver_share_percent": "70"})
        page = " ".join(admin_client.get(HISTORY, follow=True).content.decode().split())

        assert response.status_code == 302
        assert DispatchRules.objects.get().rules == Rules(dispatch_radius_km=7.5, driver_share_percent=Decimal(70))
        assert DispatchRulesChange.objects.get(pgh_label="changed").pgh_context["by"] == "user admin"
        assert "<del>15 km</del> → <ins>7.5 km</ins>" in page

    def test_names_the_rule_that_is_out_of_its_range(self, admin_client, form):
        response = admin_client.post(CHANGE, form | {"road_factor": "0,9", "speed_kmh_car": "30"})

        assert response.context["adminform"].form.errors == {"road_factor": ["From 1 to 10."]}
        assert DispatchRules.objects.get().rules == Rules()

    def test_records_nothing_when_nothing_was_changed(self, admin_client, form):
        admin_client.post(CHANGE, form)

        assert not DispatchRulesChange.objects.filter(pgh_label="changed").exists()
