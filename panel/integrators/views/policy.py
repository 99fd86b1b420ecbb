"""What a failure at a drop-off leads to where a request does not say it. Owners and account staff decide."""

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _

from access import teams
from common import clock
from delivery.accounts import integrators
from delivery.lifecycle import OnFailure
from panel.base import RequestingView, user_of
from panel.forms import PolicyForm


class Policy(RequestingView):
    """Sets it. The page of pickup points has the form."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest) -> HttpResponse:
        if not teams.may_manage(user_of(request), self.account):
            raise PermissionDenied
        form = PolicyForm(request.POST)
        if form.is_valid():
            policy = OnFailure(form.cleaned_data["on_failure"])
            integrators.set_policy(integrator=self.account, policy=policy, by=self.actor, at=clock.now())
            messages.success(request, _("Saved. It applies to deliveries that are requested from now on."))
        else:
            messages.error(request, " ".join(map(str, form.errors["on_failure"])))
        return redirect(self.url("pickup_points"))
