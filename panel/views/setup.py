"""Bringing in an integrator: one form opens the account, then the steps that are left, and a sheet to hand over."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.mixins import PermissionRequiredMixin
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from common import clock
from common.actors import actor
from delivery.actions import endpoints, integrators
from delivery.errors import EndpointCannotSend, TooManyTokens
from delivery.models import Environment, Integrator, Token, WebhookEvent
from delivery.refusals import refusal
from panel import account_setup
from panel.account_setup import ISSUED, NewAccountForm, PlaceForm, WebhookForm
from panel.views.base import AccountView, LoggedInView

_TEST_SHOWN = timedelta(days=1)


class StaffAccountView(AccountView):
    """A page of an account for account staff only, not for its members."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if request.user.is_authenticated and not request.user.has_perm("delivery.change_integrator"):
            raise PermissionDenied
        return super().dispatch(request, *args, **kwargs)


class Setup(StaffAccountView):
    """The steps of the set-up with their state."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show(PlaceForm(), WebhookForm({"url": self.endpoint.url}))

    def post(self, request: HttpRequest) -> HttpResponse:
        place, webhook = PlaceForm(request.POST), WebhookForm(request.POST)
        step = request.POST.get("step")
        if step == "place":
            return self._done() if self._add_place(place) else self.show(place, WebhookForm(), status=422)
        if step == "webhook":
            return self._done() if self._set_url(webhook) else self.show(PlaceForm(), webhook, status=422)
        try:
            account_setup.issue_tokens(self.account, request)
        except TooManyTokens as error:
            messages.error(request, refusal(error))
        return self._done()

    def _done(self) -> HttpResponse:
        return redirect(self.url("setup"))

    def _add_place(self, form: PlaceForm) -> bool:
        if not form.is_valid():
            return False
        if form.cleaned_data["allow_any_pickup"]:
            self.account.allow_any_pickup = True
            integrators.change(integrator=self.account, by=actor(self.request), at=clock.now())
        account_setup.add_place(self.account, form)
        return True

    def _set_url(self, form: WebhookForm) -> bool:
        checked = account_setup.checked_url(form) if form.is_valid() else None
        if checked is None:
            return False
        try:
            with transaction.atomic():
                account_setup.store_url(self.account, checked, by=actor(self.request), at=clock.now())
        except EndpointCannotSend as error:
            form.add_error("url", refusal(error))
            return False
        return True

    def show(self, place: PlaceForm, webhook: WebhookForm, *, status: int = 200) -> HttpResponse:
        now = clock.now()
        # Bounded, because no index names the test events among all events of the endpoint.
        recent = WebhookEvent.objects.filter(endpoint=self.endpoint, created_at__gte=now - _TEST_SHOWN)
        test = recent.filter(delivery=None).order_by("-created_at").first()
        attempt = test.attempts.last() if test else None
        return self.page(
            "panel/setup.html",
            **account_setup.context(self.account, self.endpoint, attempt, at=now),
            place_form=place,
            webhook_form=webhook,
            places=list(self.account.pickup_points.active()),
            test=test,
            attempt=attempt,
            endpoint=self.endpoint,
            has_geocoder=bool(settings.GEOCODER_URL),
            invitation_link=account_setup.fresh_link(self.request),
            status=status,
        )


class NewAccount(LoggedInView, PermissionRequiredMixin):
    """The form that opens an account with everything that is known of it."""

    permission_required = "delivery.add_integrator"

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._show(NewAccountForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        form = NewAccountForm(request.POST)
        checked = account_setup.checked_url(form) if form.is_valid() else None
        if checked is None:
            return self._show(form, status=422)
        account = _open(form, checked, request)
        account_setup.invite(request, account, form.cleaned_data["email"])
        messages.success(request, _("The account %(name)s is open.") % {"name": account.name})
        return redirect("panel:setup", account.pk, Environment.SANDBOX)

    def _show(self, form: NewAccountForm, *, status: int = 200) -> HttpResponse:
        context = {"form": form, "has_geocoder": bool(settings.GEOCODER_URL)}
        return render(self.request, "panel/setup_new.html", context, status=status)


@transaction.atomic
def _open(form: NewAccountForm, url: endpoints.CheckedUrl, request: HttpRequest) -> Integrator:
    account = integrators.open_(
        Integrator(name=form.cleaned_data["name"], allow_any_pickup=form.cleaned_data["allow_any_pickup"]),
        by=actor(request),
        at=clock.now(),
    )
    account_setup.add_place(account, form)
    account_setup.issue_tokens(account, request)
    if url.text:
        account_setup.store_url(account, url, by=actor(request), at=clock.now())
    return account


class Sheet(StaffAccountView):
    """Shows new tokens once, and the signing secrets, which is recorded."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return redirect(self.url("setup"))

    def post(self, request: HttpRequest) -> HttpResponse:
        fresh = Token.objects.filter(pk__in=request.session.pop(ISSUED, []), integrator=self.account)
        clear = {token.environment: token.clear_text for token in fresh}
        by, at = actor(request), clock.now()
        parts = [
            {
                "environment": Environment(endpoint.environment),
                "token": clear.get(endpoint.environment),
                "url": endpoint.url,
                "secret": endpoints.show_secret(endpoint=endpoint, by=by, at=at),
            }
            for endpoint in self.account.endpoints.order_by("-environment")
        ]
        base = request.build_absolute_uri("/").rstrip("/")
        return self.page("panel/sheet.html", parts=parts, has_tokens=bool(clear), base=base, at=at)
