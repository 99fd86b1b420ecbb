"""Inviting somebody to an account: whom, by whom, how often."""

from datetime import timedelta

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.test import Client
from django.utils import timezone

from access import invitations
from access.models import Invitation
from access.teams import TeamRefusal
from common.accounts import Role
from common.mail.models import Kind, Message
from common.pages.attempts import Limit
from tests.access.conftest import ANA
from tests.factories import IntegratorFactory
from tests.integration.factories import SellerFactory


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

    @pytest.mark.parametrize("known_by", ["username", "email", "further address"])
    def test_refuses_who_belongs_to_the_account(self, account, invite, known_by):
        is_further = known_by == "further address"
        user = User.objects.create(**{"username": "ana"} | ({} if is_further else {known_by: ANA.upper()}))
        if is_further:
            EmailAddress.objects.create(user=user, email=ANA, verified=False)
        account.members.add(user)

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

    def test_is_possible_again_after_one_was_revoked(self, account, owner, invite):
        invite()
        earlier = Invitation.objects.get()
        invitations.revoke(account=account, invitation=earlier.pk, by=owner, at=timezone.now())

        link = invite()

        assert Client().get(link).status_code == 200
        assert Invitation.objects.exclude(ended="").get() == earlier

    def test_renews_an_expired_one(self, invite):
        invite()
        Invitation.objects.update(expires_at=timezone.now() - timedelta(days=1))

        invite(role=Role.OWNER)

        renewed = Invitation.objects.get()
        assert (renewed.role, renewed.expires_at > timezone.now() + timedelta(days=6)) == ("owner", True)

    def test_is_for_owners_and_account_staff(self, account, invite):
        plain = User.objects.create_user("paulo")
        account.memberships.create(user=plain, role=Role.MEMBER)
        former, other = User.objects.create_user("former", is_active=False), User.objects.create_user("other")
        account.members.add(former)
        for elsewhere in (IntegratorFactory.create(), SellerFactory.create(documents=())):
            elsewhere.members.add(other)
        for by in (plain, User.objects.create_user("nobody"), former, other):
            with pytest.raises(PermissionDenied):
                invite(by=by)

        assert Invitation.objects.count() == 0
        invite(by=User.objects.create_superuser("root"))
        assert Invitation.objects.count() == 1

    def test_is_limited_for_each_account(self, account, owner, invite, monkeypatch):
        monkeypatch.setattr(invitations, "PER_ACCOUNT", Limit("invitations", 2, timedelta(days=1)))
        invite("a@example.com")
        invite("b@example.com")

        with pytest.raises(TeamRefusal, match="2 invitations were sent within a day"):
            invite("c@example.com")
        with pytest.raises(TeamRefusal, match="2 invitations were sent within a day"):
            invitations.resend(
                account=account, invitation=Invitation.objects.earliest("pk").pk, by=owner, language="en",
                at=timezone.now(),
            )  # fmt: skip  # a call

        assert (Invitation.objects.count(), Message.objects.count()) == (2, 2)
        for other in (IntegratorFactory.create(), SellerFactory.create(documents=())):
            other.members.add(owner)
            invitations.invite(
                account=other, email=ANA, role=Role.MEMBER, by=owner, language="en", at=timezone.now()
            )  # fmt: skip  # a call


class TestResend:
    def test_is_of_the_moment_of_its_own_e_mail(self, account, owner, invite):
        invite()
        sent = Invitation.objects.get()
        later = sent.sent_at + timedelta(hours=1)

        invitations.resend(account=account, invitation=sent.pk, by=owner, language="en", at=later)

        again = Invitation.objects.get()
        assert invitations.messages_of([again]) == {again: Message.objects.get(created_at=later)}


class TestMessages:
    def test_are_those_of_the_invitations_address_and_moment(self, invite):
        now = timezone.now()
        another = Message(kind=Kind.PASSWORD_RESET, recipient=ANA, created_at=now, expires_at=now, due_at=now)
        another.save()
        for email in (ANA, "bia@example.com"):
            invite(email, at=now)
        another.pk = None
        another.save()

        found = Invitation.objects.get(email=ANA)

        assert invitations.messages_of([found]) == {found: Message.objects.get(kind=Kind.INVITATION, recipient=ANA)}


class TestLogInName:
    @pytest.mark.parametrize(
        ("address", "name"),
        [(ANA, ANA), ("o'brien+x@example.com", "o_brien+x@example.com"), ("x" * 200, "x" * 150)],
    )
    def test_is_the_address_as_far_as_names_can_hold_it(self, address, name):
        assert invitations.log_in_name(address) == name
        User.username_validator(name)
