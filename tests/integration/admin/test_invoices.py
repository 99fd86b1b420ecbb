"""Account staff on the admin page of an invoice, with the permissions of their role."""

import pytest
from django.contrib.auth.models import Group, User
from django.urls import reverse

from access.roles import ACCOUNT_STAFF, DISPATCHERS
from integration.models import InvoiceLink
from tests.integration.factories import OTHER_COMPANY, SellerFactory, create_order, nfe_xml, send_invoice


@pytest.fixture
def browser_of(client):
    """A browser in which somebody with this role is logged in."""

    def log_in(role):
        user = User.objects.create_user("person", is_staff=True)
        user.groups.add(Group.objects.get(name=role))
        client.force_login(user)
        return client

    return log_in


@pytest.fixture
def invoice(seller):
    return send_invoice(seller, nfe_xml(items=("another-reference",)).encode())


def page_of(invoice):
    return reverse("admin:integration_invoice_change", args=[invoice.pk])


def form_with(code):
    forms = {f"{name}-{count}": 0 for name in ("references", "links") for count in ("TOTAL_FORMS", "INITIAL_FORMS")}
    return {"link_order": code, **forms}


class TestAccountStaff:
    def test_see_the_references_and_links_of_an_invoice(self, browser_of, seller, invoice):
        create_order(seller, orderId="another-reference")

        page = browser_of(ACCOUNT_STAFF).get(page_of(invoice)).content.decode()

        assert page.count("another-reference") >= 2  # as its reference, and as the order that it is linked to
        assert 'name="link_order"' in page

    def test_link_an_invoice_to_an_order(self, browser_of, seller, invoice):
        order = create_order(seller)

        response = browser_of(ACCOUNT_STAFF).post(page_of(invoice), form_with(order.code))

        assert response.status_code == 302
        assert InvoiceLink.objects.values_list("order", "linked_by").get() == (order.pk, "user person")

    def test_cannot_link_it_to_an_order_of_another_seller(self, browser_of, invoice):
        foreign = create_order(SellerFactory.create(documents=(OTHER_COMPANY,)), company_document=OTHER_COMPANY)

        response = browser_of(ACCOUNT_STAFF).post(page_of(invoice), form_with(foreign.code))

        assert response.context["adminform"].form.errors.keys() == {"link_order"}
        assert not InvoiceLink.objects.exists()


class TestADispatcher:
    def test_sees_an_invoice_and_links_none(self, browser_of, seller, invoice):
        order = create_order(seller)
        browser = browser_of(DISPATCHERS)

        statuses = [
            browser.get(page_of(invoice)).status_code,
            browser.post(page_of(invoice), form_with(order.code)).status_code,
        ]

        assert statuses == [200, 403]
        assert not InvoiceLink.objects.exists()
