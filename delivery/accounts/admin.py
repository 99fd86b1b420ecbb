"""Integrators, their tokens and pickup points."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, Max, Prefetch, Q, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django_stubs_ext import StrOrPromise
from unfold.admin import StackedInline

from common import clock
from common.actors import actor
from common.admin.accounts import AccountAdmin, named
from common.admin.base import (
    CREATED_BY,
    LAST_USED,
    REVOKED_BY,
    OneTimeSecretAdmin,
    ReadOnlyInline,
    ago_or_never,
    column,
    effect,
    pill,
    short,
)
from common.brazil.formats import moment
from common.webhooks.admin import endpoint_state
from delivery.accounts import integrators, tokens
from delivery.errors import AccountSuspended, TooManyTokens
from delivery.models import Delivery, Environment, Integrator, PickupPoint, Token, WebhookEndpoint
from delivery.refusals import refusal

_ID = column("id", _("id"), short)
_LIMITS = {"rate_limit_per_second": "RATE_LIMIT_PER_SECOND", "rate_limit_per_hour": "RATE_LIMIT_PER_HOUR"}


class PickupPointInline(StackedInline):
    model = PickupPoint
    extra = 0
    fields = ["name", ("latitude", "longitude", "radius_m"), "active", "map"]
    readonly_fields = ["map"]

    @admin.display(description=_("map"))
    def map(self, _point: PickupPoint) -> str:
        """A map whose pin sets the coordinates of the same row, see `pin.js`."""
        fields = "[name$=-latitude], [name$=-longitude]"
        return render_to_string("panel/pin.html", {"fields": fields, "radius": "[name$=-radius_m]"})


class TokenInline(ReadOnlyInline):
    model = Token
    fields = ["hint", "environment", "created_at", CREATED_BY, LAST_USED, "expires_at", "revoked_at"]


@admin.register(Integrator)
class IntegratorAdmin(AccountAdmin):
    list_display = [named, "webhook", "last_call", "people", _ID, "created_at"]
    add_page = "panel:setup_new"
    nothing_yet = _("No account yet.")
    limits = _LIMITS
    search_fields = ["name__composed"]
    readonly_fields = [_ID, "team", "created_at"]
    inlines = [PickupPointInline, TokenInline]
    change_form_template = "admin/delivery/integrator/change_form.html"

    def get_fieldsets(self, request: HttpRequest, obj: Integrator | None = None) -> Any:
        requests = ["allow_any_pickup", "refuse_repeated_external_ids", "approve_pickup_points", "on_failure"]
        return [
            (None, {"fields": ["name", "team", _ID, "created_at"]}),
            (_("Requests"), {"fields": requests}),
            (_("Limits"), {"classes": ["collapse"], "fields": list(_LIMITS)}),
        ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Integrator]:
        called = Max("tokens__last_used_at", filter=Q(tokens__environment=Environment.LIVE))
        live = WebhookEndpoint.objects.first_ones().filter(environment=Environment.LIVE)
        found = super().get_queryset(request).annotate(called_at=called, member_count=Count("members", distinct=True))
        return found.prefetch_related(Prefetch("endpoints", live, to_attr="live_endpoints"))

    @admin.display(description=_("webhook"))
    def webhook(self, account: Integrator) -> str:
        return endpoint_state(vars(account)["live_endpoints"][0])

    @admin.display(description=_("last call"), ordering="called_at")
    def last_call(self, account: Integrator) -> str:
        return ago_or_never(vars(account)["called_at"])

    @admin.display(description=_("team"), ordering="member_count")
    def people(self, account: Integrator) -> str:
        count = vars(account)["member_count"]
        return ngettext("%(count)s person", "%(count)s people", count) % {"count": count}

    def save_model(self, request: HttpRequest, obj: Integrator, form: ModelForm[Any], change: bool) -> None:
        integrators.change(integrator=obj, by=actor(request), at=clock.now())

    @admin.display(description=_("team"))
    def team(self, obj: Integrator) -> str:
        """The people, with a link to the page where they are invited, changed and removed."""
        people = ", ".join(user.get_username() for user in obj.members.order_by("username")) or _("Nobody yet")
        page = reverse("panel:team", args=[obj.pk, Environment.LIVE])
        return format_html('{}<br><a href="{}">{}</a>', people, page, _("Invite or remove people"))

    def has_delete_permission(self, request: HttpRequest, obj: Integrator | None = None) -> bool:
        return False  # its deliveries are its customers' history

    def suspension_facts(self, accounts: Sequence[Any], *, at: datetime) -> dict[Any, list[StrOrPromise]]:
        of_live = Delivery.objects.in_progress(Environment.LIVE)
        running = _counts(of_live.filter(integrator__in=accounts))
        valid = _counts(Token.objects.valid(at=at).filter(integrator__in=accounts))
        return {
            account.pk: _suspension_facts(tokens=valid.get(account.pk, 0), under_way=running.get(account.pk, 0))
            for account in accounts
        }

    def write_suspension(self, account: Integrator, *, reason: str, by: str, at: datetime) -> bool:
        return integrators.suspend(integrator=account, reason=reason, by=by, at=at)

    def clear_suspension(self, account: Integrator, *, by: str, at: datetime) -> bool:
        return integrators.lift_suspension(integrator=account, by=by, at=at)


def _suspension_facts(*, tokens: int, under_way: int) -> list[StrOrPromise]:
    refused = ngettext(
        "%(count)s valid token is refused from this moment on, and none is issued.",
        "%(count)s valid tokens are refused from this moment on, and none is issued.",
        tokens,
    )
    if not under_way:
        return [refused % {"count": tokens}, _("No live delivery is under way.")]
    goes_on = ngettext(
        "%(count)s live delivery under way goes on.", "%(count)s live deliveries under way go on.", under_way
    )
    return [refused % {"count": tokens}, goes_on % {"count": under_way}]


def _counts(rows: QuerySet[Any]) -> dict[Any, int]:
    """The number of rows of each account, by the account's id."""
    return dict(rows.order_by().values_list("integrator").annotate(count=Count("*")))


