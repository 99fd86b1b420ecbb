"""Bringing in an integrator: a form opens the account, and a sheet or a link hands its access data over."""

from datetime import datetime
from typing import Any

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
from common.webhooks.models import Event
from delivery.accounts import integrators, tokens
from delivery.errors import TooManyTokens
from delivery.models import Environment, Integrator, PickupPoint
from delivery.places import addresses
from delivery.refusals import refusal
from panel.base import AccountView, LoggedInView, origin
from panel.forms import NewAccountForm, checked_url
from panel.hand_over import fresh_link, invite


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
        return redirect("panel:setup_sheet", account.pk, Environment.SANDBOX)

    def _show(self, form: NewAccountForm, *, status: int = 200) -> HttpResponse:
        return self.page("panel/setup_new.html", status=status, form=form, has_geocoder=addresses.can_locate())


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
    _add_place(account, form)
    if url.text:
        _store_url(account, url, by=actor(request), at=clock.now())
    return account


class Sheet(PermissionRequiredMixin, AccountView):
    """Hands the access data over, by staff: on a sheet that shows new tokens once, or by a link that issues them."""

    permission_required = "delivery.change_integrator"

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._show(invitation_link=fresh_link(request, self.account))

    def post(self, request: HttpRequest) -> HttpResponse:
        """Make a link, or issue the tokens that are missing, or lost; that signing secrets are shown is recorded."""
        by, at = actor(request), clock.now()
        if request.POST.get("step") == "link":
            link = access_links.issue(account=self.account, by=by, at=at)
            return self._show(access_link=request.build_absolute_uri(link))
        try:
            clear = _issued(self.account, again=request.POST.get("again", ""), by=by, at=at)
        except TooManyTokens as error:
            messages.error(request, refusal(error))
            return redirect(self.url("setup_sheet"))
        return self._show(parts=access_links.parts(self.account, clear, by=by, at=at), has_tokens=bool(clear), at=at)

    def _show(self, **shown: Any) -> HttpResponse:
        return self.page("panel/sheet.html", base=origin(self.request), **shown)


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


def _add_place(account: Integrator, form: Any) -> None:
    """Add the form's place, if it has one, as a pickup point."""
    if point := form.cleaned_data["position"]:
        name = form.cleaned_data["place_name"] or account.name
        PickupPoint.objects.create(integrator=account, name=name, latitude=point.latitude, longitude=point.longitude)


def _store_url(account: Integrator, url: endpoints.CheckedUrl, *, by: str, at: datetime) -> Event:
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
