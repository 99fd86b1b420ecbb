"""The groups of the roles follow the code."""

import pytest
from django.contrib.auth.models import Group, Permission
from django.core.management import call_command
from django.db import connection
from django.db.migrations.state import ProjectState
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from access import roles
from access.roles import DISPATCHERS, ROLES, codenames

pytestmark = pytest.mark.django_db


def permissions_of(group):
    names = Group.objects.get(name=group).permissions.values_list("content_type__app_label", "codename")
    return set(names)


def migrate():
    call_command("migrate", verbosity=0)


class TestSynchronise:
    @pytest.mark.parametrize("role", ROLES)
    def test_gives_every_permission_of_the_role(self, role):
        assert permissions_of(role) == codenames(role)

    def test_follows_a_change_of_the_code_at_the_next_migrate(self, monkeypatch):
        models = {**ROLES[DISPATCHERS]["delivery"], "driver": ("view",), "tariff": ("view", "change")}
        monkeypatch.setitem(ROLES[DISPATCHERS], "delivery", models)
        before = permissions_of(DISPATCHERS)

        migrate()

        after = permissions_of(DISPATCHERS)
        assert before - after == {("delivery", "add_driver"), ("delivery", "change_driver")}
        assert after - before == {("delivery", "view_tariff"), ("delivery", "change_tariff")}

    def test_creates_a_new_role(self, monkeypatch):
        monkeypatch.setitem(ROLES, "Auditors", {"delivery": {"auditentry": ("view",)}})

        migrate()

        assert permissions_of("Auditors") == {("delivery", "view_auditentry")}

    def test_takes_back_what_was_added_by_hand(self):
        Group.objects.get(name=DISPATCHERS).permissions.add(Permission.objects.get(codename="delete_user"))

        migrate()

        assert permissions_of(DISPATCHERS) == codenames(DISPATCHERS)

    def test_leaves_other_groups_unchanged(self):
        group = Group.objects.create(name="Night shift")
        group.permissions.set(Permission.objects.filter(codename="view_driver"))

        migrate()

        assert permissions_of("Night shift") == {("delivery", "view_driver")}
        assert Group.objects.count() == len(ROLES) + 1

    def test_writes_nothing_where_nothing_changed(self):
        with CaptureQueriesContext(connection) as queries:
            roles.synchronise(using="default")

        assert {query["sql"].split()[0] for query in queries} == {"SELECT"}

    def test_creates_the_permissions_that_do_not_exist_yet_and_prints_nothing(self, capsys):
        Permission.objects.filter(content_type__app_label__in=["delivery", "integration"]).delete()
        assert permissions_of(DISPATCHERS) == set()

        roles.synchronise(using="default")

        assert permissions_of(DISPATCHERS) == codenames(DISPATCHERS)
        assert capsys.readouterr() == ("", "")

    def test_changes_nothing_when_apps_are_migrated_on_which_the_groups_do_not_depend(self):
        Permission.objects.filter(codename="view_driver").delete()

        roles.synchronise(using="default", apps=ProjectState().apps)

        assert permissions_of(DISPATCHERS) == codenames(DISPATCHERS) - {("delivery", "view_driver")}
        assert not Permission.objects.filter(codename="view_driver").exists()


class TestGroupOfARole:
    @pytest.mark.parametrize("page", ["change", "delete"])
    def test_is_not_edited_in_the_admin(self, admin_client, page):
        group = Group.objects.get(name=DISPATCHERS)

        url = reverse(f"admin:auth_group_{page}", args=[group.pk])
        response = admin_client.post(url, {"name": "Other", "post": "yes"})

        assert response.status_code == 403
        assert permissions_of(DISPATCHERS) == codenames(DISPATCHERS)

    def test_is_not_deleted_from_the_list(self, admin_client):
        chosen = list(Group.objects.values_list("pk", flat=True))
        data = {"action": "delete_selected", "post": "yes", "_selected_action": chosen}

        admin_client.post(reverse("admin:auth_group_changelist"), data)

        assert Group.objects.count() == len(ROLES)
