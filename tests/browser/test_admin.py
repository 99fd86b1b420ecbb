"""The admin in a browser: every list and a page of each kind, at both widths."""

import pytest
from django.contrib import admin

from tests.factories import PICKUP, DeliveryFactory, DriverFactory
from tests.integration.factories import create_order, load_tariff

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def filled(shop, seller):
    load_tariff()
    delivery = DeliveryFactory.create(
        token=shop, collected=True, stops=2, driver=DriverFactory.create(name="Ana", at_point=PICKUP)
    )
    return delivery, create_order(seller)


@pytest.mark.parametrize("locale", ["en-US", "pt-BR"])
def test_every_list_and_a_page_of_each_kind(tab, people, shop, seller, filled, locale):
    delivery, order = filled
    root = people("root", superuser=True)
    paths = {
        "index": "/admin/",
        **{
            f"{model._meta.model_name}": f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
            for model in admin.site._registry
        },
        "one-delivery": f"/admin/delivery/delivery/{delivery.pk}/change/",
        "one-event": f"/admin/delivery/webhookevent/{delivery.events.first().pk}/change/",
        "one-driver": f"/admin/delivery/driver/{delivery.driver_id}/change/",
        "one-integrator": f"/admin/delivery/integrator/{shop.integrator.pk}/change/",
        "one-order": f"/admin/integration/order/{order.pk}/change/",
        "one-seller": f"/admin/integration/seller/{seller.pk}/change/",
        "new-token": "/admin/delivery/token/add/",
        "one-person": f"/admin/auth/user/{root.pk}/change/",
    }
    browser, problems = tab(locale), []
    browser.log_in("root")
    for name, path in paths.items():
        browser.go(path)
        browser.keep(f"admin-{name}-{locale}")
        if locale == "pt-BR":  # the markup is the same in both languages, and axe-core takes longest
            problems += [f"{name}: {finding}" for finding in browser.findings(f"admin-{name}-{locale}")]

    assert problems == []
    assert browser.complaints == []
