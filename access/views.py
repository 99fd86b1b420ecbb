"""allauth's views, where this product does more."""

from typing import Any

from allauth.account.decorators import reauthentication_required
from allauth.account.views import LogoutView
from allauth.mfa.totp import views as totp
from allauth.usersessions.views import ListUserSessionsView
from django.db import transaction
from django.http import HttpResponse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.translation import gettext

from access import enrolment


class ActivateTOTPView(totp.ActivateTOTPView):
    """Set up a second factor, using the enrolment code up in the same transaction."""

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        code = form.cleaned_data.get("enrolment_code")
        if code is not None and not enrolment.use(user=self.request.user, code=code, at=timezone.now()):
            form.add_error("enrolment_code", gettext("This code is wrong, used or too old. Ask for a new one."))
            return self.form_invalid(form)
        return super().form_valid(form)


class LogOutView(LogoutView):
    """Has the browser drop what it may have kept of the pages."""

    def post(self, *args: Any, **kwargs: Any) -> HttpResponse:
        response = super().post(*args, **kwargs)
        response["Clear-Site-Data"] = '"cache"'
        return response


@method_decorator(reauthentication_required(allow_get=True), name="dispatch")
class SessionsView(ListUserSessionsView):
    """One's own sessions. Ending the others asks for the password or a code, unless that was just given."""
