"""Changes of a team that begin while the transaction of another one is open."""

from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone

from access import access_links, enrolment, invitations, teams
from access.admin import PasswordForm
from access.models import EnrolmentCode, InitialPassword, Invitation
from common.accounts import Role
from common.files import kept_uploads
from delivery.models import Environment, Integrator
from tests.access.conftest import ANA, PASSWORD
from tests.factories import BY, IntegratorFactory
from tests.overlapping import begin, overlap

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def join(account):
    def make(name):
        return account.memberships.create(user=User.objects.create_user(name), role=Role.OWNER)

    return make


def now(action, **arguments):
    return partial(action, at=timezone.now(), **arguments)


def invite(account, email, *, by):
    issued = invitations.invite(account=account, email=email, role=Role.MEMBER, by=by, language="en", at=timezone.now())
    return Invitation.objects.get(pk=issued.invitation.pk)


def name_of(result):
    return type(result).__name__


class TestMembership:
    def test_is_changed_by_who_is_still_an_owner(self, account, join, root):
        maria, paulo = join("maria"), join("paulo")
        demote = now(teams.change_role, account=account, membership=maria.pk, role=Role.MEMBER, by=root)
        demote_other = now(teams.change_role, account=account, membership=paulo.pk, role=Role.MEMBER, by=maria.user)
        ana = join("ana")
        remove = now(teams.remove, account=account, membership=ana.pk, by=root)
        remove_other = now(teams.remove, account=account, membership=maria.pk, by=ana.user)

        refused = [overlap(demote, demote_other)[1], overlap(remove, remove_other)[1]]

        assert [name_of(error) for error in refused] == ["PermissionDenied"] * 2
        assert set(account.memberships.values_list("user__username", "role")) == {
            ("maria", "member"),
            ("paulo", "owner"),
        }

    def test_gets_a_right_from_who_is_still_an_owner(self, root):
        shop = IntegratorFactory.create()
        maria, ana = (shop.memberships.create(user=User.objects.create_user(name)) for name in ("maria", "ana"))
        demote = now(teams.change_role, account=shop, membership=maria.pk, role=Role.MEMBER, by=root)
        take = now(teams.change_right, account=shop, membership=ana.pk, may_request=False, by=maria.user)

        refused = overlap(demote, take)[1]

        assert name_of(refused) == "PermissionDenied"
        assert shop.memberships.get(pk=ana.pk).may_request

    def test_of_the_last_owner_is_kept_by_the_database(self, account, join):
        maria, paulo = join("maria"), join("paulo")
        account.memberships.create(user=User.objects.create_user("ana"), role=Role.MEMBER)

        def remove_and_check():
            maria.delete()
            with connection.cursor() as cursor:
                cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # as the commit does

        _removed, refused = overlap(remove_and_check, paulo.delete)

        assert name_of(refused) == "IntegrityError"
        assert account.memberships.get(role=Role.OWNER) == paulo


