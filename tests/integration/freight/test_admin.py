"""The forms of freight prices show what parcels will cost before they are saved."""

import pytest
from django.urls import reverse

from integration.freight.calculation import Parameters
from integration.freight.models import _RANGES, FreightParameters, FreightRate
from tests.previews import preview_of


@pytest.mark.usefixtures("tariff")
class TestPreview:
    def test_of_a_rate_has_parcels_of_its_row(self, admin_client):
        rate = FreightRate.objects.get(service="economy", zone="local")
        names = ["service", "zone", "origin_kind", "destination_kind", "deadline_days"]
        typed = {name: getattr(rate, name) for name in names} | {"base_centavos": "45,80", "extra_kg_centavos": "0,00"}

        preview = preview_of(admin_client, reverse("admin:integration_freightrate_change", args=[rate.pk]), typed)

        first = preview.examples[0]
        assert (first.name, first.old, first.new, first.rise) == ("1 kg", "R$ 22.90", "R$ 45.80", 100)
        assert FreightRate.objects.get(pk=rate.pk).base_centavos == 2290

    def test_of_parameters_says_what_is_not_served_any_more(self, admin_client):
        least = {name: limits[0] for name, limits in _RANGES.items()}
        typed = {**least, "quote_service": "economy", "max_weight_g": 4}

        preview = preview_of(admin_client, reverse("admin:integration_freightparameters_change", args=[1]), typed)

        assert [each.new == "not served" for each in preview.examples] == [False, True, False]
        assert "not served" not in {each.old for each in preview.examples}
        assert FreightParameters.current() == Parameters()
