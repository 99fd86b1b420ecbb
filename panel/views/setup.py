"""Bringing in an integrator: one form opens the account, then the steps that are left, the last of which hands it over.

The state of each step is read from the account, so that staff can go on later.
"""

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.mixins import PermissionRequiredMixin
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from access import access_links
from common import clock
from common.actors import actor
from common.webhooks import endpoints
from common.webhooks.address_guard import InvalidWebhookUrl
from common.webhooks.errors import EndpointCannotSend
from common.webhooks.models import Event
from delivery.accounts import integrators, tokens
from delivery.errors import TooManyTokens
from delivery.models import Environment, Integrator, PickupPoint, WebhookEvent
from delivery.refusals import refusal
from panel.forms import NewAccountForm, PlaceForm, UrlForm, checked_url
from panel.hand_over import fresh_link, invite
from panel.setup_steps import steps_context
from panel.views.base import AccountView, LoggedInView, origin

_TEST_SHOWN = timedelta(days=1)


class StaffAccountView(PermissionRequiredMixin, AccountView):
    """A page of an account for account staff only, not for its members."""

    permission_required = "delivery.change_integrator"


class Setup(StaffAccountView):
    """The steps of the set-up with their state."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self.show(PlaceForm(), UrlForm({"url": self.endpoint.url}))

    def post(self, request: HttpRequest) -> HttpResponse:
        place, webhook = PlaceForm(request.POST), UrlForm(request.POST)
        step = request.POST.get("step")
        if step == "place":
            return self._done() if self._add_place(place) else self.show(place, UrlForm(), status=422)
        if step == "webhook":
            return self._done() if self._set_url(webhook) else self.show(PlaceForm(), webhook, status=422)
        link = access_links.issue(account=self.account, by=actor(request), at=clock.now())
        return self.show(PlaceForm(), UrlForm({"url": self.endpoint.url}), link=request.build_absolute_uri(link))

    def _done(self) -> HttpResponse:
        return redirect(self.url("setup"))

    def _add_place(self, form: PlaceForm) -> bool:
        if not form.is_valid():
            return False
        if form.cleaned_data["allow_any_pickup"]:
            self.account.allow_any_pickup = True
            integrators.change(integrator=self.account, by=actor(self.request), at=clock.now())
        add_place(self.account, form)
        return True

    def _set_url(self, form: UrlForm) -> bool:
        checked = checked_url(form, of=self.endpoint) if form.is_valid() else None
        if checked is None:
            return False
        try:
            with transaction.atomic():
                store_url(self.account, checked, by=actor(self.request), at=clock.now())
        except (EndpointCannotSend, InvalidWebhookUrl) as error:
            form.add_error("url", refusal(error))
            return False
        return True

    def show(self, place: PlaceForm, webhook: UrlForm, *, link: str = "", status: int = 200) -> HttpResponse:
        now = clock.now()
        recent = WebhookEvent.objects.filter(endpoint=self.endpoint, created_at__gte=now - _TEST_SHOWN)
        test = recent.filter(delivery=None).order_by("-created_at").first()
        attempt = test.attempts.last() if test else None
        return self.page(
            "panel/setup.html",
            **steps_context(self.account, self.endpoint, attempt, at=now),
            place_form=place,
            webhook_form=webhook,
            places=list(self.account.pickup_points.active()),
            test=test,
            attempt=attempt,
            endpoint=self.endpoint,
            has_geocoder=bool(settings.GEOCODER_URL),
            invitation_link=fresh_link(self.request),
            access_link=link,
            status=status,
        )


class NewAccount(LoggedInView, PermissionRequiredMixin):
    """The form that opens an account with everything that is known of it."""

    permission_required = "delivery.add_integrator"

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._show(NewAccountForm())

    def post(self, request: HttpRequest) -> HttpResponse:
        form = NewAccountForm(request.POST)
        checked = checked_url(form, of=None) if form.is_valid() else None
        if checked is None:
            return self._show(form, status=422)
        account = _open(form, checked, request)
        invite(request, account, form.cleaned_data["email"])
        messages.success(request, _("The account %(name)s is open.") % {"name": account.name})
        return redirect("panel:setup", account.pk, Environment.SANDBOX)

    def _show(self, form: NewAccountForm, *, status: int = 200) -> HttpResponse:
        return self.page("panel/setup_new.html", status=status, form=form, has_geocoder=bool(settings.GEOCODER_URL))


@transaction.atomic
def _open(form: NewAccountForm, url: endpoints.CheckedUrl, request: HttpRequest) -> Integrator:
    account = integrators.open_(
        Integrator(
            name=form.cleaned_data["name"],
            allow_any_pickup=form.cleaned_data["allow_any_pickup"],
            refuse_repeated_external_ids=form.cleaned_data["refuse_repeated_external_ids"],
        ),
        by=actor(request),
        at=clock.now(),
    )
    add_place(account, form)
    if url.text:
        store_url(account, url, by=actor(request), at=clock.now())
    return account


class Sheet(StaffAccountView):
    """Issues the tokens that are missing, or lost, and shows them once; and the signing secrets, which is recorded."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return redirect(self.url("setup"))

    def post(self, request: HttpRequest) -> HttpResponse:
        by, at = actor(request), clock.now()
        try:
            clear = _issued(self.account, again=request.POST.get("again", ""), by=by, at=at)
        except TooManyTokens as error:
            messages.error(request, refusal(error))
            return redirect(self.url("setup"))
        parts = access_links.parts(self.account, clear, by=by, at=at)
        return self.page("panel/sheet.html", parts=parts, has_tokens=bool(clear), base=origin(request), at=at)


@transaction.atomic
def _issued(account: Integrator, *, again: str, by: str, at: datetime) -> dict[Environment, str]:
    """The clear texts of new tokens: for `again`, whose token was lost, and unless both environments have one.

    Then one that is in use stays.
    """
    valid = account.tokens.valid(at=at)
    is_first = valid.values("environment").distinct().count() < len(Environment)
    used = set(valid.exclude(last_used_at=None).values_list("environment", flat=True))
    return {
        each: tokens.issue_again(integrator=account, environment=each, by=by, at=at).clear_text
        for each in Environment
        if each == again or (is_first and each not in used)
    }


def add_place(account: Integrator, form: Any) -> None:
    """Add the form's place, if it has one, as a pickup point."""
    if point := form.cleaned_data["position"]:
        name = form.cleaned_data["place_name"] or account.name
        PickupPoint.objects.create(integrator=account, name=name, latitude=point.latitude, longitude=point.longitude)


def store_url(account: Integrator, url: endpoints.CheckedUrl, *, by: str, at: datetime) -> Event:
    """Set the URL of both environments, and send a test event to that of the sandbox.

    Raises EndpointCannotSend or InvalidWebhookUrl.
    """
    for endpoint in account.endpoints.first_ones():
        endpoints.store_url(endpoint=endpoint, url=url, by=by, at=at)
    if not account.tokens.filter(environment=Environment.SANDBOX).valid(at=at).exists():
        # Every webhook carries a token. The access sheet replaces this one, which nobody has seen.
        tokens.issue(integrator=account, environment=Environment.SANDBOX, to_hand_over=True, by=by, at=at)
    sandbox = account.endpoints.first_ones().get(environment=Environment.SANDBOX)
    return endpoints.send_test(endpoint=sandbox, by=by, at=at)
