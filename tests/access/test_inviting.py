"""Inviting somebody to an account: whom, by whom, how often."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from access import invitations
from access.models import Invitation
from access.teams import TeamRefusal
from common.accounts import Role
from common.mail.models import Message
from common.pages.attempts import Limit
from tests.access.conftest import ANA


class TestInvite:
    @pytest.mark.parametrize(
        "email",
        [
            "",
            "ana",
            f"{ANA}\nBcc: x@example.com",
            f"{ANA},b@example.com",
            "a" * 255,
            "joſe@example.com",
            "\u212aarl@example.com",
        ],
    )
    def test_refuses_what_is_no_address(self, invite, email):
        with pytest.raises(ValidationError):
            invite(email)

        assert (Invitation.objects.count(), Message.objects.count()) == (0, 0)

    def test_refuses_who_belongs_to_the_account(self, account, invite):
        account.members.add(User.objects.create_user("ana", ANA))

        with pytest.raises(TeamRefusal, match="belongs to the account already"):
            invite()

        assert (Invitation.objects.count(), Message.objects.count()) == (0, 0)

    def test_refuses_a_second_open_invitation(self, invite):
        invite()

        with pytest.raises(TeamRefusal, match="invited already"):
            invite(ANA.upper())

        assert (Invitation.objects.count(), Message.objects.count()) == (1, 1)

    def test_is_open_until_the_moment_at_which_it_expires(self, invite):
        invite()
        found = Invitation.objects.get()

        states = [found.state(at=found.expires_at - timedelta(microseconds=number)) for number in (1, 0)]

        assert states == ["open", "expired"]

    def test_renews_an_expired_one(self, invite):
        invite()
        Invitation.objects.update(expires_at=timezone.now() - timedelta(days=1))

        invite(role=Role.OWNER)

        renewed = Invitation.objects.get()
        assert (renewed.role, renewed.expires_at > timezone.now() + timedelta(days=6)) == ("owner", True)

    def test_is_for_owners_and_account_staff(self, account, invite):
        plain = User.objects.create_user("paulo")
        account.memberships.create(user=plain, role=Role.MEMBER)
        for by in (plain, User.objects.create_user("nobody"), User.objects.create_user("former", is_active=False)):
            with pytest.raises(PermissionDenied):
                invite(by=by)

        assert Invitation.objects.count() == 0
        invite(by=User.objects.create_superuser("root"))
        assert Invitation.objects.count() == 1

    def test_is_limited_for_each_account(self, invite, monkeypatch):
        monkeypatch.setattr(invitations, "PER_ACCOUNT", Limit("invitations", 2, timedelta(days=1)))
        invite("a@example.com")
        invite("b@example.com")

        with pytest.raises(TeamRefusal, match="2 invitations were sent within a day"):
            invite("c@example.com")

        assert (Invitation.objects.count(), Message.objects.count()) == (2, 2)


class TestResend:
    def test_is_of_the_moment_of_its_own_e_mail(self, account, owner, invite):
        invite()
        sent = Invitation.objects.get()
        later = sent.sent_at + timedelta(hours=1)

        invitations.resend(account=account, invitation=sent.pk, by=owner, language="en", at=later)

        again = Invitation.objects.get()
        assert invitations.messages_of([again]) == {again: Message.objects.get(created_at=later)}


class TestLogInName:
    @pytest.mark.parametrize(
        ("address", "name"),
        [(ANA, ANA), ("o'brien+x@example.com", "o_brien+x@example.com"), ("x" * 200, "x" * 150)],
    )
    def test_is_the_address_as_far_as_names_can_hold_it(self, address, name):
        assert invitations.log_in_name(address) == name
        User.username_validator(name)
