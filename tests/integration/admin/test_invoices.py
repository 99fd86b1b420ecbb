"""Account staff on the admin page of an invoice, with the permissions of their role."""

import pytest
from django.contrib.auth.models import Group, User
from django.urls import reverse

from access.roles import ACCOUNT_STAFF
from integration.invoices.models import Invoice, InvoiceLink
from tests.integration.factories import OTHER_COMPANY, SellerFactory, create_order, nfe_xml, send_invoice


@pytest.fixture
def browser(client, db):
    user = User.objects.create_user("person", is_staff=True)
    user.groups.add(Group.objects.get(name=ACCOUNT_STAFF))
    client.force_login(user)
    return client


@pytest.fixture
def page(seller):
    invoice = send_invoice(seller, nfe_xml(items=("another-reference",)).encode())
    return reverse("admin:integration_invoice_change", args=[invoice.pk])


def form_with(code):
    forms = {
        f"{name}-{count}": 0
        for name in ("references", "links", "changes")
        for count in ("TOTAL_FORMS", "INITIAL_FORMS")
    }
    return {"link_order": code, **forms}


class TestAccountStaff:
    def test_see_the_references_and_links_of_an_invoice(self, browser, seller, page):
        create_order(seller, orderId="another-reference")

        content = browser.get(page).content.decode()

        assert content.count("another-reference") >= 2  # as its reference, and as the order that it is linked to
        assert 'name="link_order"' in content

    def test_link_an_invoice_to_an_order(self, browser, seller, page):
        order = create_order(seller)

        response = browser.post(page, form_with(order.code))

        assert response.status_code == 302
        assert InvoiceLink.objects.values_list("order", "linked_by").get() == (order.pk, "user person")

    @pytest.mark.parametrize("why_not", ["another seller", "the sandbox", "void"])
    def test_cannot_link_it_to_an_order_of_another_seller_or_environment_or_when_it_is_void(
        self, browser, seller, page, why_not
    ):
        if why_not == "another seller":
            create_order(SellerFactory.create(documents=(OTHER_COMPANY,)), company_document=OTHER_COMPANY)
        else:
            create_order(seller, "sandbox" if why_not == "the sandbox" else "live")
        Invoice.objects.update(is_void=why_not == "void")

        response = browser.post(page, form_with("A-1"))

        assert response.context["adminform"].form.errors.keys() == {"link_order"}
        assert not InvoiceLink.objects.exists()
