"""The price tables of the admin at both widths: lists, forms and histories."""

import pytest
from django.db.models import F

from common.row_history import recorded_by
from delivery.models import Tariff
from integration.models import FreightRate
from tests.factories import IntegratorFactory, TariffFactory
from tests.integration.factories import load_tariff

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def prices(shop):
    load_tariff()
    own = TariffFactory.create(integrator=IntegratorFactory.create(name="Livraria Lua"), vehicle_type="CAR")
    with recorded_by("user paula"):
        FreightRate.objects.filter(service="economy").update(base_centavos=F("base_centavos") + 100)
    rate = FreightRate.objects.get(zone="local", service="economy")
    with recorded_by("user paula"):
        FreightRate.objects.filter(pk=rate.pk).update(base_centavos=4490, deadline_days=4)
        Tariff.objects.filter(pk=own.pk).update(price_per_km=3)
    return rate, own


def test_pages_of_prices(tab, people, prices, locale):
    rate, own = prices
    people("paula", group="Account staff")
    browser, problems = tab(locale), []
    browser.log_in("paula")
    for name, path in {
        "rates": "/admin/integration/freightrate/",
        "rate": f"/admin/integration/freightrate/{rate.pk}/change/",
        "parameters": "/admin/integration/freightparameters/",
        "rate-history": "/admin/integration/freightpricechange/",
        "tariffs": "/admin/delivery/tariff/",
        "tariff": f"/admin/delivery/tariff/{own.pk}/change/",
        "tariff-history": "/admin/delivery/tariffchange/",
    }.items():
        browser.go(path)
        browser.keep(f"prices-{name}-{locale}")
        problems += [f"{name}: {finding}" for finding in browser.findings(f"prices-{name}-{locale}")]

    assert problems == []
    assert browser.complaints == []
