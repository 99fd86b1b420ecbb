"""Opening the account of an integrator by one form, which leads to the steps of its set-up."""

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.mixins import PermissionRequiredMixin
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _

from common import clock
from common.actors import actor
from delivery.actions import endpoints, integrators
from delivery.models import Environment, Integrator
from panel import account_setup, first_person
from panel.setup_forms import NewAccountForm
from panel.views.base import LoggedInView


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
        first_person.invite(request, account, form.cleaned_data["email"])
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