class TestInvitation:
    def test_is_read_again_after_a_change_that_was_not_committed(self, account, root):
        for_log_in, for_new, revoked, used = (
            invite(account, email, by=root)
            for email in ("carla@example.com", "davi@example.com", "eva@example.com", "gil@example.com")
        )
        carla = User.objects.create_user("carla", "carla@example.com")
        gil = User.objects.create_user("gil", "gil@example.com")

        def revoke(invitation):
            return now(invitations.revoke, account=account, invitation=invitation.pk, by=root)

        send = now(invitations.invite, account=account, email=ANA, role=Role.MEMBER, by=root, language="en")
        resend = now(invitations.resend, account=account, invitation=revoked.pk, by=root, language="en")
        pairs = {
            "accept": (revoke(for_log_in), now(invitations.accept, invitation=for_log_in, user=carla)),
            "sign_up": (revoke(for_new), now(invitations.sign_up, invitation=for_new, name="Davi", password=PASSWORD)),
            "invite": (send, send),
            "resend": (revoke(revoked), resend),
            "revoke": (now(invitations.accept, invitation=used, user=gil), revoke(used)),
        }

        assert {name: name_of(overlap(*pair)[1]) for name, pair in pairs.items()} == {
            "accept": "NotOpen",
            "sign_up": "NotOpen",
            "invite": "TeamRefusal",
            "resend": "DoesNotExist",
            "revoke": "DoesNotExist",
        }
        assert [each.username for each in account.members.all()] == ["gil"]

    def test_of_two_accounts_verify_an_address_at_the_same_moment(self, account, root, mailbox):
        ana = User.objects.create_user("ana", ANA)
        sent = [invite(each, ANA, by=root) for each in (account, IntegratorFactory.create())]

        assert overlap(*(now(invitations.accept, invitation=each, user=ana) for each in sent)) == [None, None]

        assert EmailAddress.objects.get(user=ana).verified

    def test_makes_no_second_log_in_where_another_one_is_accepted_after_the_check(
        self, account, root, mailbox, monkeypatch
    ):
        sent = [invite(each, ANA, by=root) for each in (account, IntegratorFactory.create())]
        first, second = (now(invitations.sign_up, invitation=each, name="Ana", password=PASSWORD) for each in sent)
        check = invitations.verified_log_in

        def accepted_meanwhile(address):
            found = check(address)
            monkeypatch.undo()
            with ThreadPoolExecutor(1) as pool:
                assert name_of(begin(second, pool).result()) == "User"
            return found

        monkeypatch.setattr(invitations, "verified_log_in", accepted_meanwhile)

        with pytest.raises(invitations.HasLogIn):
            first()
        assert User.objects.get(email=ANA).username == ANA


class TestWhatCanBeUsedOnce:
    def test_is_refused_to_the_second_of_two_at_once_as_to_a_later_one(self, account, root):
        davi = User.objects.create_user("davi", "davi@example.com")
        of_log_in, of_new = (invite(account, email, by=root) for email in ("davi@example.com", ANA))
        key = access_links.issue(account=account, by=BY, at=timezone.now()).partition("key=")[2]
        code = enrolment.issue(user=root, by="root", at=timezone.now())
        upload = kept_uploads.keep("x", owner="user 1", kind="x", at=timezone.now())
        uses = {
            "access link": now(access_links.open_, key=key),
            "invitation of a log-in": now(invitations.accept, invitation=of_log_in, user=davi),
            "invitation of somebody new": now(invitations.sign_up, invitation=of_new, name="Ana", password=PASSWORD),
            "enrolment code": now(enrolment.use, user=root, code=code),
            "claim of an upload": now(kept_uploads.claim, upload=upload, owner="user 1"),
        }

        results = {name: [result if result is False else name_of(result) for result in overlap(use, use)]
                   for name, use in uses.items()}  # fmt: skip  # a comprehension

        assert results == {
            "access link": ["Opened", "NotOpen"],
            "invitation of a log-in": ["NoneType", "NotOpen"],
            "invitation of somebody new": ["User", "NotOpen"],
            "enrolment code": ["bool", False],
            "claim of an upload": ["bool", False],
        }
        credentials = account.tokens if isinstance(account, Integrator) else account.keys
        assert (credentials.count(), account.members.count()) == (len(Environment), 2)


class TestFirstRowOfAUser:
    def test_is_made_once(self, root):
        user = User.objects.create_user("ana")
        form = PasswordForm(user, {"password1": PASSWORD, "password2": PASSWORD})
        assert form.is_valid(), form.errors

        codes = overlap(*[now(enrolment.issue, user=user, by="root")] * 2)
        _marked, saved = overlap(partial(InitialPassword.objects.create, user=user), form.save)

        assert [name_of(result) for result in (*codes, saved)] == ["str", "str", "User"]
        assert (EnrolmentCode.objects.count(), InitialPassword.objects.count()) == (1, 1)
