"""Heads of columns that sort a list, what an empty result suggests, and the filters of the audit trail."""

import re

import pytest

from common.webhooks import endpoints
from delivery.models import AuditAction, AuditEntry
from tests.factories import BY, DeliveryFactory


def head(page, field):
    """The direction and the link of a column's head."""
    (found,) = re.findall(rf'<th[^>]*?(?:aria-sort="(\w+)")?\s*>\s*<a[^>]*id="sort-{field}"[^>]*?href="([^"]*)"', page)
    return found


class TestHead:
    def test_sorts_with_the_filters_and_from_the_first_page(self, member, url, shop):
        DeliveryFactory.create(token=shop.token)

        default = member.get(url("deliveries"), {"status": "PENDING", "before": "x"}).content.decode()
        by_price = member.get(url("deliveries"), {"sort": "-shipping_value"}).content.decode()

        assert head(default, "created_at") == ("descending", "?status=PENDING&amp;sort=created_at")
        assert head(default, "shipping_value") == ("", "?status=PENDING&amp;sort=-shipping_value")
        assert head(by_price, "shipping_value") == ("descending", "?sort=shipping_value")
        assert head(by_price, "created_at") == ("", "?")


def test_an_empty_list_names_its_filters_and_leads_to_the_list_without_each(member, url):
    page = member.get(url("deliveries"), {"q": "zz", "status": "FAILED", "sort": "created_at"}).content.decode()

    assert re.findall(r'class="button small" href="([^"]*)"', page) == [
        "?status=FAILED&amp;sort=created_at",
        "?q=zz&amp;sort=created_at",
    ]


class TestActivity:
    @pytest.mark.parametrize(
        ("action", "subject", "details"),
        [
            (AuditAction.ROLE_CHANGED, "ana: owner", "ana · Owner"),
            (AuditAction.FILTER_SET, "#2 *", "Endpoint 2 · All changes"),
            (AuditAction.EVENTS_REPLAYED, "1", "1 event"),
            (AuditAction.ENDPOINT_OFF, "#3", "Endpoint 3"),
            (AuditAction.URL_SET, "https://shop.example/#2 x", "https://shop.example/#2 x"),
        ],
    )
    def test_says_in_words_what_an_entry_is_about(self, member, url, shop, action, subject, details):
        account = {"integrator": shop.integrator, "environment": "live"}
        AuditEntry.objects.create(**account, action=action, subject=subject, by=BY, at=shop.event.created_at)

        assert f">{details}<" in re.sub(r"\s*([<>])\s*", r"\1", member.get(url("activity")).content.decode())

    def test_is_filtered_by_person_and_action(self, member, url, with_url):
        endpoints.show_secret(endpoint=with_url.endpoint, by="user nora", at=with_url.event.created_at)

        def shown(**query):
            return {(row.by, row.action) for row in member.get(url("activity"), query).context["rows"]}

        assert shown(by="user nora") == shown(action="secret_shown") == {("user nora", "secret_shown")}
        assert ("user nora", "secret_shown") not in shown(by=BY)
        assert shown(by="nobody") == set()
