"""Extensions of allauth's views, and the page that the link of an invitation leads to."""

from typing import Any

from allauth.account.decorators import reauthentication_required
from allauth.account.internal.flows.login import perform_login, record_authentication
from allauth.account.models import Login
from allauth.account.views import INTERNAL_RESET_SESSION_KEY, LogoutView, PasswordResetFromKeyView, PasswordResetView
from allauth.mfa.totp import views as totp
from allauth.usersessions.views import ListUserSessionsView
from django.contrib import messages
from django.contrib.auth.mixins import LoginRequiredMixin
from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext
from django.utils.translation import gettext as _
from django.views.generic import TemplateView, View

from access import access_links, enrolment, invitations, sessions
from access.forms import SignUpForm
from access.models import Invitation, InvitationState
from access.rights import live_or_sandbox
from common import clock
from common.mail import outbox
from delivery.errors import DeliveryError
from delivery.models import Integrator
from integration.errors import AccountSuspended as SellerSuspended
from integration.errors import TooManyKeys

_GONE = 410


class ActivateTOTPView(totp.ActivateTOTPView):
    """Sets up a second factor and marks the enrolment code as used in the same transaction."""

    @transaction.atomic
    def form_valid(self, form: Any) -> HttpResponse:
        code = form.cleaned_data.get("enrolment_code")
        if code is not None and not enrolment.use(user=self.request.user, code=code, at=clock.now()):
            form.add_error("enrolment_code", gettext("This code is wrong, used or too old. Ask for a new one."))
            return self.form_invalid(form)
        return super().form_valid(form)


class OwnView(LoginRequiredMixin, TemplateView):
    """Language and colours of the pages, for who is logged in."""

    template_name = "account/own.html"


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
        known = user if user.isascii() and user.isalnum() else "0"  # the id of no user
        return redirect("account_reset_password_from_key", known, PasswordResetFromKeyView.reset_url_key)


class LogOutView(LogoutView):
    """Makes the browser clear its cache at log-out, and the pages that it keeps forget who worked with them."""

    def post(self, *args: Any, **kwargs: Any) -> HttpResponse:
        response = super().post(*args, **kwargs)
        response["Clear-Site-Data"] = '"cache"'
        sessions.mark_browser(response)
        return response


@method_decorator(reauthentication_required(allow_get=True), name="dispatch")
class SessionsView(ListUserSessionsView):
    """The user's own sessions, and ends of one or of all others, which require a recent authentication."""

    def get_context_data(self, **more: Any) -> dict[str, Any]:
        """The page shows this session first, then the latest."""
        context = super().get_context_data(**more)
        context["sessions"].sort(key=lambda each: (each.is_current(), each.created_at), reverse=True)
        return context

    def form_valid(self, form: Any) -> HttpResponse:
        if (key := self.request.POST.get("session", "")).isdecimal():
            sessions.end_one(key, user=self.request.user)
            messages.success(self.request, _("The session has ended."))
            return redirect("usersessions_list")
        return super().form_valid(form)


class AccessView(View):
    """What the link of an access sheet leads to. Opening it is a click, because chats and mail servers follow links."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._answer({"account": access_links.find(request.GET.get("key", ""), at=clock.now())})

    def post(self, request: HttpRequest) -> HttpResponse:
        now = clock.now()
        opened = access_links.open_(request.GET.get("key", ""), at=now)
        return self._answer(
            {
                "account": opened.account,
                "opened": opened,
                "parts": opened.parts,
                "key_parts": opened.key_parts,
                "at": now,
            }
        )

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return super().dispatch(request, *args, **kwargs)
        except access_links.NotOpen:
            return render(request, "account/access_ended.html", status=_GONE)
        except (DeliveryError, SellerSuspended, TooManyKeys):
            return render(request, "account/access_ended.html", {"is_refused": True}, status=_GONE)

    def _answer(self, context: dict[str, Any]) -> HttpResponse:
        base = self.request.build_absolute_uri("/").rstrip("/")
        return render(self.request, "account/access.html", {**context, "base": base})


class InvitationView(View):
    """Lets the invited address in: with its log-in, or with a new one. An ended invitation says why it has ended."""

    invitation: Invitation

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        found = invitations.find(request.GET.get("key", ""))
        if found is None:
            return render(request, "account/invitation_unknown.html", status=404)
        self.invitation = found
        if found.state(at=clock.now()) != InvitationState.OPEN:
            return self._ended(found)
        try:
            return super().dispatch(request, *args, **kwargs)
        except invitations.NotOpen as error:
            return self._ended(error.invitation)
        except (invitations.OfAnotherAddress, invitations.HasLogIn):
            return self._page()

    def get(self, request: HttpRequest) -> HttpResponse:
        return self._page()

    def post(self, request: HttpRequest) -> HttpResponse:
        user, now = request.user, clock.now()
        if user.is_authenticated:
            invitations.accept(invitation=self.invitation, user=user, at=now)
            messages.success(request, self._welcome())
            return redirect(self._home())
        form = self._form(request.POST)
        if not form.is_valid():
            return self._page(form, status=422)
        name, password = form.cleaned_data["name"], form.cleaned_data["password1"]
        created = invitations.sign_up(invitation=self.invitation, name=name, password=password, at=now)
        record_authentication(request, created, method="password", username=created.get_username())
        response: HttpResponse = perform_login(request, Login(user=created, redirect_url=self._home()))
        messages.success(request, self._welcome())
        return response

    def _page(self, form: SignUpForm | None = None, *, status: int = 200) -> HttpResponse:
        people = invitations.users_of(self.invitation.email)
        user = self.request.user
        context = {
            "invitation": self.invitation,
            "log_in_name": invitations.new_log_in_name(self.invitation.email),
            "form": form or self._form(),
            "has_log_in": invitations.verified_log_in(self.invitation.email) is not None,
            "is_invited": user.is_authenticated and people.filter(pk=user.pk).exists(),
            "here": self.request.get_full_path(),
        }
        return render(self.request, "account/invitation.html", context, status=status)

    def _ended(self, invitation: Invitation) -> HttpResponse:
        state = invitation.state(at=clock.now())
        context = {"invitation": invitation, "state": state}
        return render(self.request, "account/invitation_ended.html", context, status=_GONE)

    def _form(self, data: Any = None) -> SignUpForm:
        return SignUpForm(data, log_in_name=invitations.log_in_name(self.invitation.email))

    def _home(self) -> str:
        account = self.invitation.account
        page = "panel:overview" if isinstance(account, Integrator) else "panel:seller"
        return reverse(page, args=[account.pk, live_or_sandbox(account)])

    def _welcome(self) -> str:
        return _("Welcome to %(account)s.") % {"account": self.invitation.account.name}
