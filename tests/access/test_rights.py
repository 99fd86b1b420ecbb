"""Which accounts users see, which users are privileged, and which users may change others."""

import pytest
from django.contrib.auth.models import AnonymousUser, Group, Permission, User
from django.test import Client
from django.urls import reverse

from access.rights import accounts_of, has_privileges, is_of_depot, sellers_of, without_privileges
from access.roles import ACCOUNT_STAFF, DEPOT_STAFF, DISPATCHERS
from integration.models import Seller
from tests.cases import in_turn
from tests.factories import IntegratorFactory

pytestmark = pytest.mark.django_db
LOG_IN, PANEL = "/account/login/", "/panel/"


def privileged(kind, name="clara"):
    """A user who is privileged in one way only."""
    user = User.objects.create_user(name, password="x", is_staff=kind == "staff", is_superuser=kind == "superuser")
    if kind == "group":
        user.groups.add(Group.objects.create(name="Night shift"))
    if kind == "permission":
        user.user_permissions.add(Permission.objects.get(codename="view_driver"))
    if kind == "deactivated":
        user.is_staff, user.is_active = True, False
        user.save()
    return user


KINDS = ("staff", "superuser", "group", "permission", "deactivated")


@pytest.fixture
def clerk():
    """Browser of a member of staff who may change users and groups, and is no superuser."""
    user = User.objects.create_user("clerk", is_staff=True)
    names = ["view_user", "change_user", "view_group", "change_group"]
    user.user_permissions.set(Permission.objects.filter(codename__in=names))
    browser = Client()
    browser.force_login(user)
    return browser


class TestHasPrivileges:
    @in_turn("kind", KINDS)
    def test_is_true_for_more_than_membership(self, kind):
        assert has_privileges(privileged(kind))

    def test_is_false_for_members(self):
        member = User.objects.create_user("maria")
        IntegratorFactory.create().members.add(member)

        assert not has_privileges(member)
        assert list(without_privileges(User.objects.all())) == [member]


class TestClerk:
    @in_turn("kind", KINDS)
    def test_neither_changes_a_privileged_user_nor_sets_a_password_or_issues_a_code(self, clerk, kind):
        user, words = privileged(kind), "plum canoe ladder"
        password = {"password1": words, "password2": words, "usable_password": "true"}  # pragma: allowlist secret
        sent = {"user_password_change": password, "user_change": {"username": "other"}, "user_enrolment_code": {}}

        for page, data in sent.items():
            assert clerk.post(reverse(f"admin:auth_{page}", args=[user.pk]), data).status_code == 403, page

        kept = User.objects.get(pk=user.pk)
        assert (kept.password, kept.username) == (user.password, "clara")
        assert not hasattr(kept, "enrolment_code")

    def test_gives_no_rights(self, clerk):
        member, group = User.objects.create_user("member"), Group.objects.get(name=DISPATCHERS)
        everything = {"is_staff": "on", "is_superuser": "on", "groups": [group.pk]}
        sent = {"username": "member", "is_active": "on", "first_name": "M", **everything}

        clerk.post(reverse("admin:auth_user_change", args=[member.pk]), sent)
        refused = clerk.post(reverse("admin:auth_group_change", args=[group.pk]), {"name": "x"})

        member.refresh_from_db()
        assert member.first_name == "M"
        assert not has_privileges(member)
        assert refused.status_code == 403
        assert Group.objects.filter(name=DISPATCHERS).exists()

    def test_ends_the_sessions_of_members_alone(self, clerk):
        users = [privileged(kind, name=kind) for kind in KINDS if kind != "deactivated"]
        member = User.objects.create_user("maria", password="x")
        browsers = {user: Client() for user in (*users, member)}
        for user, browser in browsers.items():
            browser.post(LOG_IN, {"login": user.username, "password": "x"})
        data = {"action": "end_sessions", "_selected_action": [user.pk for user in browsers], "confirmed": "yes"}

        clerk.post(reverse("admin:auth_user_changelist"), data)

        logged_in = {user for user, browser in browsers.items() if browser.get(PANEL).status_code == 200}
        assert logged_in == set(users)

    def test_ends_sessions_in_the_same_number_of_queries_whatever_their_number(
        self, clerk, django_assert_max_num_queries
    ):
        members = [User.objects.create_user(f"member-{number}") for number in range(20)]
        data = {"action": "end_sessions", "_selected_action": [user.pk for user in members], "confirmed": "yes"}

        with django_assert_max_num_queries(20):
            clerk.post(reverse("admin:auth_user_changelist"), data)


class TestScope:
    @pytest.fixture(autouse=True)
    def _accounts(self):
        self.own, self.other = IntegratorFactory.create(), IntegratorFactory.create()
        self.own_seller, self.other_seller = (Seller.objects.create(name=name) for name in ("own", "other"))

    @pytest.mark.parametrize(
        ("role", "sees_all"),
        [("", False), (DISPATCHERS, False), (ACCOUNT_STAFF, True), (DEPOT_STAFF, False)],
        ids=["member", "disp", "staff", "depot"],
    )
    def test_is_everything_for_account_staff_and_the_own_accounts_for_others(self, role, sees_all):
        user = User.objects.create_user("maria", is_staff=bool(role))
        self.own.members.add(user)
        self.own_seller.members.add(user)
        if role:
            user.groups.add(Group.objects.get(name=role))

        assert set(accounts_of(user)) == ({self.own, self.other} if sees_all else {self.own})
        assert set(sellers_of(user)) == ({self.own_seller, self.other_seller} if sees_all else {self.own_seller})
        assert is_of_depot(user) is (role == DEPOT_STAFF)

    def test_is_nothing_for_visitors_and_for_members_who_were_deactivated(self):
        former = User.objects.create_user("maria", is_active=False)
        former.groups.add(Group.objects.get(name=ACCOUNT_STAFF))
        self.own.members.add(former)
        self.own_seller.members.add(former)

        for user in (AnonymousUser(), former):
            assert (accounts_of(user).count(), sellers_of(user).count()) == (0, 0)