@admin.register(Token)
class TokenAdmin(OneTimeSecretAdmin):
    """Issue, rotate, revoke. The clear text of a token is shown once, in the response to its issue."""

    list_display = ["hint", "state", "name", "integrator", "environment", LAST_USED, "created_at"]
    add_title = _("Issue a token")
    add_submit = _("Issue")
    nothing_yet = _("No token yet.")
    list_filter = ["environment", ("revoked_at", admin.EmptyFieldListFilter)]
    list_select_related = ["integrator"]
    search_fields = ["integrator__name__composed", "hint", "name__composed"]
    autocomplete_fields = ["integrator"]
    fields = ["integrator", "environment", "name"]
    actions = ["rotate", "revoke"]

    def get_fieldsets(self, request: HttpRequest, obj: Token | None = None) -> Any:
        if obj is None:
            return [(None, {"fields": self.fields})]
        shown = ["hint", *self.fields, "created_at", CREATED_BY, LAST_USED, "expires_at", "revoked_at", REVOKED_BY]
        return [(None, {"classes": ["rota-facts"], "fields": shown})]

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        return {"environment": Environment.SANDBOX, **super().get_changeform_initial_data(request)}

    @admin.display(description=_("status"))
    def state(self, token: Token) -> str:
        """Whether the token works, and until when."""
        if token.revoked_at:
            return pill(gettext("Revoked"), title=moment(token.revoked_at))
        if token.integrator.is_suspended:
            return pill(gettext("Suspended"), "bad")
        if token.expires_at and token.expires_at <= clock.now():
            return pill(gettext("Expired"), title=moment(token.expires_at))
        if token.expires_at:
            return pill(gettext("Valid until %(moment)s") % {"moment": moment(token.expires_at)}, "warn")
        return pill(gettext("Valid"), "good")

    def issue(self, row: Token, *, by: str, at: datetime) -> tuple[Token, str]:
        environment = Environment(row.environment)
        issued = tokens.issue(
            integrator=row.integrator, environment=environment, name=row.name, to_hand_over=True, by=by, at=at
        )
        return issued, issued.clear_text

    def withdraw(self, row: Token, *, by: str, at: datetime) -> bool:
        return tokens.revoke(token=row, by=by, at=at)

    def response_add(self, request: HttpRequest, obj: Token, post_url_continue: str | None = None) -> HttpResponse:
        return self._show_once(request, [obj])

    @effect(_("The new tokens are shown once, on the next page."))
    @admin.action(description=_("Rotate: issue a new token, the old one stays valid for 24 hours"), permissions=["add"])
    def rotate(self, request: HttpRequest, queryset: QuerySet[Token]) -> HttpResponse:
        now = clock.now()
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

    def _show_once(self, request: HttpRequest, issued: list[Token]) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "title": _("New token"),
            "tokens": issued,
            "opts": self.opts,
        }
        return TemplateResponse(request, "admin/delivery/token_issued.html", context)
