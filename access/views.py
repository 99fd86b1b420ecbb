"""Extensions of allauth's views."""

from typing import Any

from allauth.account.decorators import reauthentication_required
from allauth.account.views import INTERNAL_RESET_SESSION_KEY, LogoutView, PasswordResetFromKeyView, PasswordResetView
from allauth.mfa.totp import views as totp
from allauth.usersessions.views import ListUserSessionsView
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.decorators import method_decorator
from django.utils.translation import gettext
from django.views.generic import View

from access import enrolment
from common import clock
from common.mail import outbox


class ActivateTOTPView(totp.ActivateTOTPView):
    """Sets up a second factor and marks the enrolment code as used in the same transaction."""

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        code = form.cleaned_data.get("enrolment_code")
        if code is not None and not enrolment.use(user=self.request.user, code=code, at=clock.now()):
            form.add_error("enrolment_code", gettext("This code is wrong, used or too old. Ask for a new one."))
            return self.form_invalid(form)
        return super().form_valid(form)


class ResetPasswordView(PasswordResetView):
    """Asks for an address and sends a link to it. Without a mail server it says who helps instead."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        if not outbox.is_configured():
            return render(request, "account/password_reset_unavailable.html")
        return super().dispatch(request, *args, **kwargs)


class ResetLinkView(View):
    """Where the link of the message leads: keeps the key in the session, so that no log of paths contains it."""

    def get(self, request: HttpRequest) -> HttpResponse:
        request.session[INTERNAL_RESET_SESSION_KEY] = request.GET.get("key", "")
        user = request.GET.get("uid", "")
        known = user if user.isascii() and user.isalnum() else "0"  # of nobody
        return redirect("account_reset_password_from_key", known, PasswordResetFromKeyView.reset_url_key)


class LogOutView(LogoutView):
    """Makes the browser clear its cache at log-out."""

    def post(self, *args: Any, **kwargs: Any) -> HttpResponse:
        response = super().post(*args, **kwargs)
        response["Clear-Site-Data"] = '"cache"'
        return response


@method_decorator(reauthentication_required(allow_get=True), name="dispatch")
class SessionsView(ListUserSessionsView):
    """The user's own sessions. Ending the others requires a recent authentication."""
