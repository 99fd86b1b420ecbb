"""Roles: every account with members keeps an owner, whoever removes whom at the same moment."""

from contextlib import contextmanager

import pytest
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import IntegrityError, ProgrammingError, connection, transaction
from django.utils import timezone

from access import teams
from access.teams import NotAMember, TeamRefusal
from common.accounts import Role
from delivery.models import AuditEntry, Integrator
from tests.access.test_invitations import audit_of, people_of
from tests.cases import in_turn
from tests.factories import IntegratorFactory
from tests.integration.factories import SellerFactory
from tests.one_time_codes import set_up


@pytest.fixture
def join(account):
    """Make a new user a member; return the membership."""

    def make(name, role=Role.OWNER):
        return account.memberships.create(user=User.objects.create_user(name), role=role)

    return make


@contextmanager
def commits():
    """A savepoint at whose end PostgreSQL checks what it would check at the end of a transaction."""
    with transaction.atomic(), connection.cursor() as cursor:
        yield
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


def change(account, membership, role, by):
    return teams.change_role(account=account, membership=membership.pk, role=role, by=by, at=timezone.now())


def remove(account, membership, by):
    return teams.remove(account=account, membership=membership.pk, by=by, at=timezone.now())


class TestPeople:
    def test_are_the_owners_and_then_the_members_by_name_with_whether_they_have_a_second_factor(self, account, join):
        for name, role in (("ana", Role.MEMBER), ("zoe", Role.OWNER), ("bia", Role.OWNER)):
            join(name, role)
        set_up(User.objects.get(username="bia"))

        assert [(row.user.username, row.has_second_factor) for row in teams.people(account)] == [
            ("bia", True), ("zoe", False), ("ana", False),
        ]  # fmt: skip  # a list


class TestMayRequest:
    @pytest.mark.parametrize(
        ("role", "right", "is_active", "may"),
        [
            (Role.OWNER, False, True, True),
            (Role.MEMBER, True, True, True),
            (Role.MEMBER, False, True, False),
            (Role.OWNER, True, False, False),
        ],
    )
    def test_is_for_owners_and_members_with_the_right(self, db, role, right, is_active, may):
        shop, other = IntegratorFactory.create(), IntegratorFactory.create()
        user = User.objects.create_user("maria", is_active=is_active)
        for account in (shop, other):
            account.members.add(User.objects.create_user(f"owner of {account.pk}"))
        shop.memberships.create(user=user, role=role, may_request=right)

        assert [teams.may_request(user, account) for account in (shop, other)] == [may, False]


class TestChangeRole:
    def test_makes_owners_and_members(self, account, join):
        maria, paulo = join("maria"), join("paulo", Role.MEMBER)

        change(account, paulo, Role.MEMBER, maria.user)  # as it is
        change(account, paulo, Role.OWNER, maria.user)
        change(account, maria, Role.MEMBER, paulo.user)

        assert people_of(account) == {("maria", "member"), ("paulo", "owner")}
        assert audit_of(account) == ["Role changed: paulo: owner", "Role changed: maria: member"]

    def test_refuses_the_last_owner(self, account, join, root):
        maria = join("maria")
        join("paulo", Role.MEMBER)
        for by in (maria.user, root):
            with pytest.raises(TeamRefusal, match="last owner"):
                change(account, maria, Role.MEMBER, by)

        assert people_of(account) == {("maria", "owner"), ("paulo", "member")}
        assert audit_of(account) == []

    def test_is_not_for_members(self, account, join):
        join("maria")
        paulo = join("paulo", Role.MEMBER)

        with pytest.raises(PermissionDenied):
            change(account, paulo, Role.OWNER, paulo.user)

        assert people_of(account) == {("maria", "owner"), ("paulo", "member")}

    def test_finds_no_member_of_another_account(self, account, join, root):
        foreign = IntegratorFactory.create().memberships.create(user=root, role=Role.OWNER)

        with pytest.raises(NotAMember):
            change(account, foreign, Role.MEMBER, root)

        assert AuditEntry.objects.count() == 0


class TestRemove:
    def test_takes_the_access_away(self, account, join):
        maria, paulo = join("maria"), join("paulo", Role.MEMBER)

        remove(account, paulo, maria.user)

        assert people_of(account) == {("maria", "owner")}
        assert User.objects.filter(username="paulo", is_active=True).exists()
        assert audit_of(account) == ["Person removed: paulo"]

    @in_turn(("others", "by"), [([], "maria"), (["paulo"], "maria"), (["paulo"], "root")])
    def test_refuses_an_owner_who_is_the_last(self, account, join, root, others, by):
        maria = join("maria")
        for name in others:
            join(name, Role.MEMBER)

        with pytest.raises(TeamRefusal, match="last owner"):
            remove(account, maria, {"maria": maria.user, "root": root}[by])

        assert len(people_of(account)) == 1 + len(others)

    def test_lets_staff_remove_the_only_person(self, account, join, root):
        maria = join("maria")

        remove(account, maria, root)

        assert people_of(account) == set()


class TestDatabase:
    """The promise without the actions, such as for SQL by hand."""

    @in_turn("how", ["update", "delete", "insert"])
    def test_refuses_members_without_an_owner(self, account, join, how):
        if how != "insert":
            join("maria")
            join("paulo", Role.MEMBER)
        before = people_of(account)
        changes = {
            "update": lambda: account.memberships.update(role=Role.MEMBER),
            "delete": lambda: account.memberships.filter(role=Role.OWNER).delete(),
            "insert": lambda: join("paulo", Role.MEMBER),
        }

        with pytest.raises(IntegrityError, match="would have members and no owner"), commits():
            changes[how]()

        assert people_of(account) == before

    def test_counts_at_the_end_of_the_transaction(self, account, join):
        maria = join("maria")

        with commits():
            maria.delete()
            join("paulo", Role.MEMBER)
            join("ana")

        assert people_of(account) == {("paulo", "member"), ("ana", "owner")}

    def test_lets_an_account_be_deleted(self, join, account):
        join("maria")

        with commits():
            account.delete()

        assert User.objects.filter(username="maria").exists()

    def test_refuses_to_move_a_membership(self, join, account):
        maria = join("maria")
        column = "integrator" if isinstance(account, Integrator) else "seller"
        other = IntegratorFactory.create() if column == "integrator" else SellerFactory.create(documents=())

        with pytest.raises(ProgrammingError, match="Cannot update"):
            type(maria).objects.filter(pk=maria.pk).update(**{column: other})

    def test_makes_people_from_before_the_roles_owners(self, account, db):
        account.members.add(User.objects.create_user("maria"))

        assert people_of(account) == {("maria", "owner")}
