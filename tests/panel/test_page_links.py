"""The pages of an object in the panel and in the admin lead to each other, for those who may open both."""

import pytest
from django.urls import reverse

from delivery.models import WebhookEvent
from integration.models import Invoice
from tests.integration.factories import create_order, load_tariff, nfe_xml, send_invoice


@pytest.fixture
def rows(shop):
    """An object of each kind that has a page in both, by the name of its page in the panel."""
    load_tariff()
    order = create_order(shop.seller)
    send_invoice(shop.seller, nfe_xml(items=[order.code]).encode())
    return {
        "overview": shop.integrator,
        "delivery": shop.delivery,
        "token": shop.token,
        "webhook": shop.endpoint,
        "event": WebhookEvent.objects.get(delivery=shop.delivery),
        "seller": shop.seller,
        "seller_order": order,
        "seller_invoice": Invoice.objects.latest("pk"),
    }


NAMES = ["overview", "delivery", "token", "webhook", "event", "seller", "seller_order", "seller_invoice"]


def in_panel(name, row, shop):
    if name.startswith("seller"):
        return reverse(f"panel:{name}", args=[shop.seller.pk, *([row.pk] if name != "seller" else [])])
    account = [shop.integrator.pk, "live"]
    return reverse(f"panel:{name}", args=account if name in {"overview", "webhook"} else [*account, row.pk])


def in_admin(row):
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])


class TestLinks:
    @pytest.mark.parametrize("name", NAMES)
    def test_lead_both_ways(self, as_role, rows, shop, name):
        staff, row = as_role("account staff"), rows[name]

        panel, admin = in_panel(name, row, shop), in_admin(row)

        assert f'href="{admin}"' in staff.get(panel).content.decode()
        assert f'href="{panel}"' in staff.get(admin).content.decode()

    @pytest.mark.parametrize("name", NAMES)
    def test_are_not_shown_to_a_member(self, as_role, rows, shop, name):
        content = as_role("member").get(in_panel(name, rows[name], shop)).content.decode()

        assert in_admin(rows[name]) not in content

    @pytest.mark.parametrize("name", ["delivery", "event", "seller_order"])
    def test_are_not_shown_to_a_dispatcher_who_may_not_open_the_panels_page(self, as_role, rows, shop, name):
        response = as_role("dispatcher").get(in_admin(rows[name]))

        assert response.status_code == 200
        assert in_panel(name, rows[name], shop) not in response.content.decode()
