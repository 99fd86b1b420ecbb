"""Users, groups and second factors in the admin, with translated names of roles and permissions."""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import ReadOnlyPasswordHashWidget
from django.contrib.auth.hashers import is_password_usable
from django.contrib.auth.models import Group, Permission, User
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.text import capfirst
from django.utils.translation import gettext, gettext_lazy, gettext_noop
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from access import enrolment, sessions
from access.models import InitialPassword
from access.rights import has_privileges, without_privileges
from access.roles import ROLES
from common import clock
from common.admin.base import LAST_USED, ModelAdmin, Row, Unchangeable, ask_about, effect, is_confirmed, pill

# The names of `ROLES`.
gettext_noop("Account staff")
gettext_noop("Dispatchers")
gettext_noop("Depot staff")

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
# Fields that make a user more than a member of an account, see `has_privileges`.
_RIGHTS: Any = ["is_staff", "is_superuser", "groups", "user_permissions"]
# The same fields for people who may only view them.
_RIGHTS_SHOWN: Any = ["is_staff", "is_superuser", "roles", "permission_names"]


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


for _model in (User, Group, Authenticator, EmailAddress, UserSession):
    admin.site.unregister(_model)


class NamedRights:
    """Mixin: roles and permissions are called by `access.admin` in the fields where they are chosen."""

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name in {"user_permissions", "permissions"}:
            kwargs["queryset"] = with_screens()
        field = super().formfield_for_manytomany(db_field, request, **kwargs)  # type: ignore[misc]  # a ModelAdmin follows
        if field is not None and db_field.name == "groups":
            field.label_from_instance = role_name
        elif field is not None and "queryset" in kwargs:
            field.label_from_instance = permission_name
        return field


class PasswordForm(AdminPasswordChangeForm):
    """Sets another user's password, which the user has to change at the next log-in."""

    def save(self, commit: bool = True) -> Any:
        user = super().save(commit)
        InitialPassword.objects.update_or_create(user=user)
        return user


class PasswordState(ReadOnlyPasswordHashWidget):
    """Whether there is a password, and where it is changed."""

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        is_set = bool(value) and is_password_usable(value)
        return render_to_string("admin/auth/user/password.html", {"is_set": is_set})


class PersonForm(UserChangeForm):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["password"].widget = PasswordState()
        self.fields["password"].help_text = ""


