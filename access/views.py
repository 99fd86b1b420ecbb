"""Extensions of allauth's views."""

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
    """Sets up a second factor and marks the enrolment code as used in the same transaction."""

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        code = form.cleaned_data.get("enrolment_code")
        if code is not None and not enrolment.use(user=self.request.user, code=code, at=timezone.now()):
            form.add_error("enrolment_code", gettext("This code is wrong, used or too old. Ask for a new one."))
            return self.form_invalid(form)
        return super().form_valid(form)


class LogOutView(LogoutView):
    """Makes the browser clear its cache at log-out."""

    def post(self, *args: Any, **kwargs: Any) -> HttpResponse:
        response = super().post(*args, **kwargs)
        response["Clear-Site-Data"] = '"cache"'
        return response


@method_decorator(reauthentication_required(allow_get=True), name="dispatch")
class SessionsView(ListUserSessionsView):
    """The user's own sessions. Ending the others requires a recent authentication."""
