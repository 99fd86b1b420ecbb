"""Who carries an order, on the seller's pages: members read it, staff assign it."""

import re

import pytest

from integration.models import Assignment, Carrier, Order
from tests.integration.factories import OTHER_COMPANY, assign, create_order, make_carrier
from tests.panel.sellers.pages import said, url


@pytest.fixture
def order(seller):
    return create_order(seller)


@pytest.fixture
def carrier(db):
    return make_carrier()[0]


def chosen(client, seller, order, carrier):
    sent = {"carrier": carrier.pk if carrier else ""}
    return client.post(url("seller_order_carrier", seller, order.pk), sent, follow=True)


class TestPage:
    def test_shows_members_the_name_alone(self, member, seller, order, carrier):
        without = member.get(url("seller_order", seller, order.pk)).content.decode()
        assign(carrier, order)

        page = member.get(url("seller_order", seller, order.pk)).content.decode()
        listed = member.get(url("seller_orders", seller)).content.decode()

        assert ("Jadlog" in without, "Jadlog" in page, "Jadlog" in listed) == (False, True, True)
        assert 'name="carrier"' not in page

    def test_has_the_active_carriers_and_its_own_for_staff(self, staff, seller, order, carrier):
        make_carrier("Total")
        assign(carrier, order)
        Carrier.objects.filter(pk=carrier.pk).update(active=False)
        Carrier.objects.create(name="Inactive", active=False)

        page = staff.get(url("seller_order", seller, order.pk))

        assert [str(each) for each in page.context["carriers"]] == ["Jadlog", "Total"]
        assert re.search(rf'<option\s+value="{carrier.pk}"\s+selected\s*>\s*Jadlog', page.content.decode())


class TestAssign:
    def test_writes_who_did_it(self, staff, seller, order, carrier):
        first, second = chosen(staff, seller, order, carrier), chosen(staff, seller, order, None)

        assert (said(first), said(second)) == ("The order is assigned to Jadlog.", "The order has no carrier now.")
        assert [row.carrier for row in Assignment.objects.all()] == [carrier, None]
        assert all(row.assigned_by.startswith("user ") for row in Assignment.objects.all())

    def test_is_not_for_members(self, member, seller, order, carrier):
        assert chosen(member, seller, order, carrier).status_code == 403
        assert Order.objects.get(pk=order.pk).carrier is None

    def test_refuses_an_inactive_carrier(self, staff, seller, order, carrier):
        Carrier.objects.update(active=False)

        assert said(chosen(staff, seller, order, carrier)) == "Choose an active carrier."
        assert not Assignment.objects.exists()

    def test_is_of_the_sellers_orders(self, staff, seller, foreign_seller, carrier):
        other = create_order(foreign_seller, company_document=OTHER_COMPANY)

        assert chosen(staff, seller, other, carrier).status_code == 404
        assert not Assignment.objects.exists()