@admin.register(User)
class UserAdmin(NamedRights, DjangoUserAdmin, ModelAdmin):  # type: ignore[type-arg]  # generic for the checker only
    """Only superusers grant rights. Others with the permission may change users without privileges."""

    form = PersonForm
    add_form = UserCreationForm
    change_password_form = PasswordForm
    list_display = ["username", "state", "email", "person", "accounts", "role_names", "two_steps", "last_login"]
    list_filter = ["is_staff", "is_superuser", "is_active", ("groups", RoleFilter)]
    readonly_fields = ["last_login", "date_joined"]
    actions = ["end_sessions"]
    fieldsets = [
        (None, {"fields": ["username", "password", "is_active"]}),
        (gettext_lazy("Person"), {"fields": ["first_name", "last_name", "email"]}),
        (gettext_lazy("Rights"), {"fields": _RIGHTS}),
        (gettext_lazy("Dates"), {"fields": ["last_login", "date_joined"]}),
    ]

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        fieldsets = super().get_fieldsets(request, obj)
        if obj is not None and not _may_grant_rights(request):
            fieldsets = [(title, _shown(dict(options))) for title, options in fieldsets]
        if obj is None or self.has_change_permission(request, obj):
            return fieldsets
        return [(None, {"fields": ["username", "is_active"]}), *fieldsets[1:]]  # hides the hash of the password

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fixed = super().get_readonly_fields(request, obj)
        return fixed if _may_grant_rights(request) else [*fixed, *_RIGHTS, *_RIGHTS_SHOWN]

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        steps = Exists(Authenticator.objects.filter(user=OuterRef("pk")))
        found = super().get_queryset(request).annotate(has_steps=steps)
        return found.prefetch_related("groups", "integrators", "sellers")

    @admin.display(description=gettext_lazy("status"))
    def state(self, user: User) -> str:
        return pill(gettext("Active"), "good") if user.is_active else pill(gettext("Inactive"))

    @admin.display(description=gettext_lazy("name"), ordering="first_name")
    def person(self, user: User) -> str | None:
        return user.get_full_name() or None

    @admin.display(description=gettext_lazy("accounts"))
    def accounts(self, user: User) -> str | None:
        """The accounts and sellers that the user is a member of."""
        integrators = [account.name for account in user.integrators.all()]
        sellers = [seller.name for seller in user.sellers.all()]
        return ", ".join([*integrators, *sellers]) or None

    @admin.display(description=gettext_lazy("roles"))
    def role_names(self, user: User) -> str | None:
        names = [gettext("Superuser")] if user.is_superuser else []
        return ", ".join([*names, *(role_name(group) for group in user.groups.all())]) or None

    @admin.display(description=gettext_lazy("two-step verification"), boolean=True)
    def two_steps(self, user: User) -> bool:
        return bool(vars(user)["has_steps"])

    @admin.display(description=gettext_lazy("roles"))
    def roles(self, user: User) -> str:
        return ", ".join(role_name(group) for group in user.groups.order_by("name"))

    @admin.display(description=gettext_lazy("permissions"))
    def permission_names(self, user: User) -> str:
        return _names(user.user_permissions)

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if not change:
            InitialPassword.objects.create(user=obj)

    def get_urls(self) -> list[URLPattern]:
        issue = self.admin_site.admin_view(require_POST(self.issue_code_view))
        return [path("<int:user_id>/enrolment-code/", issue, name="auth_user_enrolment_code"), *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        user: Any = self.get_object(request, object_id)
        lacks = user is not None and enrolment.needs_code(user) and not enrolment.has_second_factor(user)
        context = {**(extra_context or {}), "lacks_second_factor": lacks}
        return super().change_view(request, object_id, form_url, context)

    def issue_code_view(self, request: HttpRequest, user_id: int) -> HttpResponse:
        """Issue an enrolment code for a second factor, and show it once."""
        user = get_object_or_404(User, pk=user_id)
        if not self.has_change_permission(request, user):
            raise PermissionDenied
        if not is_confirmed(request):
            return ask_about(
                self,
                request,
                what=gettext_lazy("Issue an enrolment code"),
                rows=[Row(user.pk, user.get_username(), ())],
                notes=[gettext_lazy("The code is shown once, on the next page. An earlier code ends.")],
            )
        try:
            code = enrolment.issue(user=user, by=request.user.get_username(), at=clock.now())
        except enrolment.AlreadyEnrolled:
            self.message_user(
                request, gettext_lazy("This person has a second factor. Delete it first."), messages.ERROR
            )
            return redirect("admin:auth_user_change", user.pk)
        self.log_change(request, user, gettext_lazy("Enrolment code issued."))
        context = {
            **self.admin_site.each_context(request),
            "title": gettext_lazy("Enrolment code"),
            "person": user,
            "code": code,
            "opts": self.opts,
        }
        return TemplateResponse(request, "admin/auth/user/enrolment_code.html", context)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Prevents privilege escalation by password reset: only superusers change privileged users."""
        allowed: bool = super().has_change_permission(request, obj)
        return allowed and (obj is None or _may_grant_rights(request) or not has_privileges(obj))

    @effect(gettext_lazy("Each of their browsers has to log in again."))
    @admin.action(description=gettext_lazy("Log out everywhere"), permissions=["change"])
    def end_sessions(self, request: HttpRequest, people: QuerySet[User]) -> None:
        """End every session of the chosen users, except those whom this user may not change."""
        if not _may_grant_rights(request):
            people = without_privileges(people)
        number = sessions.end_sessions(people)
        self.message_user(request, gettext_lazy("Sessions ended: %(number)d") % {"number": number})

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # deactivate instead: history entries refer to users


@admin.register(Group)
class GroupAdmin(NamedRights, DjangoGroupAdmin, ModelAdmin):  # type: ignore[misc]  # one returns None, another any field
    """Only superusers add, change or delete groups. Nobody changes or deletes the groups defined in `access.roles`."""

    list_display = ["role"]

    def get_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        return ["role", "permission_names"] if _is_role(obj) else ["name", "permissions"]

    @admin.display(description=gettext_lazy("role"))
    def role(self, group: Group) -> str:
        return role_name(group)

    @admin.display(description=gettext_lazy("permissions"))
    def permission_names(self, group: Group) -> str:
        return _names(group.permissions)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return _may_grant_rights(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return _may_grant_rights(request) and not _is_role(obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return _may_grant_rights(request) and not _is_role(obj)


def _shown(options: dict[str, Any]) -> Any:
    return {"fields": _RIGHTS_SHOWN} if options["fields"] == _RIGHTS else options


def _names(permissions: Any) -> str:
    """The names of permissions, one below the other."""
    chosen = permissions.select_related("content_type").order_by("content_type", "pk")
    return format_html_join("", "<div>{}</div>", ((permission_name(each),) for each in chosen))


def _is_role(group: Group | None) -> bool:
    return group is not None and group.name in ROLES


@admin.register(Authenticator)
class AuthenticatorAdmin(Unchangeable, ModelAdmin):
    """Second factors, without their secrets. Deleting one lets a user who lost the device set up another."""

    list_display = ["user", "kind", "created_at", LAST_USED]
    nothing_yet = gettext_lazy("Nobody has set up two-step verification yet.")
    list_filter = ["type"]
    list_select_related = ["user"]
    search_fields = ["user__username"]
    fields = readonly_fields = ["user", "kind", "created_at", LAST_USED]

    @admin.display(description=gettext_lazy("kind"))
    def kind(self, authenticator: Authenticator) -> str:
        kinds = {"totp": gettext("Authenticator app"), "recovery_codes": gettext("Recovery codes")}
        return kinds.get(authenticator.type, authenticator.type)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return _may_grant_rights(request)


def _may_grant_rights(request: HttpRequest) -> bool:
    return bool(request.user.is_active and request.user.is_superuser)
