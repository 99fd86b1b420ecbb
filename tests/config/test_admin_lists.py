"""What the lists and pages of the admin have in common: texts of empty lists, sorting, opening accounts."""

import pytest
from django.urls import reverse
from django.utils import timezone
from pytest_django.asserts import assertRedirects

from common.mail.models import Kind, Message
from tests.factories import IntegratorFactory

DRIVERS = reverse("admin:delivery_driver_changelist")


def page(client, url, **query):
    return client.get(url, query).content.decode()


class TestEmptyLists:
    def test_say_what_fills_them(self, admin_client):
        found = page(admin_client, reverse("admin:integration_invoice_changelist"))

        assert "No invoice yet. They come by the API" in found
        assert ">Clear<" not in found

    def test_repeat_what_was_searched_for(self, admin_client):
        found = page(admin_client, DRIVERS, q="zzz")

        assert "Nothing found for “zzz”." in found
        assert ">Clear<" in found

    def test_name_the_filters_when_nothing_was_searched_for(self, admin_client):
        assert "Nothing with these filters." in page(admin_client, DRIVERS, active__exact="0")


class TestLists:
    @pytest.mark.parametrize(
        ("name", "way"), [("delivery_integrator", "setup_new"), ("integration_seller", "seller_new")]
    )
    def test_of_accounts_lead_to_the_guided_way(self, admin_client, name, way):
        assertRedirects(admin_client.get(reverse(f"admin:{name}_add")), reverse(f"panel:{way}"))


class TestForms:
    def test_show_the_limit_in_force_in_an_empty_field(self, admin_client, settings):
        settings.RATE_LIMIT_PER_SECOND, settings.RATE_LIMIT_PER_HOUR = 1234, 0
        account = IntegratorFactory.create()

        found = page(admin_client, reverse("admin:delivery_integrator_change", args=[account.pk]))

        assert 'placeholder="default: 1,234"' in found
        assert 'placeholder="default: no limit"' in found

    @pytest.mark.parametrize("name", ["delivery_token", "integration_apikey"])
    def test_of_credentials_issue_one_at_a_time(self, admin_client, name):
        found = page(admin_client, reverse(f"admin:{name}_add"))

        assert "It is shown once, on the next page." in found
        assert "_addanother" not in found

    def test_of_tokens_begin_with_the_sandbox(self, admin_client):
        assert '<option value="sandbox" selected>' in page(admin_client, reverse("admin:delivery_token_add"))


def test_emails_are_found_by_a_part_of_the_recipient(admin_client):
    now = timezone.now()
    for name in ("maria", "joana"):
        Message.objects.create(
            kind=Kind.ALERT, recipient=f"{name}@example.com", subject="-", created_at=now, expires_at=now, due_at=now
        )

    response = admin_client.get(reverse("admin:mail_message_changelist"), {"q": "MARIA@"})

    assert [message.recipient for message in response.context["cl"].result_list] == ["maria@example.com"]
