"""Users, groups and second factors in the admin."""

from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.usersessions.models import UserSession
from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from access import enrolment, sessions
from access.models import InitialPassword
from access.rights import has_privileges, without_privileges
from access.roles import ROLES

for _model in (User, Group, Authenticator, EmailAddress, UserSession):
    admin.site.unregister(_model)

# Fields that make a user more than a member of an account, see `has_privileges`.
_RIGHTS: Any = ["is_staff", "is_superuser", "groups", "user_permissions"]


class PasswordForm(AdminPasswordChangeForm):
    """Sets another user's password, which the user has to change at the next log-in."""

    def save(self, commit: bool = True) -> Any:
        user = super().save(commit)
        InitialPassword.objects.update_or_create(user=user)
        return user


@admin.register(User)
class UserAdmin(DjangoUserAdmin, ModelAdmin):  # type: ignore[type-arg]  # generic for the checker only
    """Only superusers grant rights. Others with the permission may change users without privileges."""

    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = PasswordForm
    list_display = ["username", "first_name", "last_name", "is_active", "is_staff", "is_superuser", "last_login"]
    list_filter = ["is_staff", "is_superuser", "is_active", "groups"]
    readonly_fields = ["last_login", "date_joined"]
    actions = ["end_sessions"]
    fieldsets = [
        (None, {"fields": ["username", "password", "is_active"]}),
        (_("Person"), {"fields": ["first_name", "last_name", "email"]}),
        (_("Rights"), {"fields": _RIGHTS}),
        (_("Dates"), {"fields": ["last_login", "date_joined"]}),
    ]

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        fieldsets = super().get_fieldsets(request, obj)
        if obj is None or self.has_change_permission(request, obj):
            return fieldsets
        return [(None, {"fields": ["username", "is_active"]}), *fieldsets[1:]]  # hides the hash of the password

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        fixed = super().get_readonly_fields(request, obj)
        return fixed if _may_grant_rights(request) else [*fixed, *_RIGHTS]

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
        try:
            code = enrolment.issue(user=user, by=request.user.get_username(), at=timezone.now())
        except enrolment.AlreadyEnrolled:
            self.message_user(request, _("This person has a second factor. Delete it first."), messages.ERROR)
            return redirect("admin:auth_user_change", user.pk)
        self.log_change(request, user, _("Enrolment code issued."))
        context = {
            **self.admin_site.each_context(request),
            "title": _("Enrolment code"),
            "person": user,
            "code": code,
            "opts": self.opts,
        }
        return TemplateResponse(request, "admin/auth/user/enrolment_code.html", context)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Prevents privilege escalation by password reset: only superusers change privileged users."""
        allowed: bool = super().has_change_permission(request, obj)
        return allowed and (obj is None or _may_grant_rights(request) or not has_privileges(obj))

    @admin.action(description=_("Log out everywhere"), permissions=["change"])
    def end_sessions(self, request: HttpRequest, people: QuerySet[User]) -> None:
        """End every session of the chosen users, except those whom this user may not change."""
        if not _may_grant_rights(request):
            people = without_privileges(people)
        number = sessions.end_sessions(people)
        self.message_user(request, _("Sessions ended: %(number)d") % {"number": number})

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False  # deactivate instead: history entries refer to users


@admin.register(Group)
class GroupAdmin(DjangoGroupAdmin, ModelAdmin):
    """Only superusers add, change or delete groups. Nobody changes or deletes the groups defined in `access.roles`."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return _may_grant_rights(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return _may_grant_rights(request) and not _is_role(obj)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return _may_grant_rights(request) and not _is_role(obj)


def _is_role(group: Group | None) -> bool:
    return group is not None and group.name in ROLES


@admin.register(Authenticator)
class AuthenticatorAdmin(ModelAdmin):
    """Second factors, without their secrets. Deleting one lets a user who lost the device set up another."""

    list_display = ["user", "type", "created_at", "last_used_at"]
    list_filter = ["type"]
    list_select_related = ["user"]
    search_fields = ["user__username"]
    fields = readonly_fields = ["user", "type", "created_at", "last_used_at"]

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        allowed: bool = super().has_delete_permission(request, obj)
        return allowed and _may_grant_rights(request)


def _may_grant_rights(request: HttpRequest) -> bool:
    return bool(request.user.is_active and request.user.is_superuser)
