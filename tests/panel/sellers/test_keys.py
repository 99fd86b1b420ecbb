"""A seller's API keys in the panel: issued with a name, shown once, renamed."""

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from integration.models import ApiKey
from tests.integration.factories import OTHER_COMPANY, SellerFactory


@pytest.fixture
def page(shop):
    return reverse("panel:seller", args=[shop.seller.pk, "live"])


def rename(member, key, name):
    return member.post(reverse("panel:key_rename", args=[key.seller_id, "live", key.pk]), {"name": name}, follow=True)


class TestKeys:
    def test_are_issued_with_a_name_and_shown_once(self, member, page, shop):
        response = member.post(page, {"name": "ERP"}, follow=True)

        key, text = shop.seller.keys.get(name="ERP"), response.context["fresh"]
        assert text.startswith("rota_key_")
        assert f"<b>{key.name}</b>" in response.content.decode()
        assert text in response.content.decode()
        assert text not in member.get(page).content.decode()
        assert shop.seller.keys.count() == 2

    def test_are_not_shown_on_the_page_of_another_seller(self, member, page):
        other = SellerFactory.create(documents=(OTHER_COMPANY,))
        member.post(page, {"name": "ERP"})
        other.memberships.create(user=User.objects.get(pk=member.session["_auth_user_id"]))

        elsewhere = member.get(reverse("panel:seller", args=[other.pk, "live"]))

        assert (elsewhere.status_code, elsewhere.context["fresh"]) == (200, None)
        assert member.get(page).context["fresh"].startswith("rota_key_")

    def test_without_a_name_say_so(self, member, page, shop):
        assert shop.key.name == ""

        assert "Without a name" in member.get(page).content.decode()

    def test_are_not_issued_with_a_name_that_is_too_long(self, member, page, shop):
        before = shop.seller.keys.count()

        response = member.post(page, {"name": "x" * 61})

        assert response.status_code == 422
        assert shop.seller.keys.count() == before

    def test_get_another_name(self, member, shop):
        content = rename(member, shop.key, "Online shop").content.decode()

        assert ApiKey.objects.get(pk=shop.key.pk).name == "Online shop"
        assert "The name was saved." in content

    def test_keep_their_name_when_the_new_one_is_too_long(self, member, shop):
        content = rename(member, shop.key, "x" * 61).content.decode()

        assert ApiKey.objects.get(pk=shop.key.pk).name == ""
        assert "at most 60 characters" in content
