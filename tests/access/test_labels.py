"""Roles and permissions in the reader's language."""

from django.contrib.auth.models import Group, Permission
from django.utils import translation

from access.admin import permission_name, role_name, with_screens
from access.roles import ROLES, codenames


class TestRoleName:
    def test_translates_every_role_and_no_other_group(self, db):
        with translation.override("pt-br"):
            names = [role_name(group) for group in Group.objects.filter(name__in=ROLES).order_by("name")]

            assert names == ["Equipe de contas", "Equipe do depósito", "Despachantes"]
            assert role_name(Group(name="Dispatchers of Bahia")) == "Dispatchers of Bahia"


class TestPermissions:
    def test_are_named_in_portuguese(self, db):
        view, dispatch = (Permission.objects.get(codename=name) for name in ("view_delivery", "dispatch_delivery"))

        with translation.override("pt-br"):
            assert permission_name(view) == "Entrega: ver"
            assert permission_name(dispatch) == "Pode executar ações em entregas"

    def test_to_choose_from_are_those_of_the_roles_and_of_people(self, db):
        chosen = set(with_screens().values_list("content_type__app_label", "codename"))

        assert set().union(*map(codenames, ROLES)) <= chosen
        assert ("auth", "change_user") in chosen
        assert {app for app, _name in chosen} == {"mfa", *(app for models in ROLES.values() for app in models)}
        assert ("account", "add_emailaddress") not in chosen
