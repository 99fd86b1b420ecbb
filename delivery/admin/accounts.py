"""Integrators, their tokens and pickup points."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from common.actors import actor
from common.admin_base import ModelAdmin, ReadOnlyInline, TabularInline
from common.suspension import InvalidReason, SuspensionActionForm
from delivery.actions import integrators, tokens
from delivery.admin.refusals import RefusalsAsMessages
from delivery.errors import AccountSuspended, TooManyTokens
from delivery.forms import refusal
from delivery.models import Environment, Integrator, PickupPoint, Token

_LIMITS = ["rate_limit_per_second", "rate_limit_per_hour"]


class PickupPointInline(TabularInline):
    model = PickupPoint
    extra = 0


class TokenInline(ReadOnlyInline):
    model = Token
    fields = ["hint", "environment", "created_at", "created_by", "last_used_at", "expires_at", "revoked_at"]


@admin.register(Integrator)
class IntegratorAdmin(ModelAdmin):
    list_display = ["name", "id", "allow_any_pickup", "suspended_at", "created_at"]
    list_filter = [("suspended_at", admin.EmptyFieldListFilter)]
    search_fields = ["name"]
    readonly_fields = ["id", "created_at", "suspended_at", "suspended_by", "suspension_reason"]
    autocomplete_fields = ["members"]
    inlines = [PickupPointInline, TokenInline]
    action_form = SuspensionActionForm
    actions = ["suspend", "lift_suspension"]

    def get_fields(self, request: HttpRequest, obj: Integrator | None = None) -> Any:
        suspension = ["suspended_at", "suspended_by", "suspension_reason"] if obj and obj.suspended_at else []
        return ["name", "id", *suspension, "allow_any_pickup", *_LIMITS, "members", "created_at"]

    def save_model(self, request: HttpRequest, obj: Integrator, form: ModelForm[Any], change: bool) -> None:
        if change:
            # Not the other columns: the account may have been suspended since it was read.
            obj.save(update_fields=["name", "allow_any_pickup", *_LIMITS])
        else:
            integrators.open_(obj)

    def has_delete_permission(self, request: HttpRequest, obj: Integrator | None = None) -> bool:
        return False  # its deliveries are its customers' history

    @admin.action(description=_("Suspend: its tokens are refused, running deliveries go on"), permissions=["change"])
    def suspend(self, request: HttpRequest, queryset: QuerySet[Integrator]) -> None:
        for integrator in queryset:
            try:
                suspended = integrators.suspend(
                    integrator=integrator,
                    reason=request.POST.get("reason", ""),
                    by=actor(request),
                    at=timezone.now(),
                )
            except InvalidReason as error:
                self.message_user(request, str(error), messages.ERROR)
                return
            if suspended:
                self.log_change(request, integrator, _("Suspended."))
        self.message_user(request, _("Suspended. Their tokens are refused from this moment on."))

    @admin.action(description=_("Lift the suspension: its tokens work again"), permissions=["change"])
    def lift_suspension(self, request: HttpRequest, queryset: QuerySet[Integrator]) -> None:
        for integrator in queryset:
            if integrators.lift_suspension(integrator=integrator, by=actor(request), at=timezone.now()):
                self.log_change(request, integrator, _("Suspension lifted."))
        self.message_user(request, _("No longer suspended. Their tokens work again."))


@admin.register(Token)
class TokenAdmin(RefusalsAsMessages, ModelAdmin):
    """Issue, rotate, revoke. The clear text of a token is shown once, in the response to its issue."""

    list_display = ["hint", "integrator", "environment", "created_at", "last_used_at", "expires_at", "revoked_at"]
    list_filter = ["environment", ("revoked_at", admin.EmptyFieldListFilter)]
    list_select_related = ["integrator"]
    search_fields = ["integrator__name", "hint"]
    autocomplete_fields = ["integrator"]
    fields = ["integrator", "environment"]
    actions = ["rotate", "revoke"]

    def get_fields(self, request: HttpRequest, obj: Token | None = None) -> Any:
        shown = ["hint", "created_at", "created_by", "last_used_at", "expires_at", "revoked_at", "revoked_by"]
        return [*self.fields, *shown] if obj else self.fields

    def has_change_permission(self, request: HttpRequest, obj: Token | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Token | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Token, form: ModelForm[Any], change: bool) -> None:
        issued = tokens.issue(
            integrator=obj.integrator, environment=Environment(obj.environment), by=actor(request), at=timezone.now()
        )
        # The admin continues with `obj`, so it has to become the token that was issued.
        obj.__dict__.update(issued.__dict__)

    def response_add(self, request: HttpRequest, obj: Token, post_url_continue: str | None = None) -> HttpResponse:
        return self._show_once(request, [obj])

    @admin.action(description=_("Rotate: issue a new token, the old one stays valid for 24 hours"), permissions=["add"])
    def rotate(self, request: HttpRequest, queryset: QuerySet[Token]) -> HttpResponse:
        now = timezone.now()
        issued = []
        for token in queryset.valid(at=now):  # type: ignore[attr-defined]  # django-stubs types an action's queryset as a plain one
            try:
                new = tokens.rotate(token=token, by=actor(request), at=now)
            except (AccountSuspended, TooManyTokens) as error:
                self.message_user(request, f"{token}: {refusal(error)}", messages.ERROR)
            else:
                self.log_addition(request, new, _("Issued by rotation."))
                issued.append(new)
        return self._show_once(request, issued)

    @admin.action(description=_("Revoke now"), permissions=["add"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[Token]) -> None:
        for token in queryset:
            tokens.revoke(token=token, by=actor(request), at=timezone.now())
            self.log_change(request, token, _("Revoked."))
        self.message_user(request, _("Revoked. They are refused from this moment on."))

    def _show_once(self, request: HttpRequest, issued: list[Token]) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": _("New token"),
            "tokens": issued,
            "opts": self.opts,
        }
        return TemplateResponse(request, "admin/delivery/token_issued.html", context)
