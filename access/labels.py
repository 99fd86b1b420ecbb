"""What the admin calls roles and permissions, which the database has in English."""

from typing import Any

from django.contrib import admin
from django.contrib.auth.models import Group, Permission
from django.db.models import Q, QuerySet
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from access.roles import ROLES

# The names of `ROLES`.
gettext_noop("Account staff")
gettext_noop("Dispatchers")

_VERBS = {
    "view": gettext_noop("view"),
    "add": gettext_noop("add"),
    "change": gettext_noop("change"),
    "delete": gettext_noop("delete"),
}
# allauth's names of a model
gettext_noop("authenticator")
gettext_noop("authenticators")
# Models with a screen that no role may open, by app.
_OF_SUPERUSERS: dict[str, Any] = {"auth": {"user", "group"}, "mfa": {"authenticator"}}


def role_name(group: Group) -> str:
    """The group's name, in the reader's language if it is a role of `access.roles`."""
    return _(group.name) if group.name in ROLES else group.name


def permission_name(permission: Permission) -> str:
    """`Entrega: ver`. Reads the related content type."""
    verb = permission.codename.partition("_")[0]
    model = permission.content_type.model_class()
    if verb not in _VERBS or model is None:
        return _(permission.name)
    return f"{capfirst(_(str(model._meta.verbose_name)))}: {_(_VERBS[verb])}"


def with_screens() -> QuerySet[Permission]:
    """The permissions that a screen asks for, which are those worth granting."""
    wanted = Q()
    screens: list[dict[str, Any]] = [*ROLES.values(), _OF_SUPERUSERS]
    for models in screens:
        for app, names in models.items():
            wanted |= Q(content_type__app_label=app, content_type__model__in=list(names))
    return Permission.objects.filter(wanted).select_related("content_type").order_by("content_type", "pk")


class RoleFilter(admin.RelatedFieldListFilter):
    """Filters users by role."""

    def field_choices(self, field: Any, request: Any, model_admin: Any) -> list[tuple[Any, Any]]:
        return [(group.pk, role_name(group)) for group in Group.objects.order_by("name")]
