"""The pages of an object in the panel and in the admin lead to each other, for those who may open both."""

import pytest
from django.urls import reverse

from integration.invoices.models import Invoice
from panel.templatetags.pages import panel_page
from tests.factories import DriverFactory
from tests.integration.factories import create_order, load_tariff, nfe_xml, send_invoice


@pytest.fixture
def pages(shop):
    """The pages in the panel and in the admin of an object of each kind, by the name of its page in the panel."""
    load_tariff()
    order = create_order(shop.seller)
    send_invoice(shop.seller, nfe_xml(items=[order.code]).encode())
    account, seller = [shop.integrator.pk, "live"], [shop.seller.pk, "live"]
    objects = {
        "overview": (shop.integrator, account),
        "delivery": (shop.delivery, [*account, shop.delivery.pk]),
        "token": (shop.token, [*account, shop.token.pk]),
        "webhook": (shop.endpoint, account),
        "event": (shop.event, [*account, shop.event.pk]),
        "seller": (shop.seller, seller),
        "seller_order": (order, [*seller, order.pk]),
        "seller_invoice": (invoice := Invoice.objects.get(), [*seller, invoice.pk]),
    }
    return {
        name: (reverse(f"panel:{name}", args=arguments), reverse(in_admin(row), args=[row.pk]))
        for name, (row, arguments) in objects.items()
    }


def in_admin(row):
    return f"admin:{row._meta.app_label}_{row._meta.model_name}_change"


class TestLinks:
    def test_lead_both_ways(self, staff, pages):
        for panel, admin in pages.values():
            assert f'href="{admin}"' in staff.get(panel).content.decode()
            assert f'href="{panel}"' in staff.get(admin).content.decode()

    def test_are_not_shown_to_a_member(self, member, pages):
        for panel, admin in pages.values():
            assert admin not in member.get(panel).content.decode()

    def test_are_not_shown_to_a_dispatcher_who_may_not_open_the_panels_page(self, dispatcher, pages):
        for name in ("delivery", "event", "seller_order"):
            panel, admin = pages[name]
            response = dispatcher.get(admin)

            assert response.status_code == 200
            assert panel not in response.content.decode()

    @pytest.mark.parametrize(
        ("role", "changes", "is_shown"),
        [
            ("dispatcher", {}, True), ("account staff", {}, False), ("dispatcher", {"active": False}, False),
            ("dispatcher", {"environment": "sandbox", "simulated_for": True}, False),
        ],
    )  # fmt: skip  # a table
    def test_are_of_drivers_who_have_a_page_for_who_may_open_it(self, person, shop, role, changes, is_shown):
        of = {"simulated_for": shop.integrator} if "simulated_for" in changes else {}
        driver = DriverFactory.create(**{**changes, **of})

        assert panel_page(person(role), driver) == (reverse("panel:driver", args=[driver.pk]) if is_shown else "")
