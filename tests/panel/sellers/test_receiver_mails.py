"""What the owners of a seller decide: e-mails to receivers."""

from django.contrib.auth.models import User

from common.accounts import Role
from integration.models import Seller, SellerMembership
from tests.panel.sellers.pages import said, url


def are_mailed():
    return Seller.objects.filter(mails_receivers=True).exists()


class TestMailsToReceivers:
    def test_are_switched_on_and_off_by_an_owner(self, member, seller):
        page = url("seller_mails", seller)
        before = are_mailed()

        answers = [said(member.post(page, {"mails": each}, follow=True)) for each in ("on", "off", "on")]

        assert not before
        assert answers == [f"E-mails to receivers are switched {each}." for each in ("on", "off", "on")]
        assert are_mailed()

    def test_are_seen_by_other_members(self, member, seller):
        SellerMembership.objects.create(seller=seller, user=User.objects.create(username="owner"), role=Role.OWNER)
        SellerMembership.objects.filter(user__username="member").update(role=Role.MEMBER)

        content = member.get(url("seller_team", seller)).content.decode()
        response = member.post(url("seller_mails", seller), {"mails": "on"})

        assert "Owners switch them on and off." in content
        assert 'name="mails"' not in content
        assert (response.status_code, are_mailed()) == (403, False)

    def test_stay_as_they_are_while_the_seller_is_suspended(self, member, seller, suspended_seller):
        response = member.post(url("seller_mails", seller), {"mails": "on"}, follow=True)

        assert ("suspended" in said(response), are_mailed()) == (True, False)
