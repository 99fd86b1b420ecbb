"""Adapters of django-allauth, which implements log-in and second factor."""

import time
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from allauth.account import app_settings
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import get_authentication_records
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from access import invitations, throttle
from access.rights import has_privileges
from access.throttle import Secret
from common import clock, credentials
from common.brazil import formats
from common.http_requests import UNKNOWN, client_address
from common.mail import outbox
from common.mail.models import Kind
from common.pages.attempts import Attempt, TooManyAttempts


class AccountAdapter(DefaultAccountAdapter):
    """Limits attempts at passwords, and records e-mails instead of sending them.

    allauth's pages to sign up are not served: users are created by staff and by invitations.
    """

    error_messages = {
        **DefaultAccountAdapter.error_messages,
        "username_password_mismatch": _(
            "The email, the username or the password is wrong. Check what you typed, and Caps Lock. If you do not "
            "remember the password, ask for a new one below."
        ),
    }

    def is_safe_url(self, url: str | None) -> bool:
        try:
            return bool(super().is_safe_url(url))
        except ValueError:  # allauth splits it with `urlparse`, which raises for some texts that are no URL
            return False

    def is_reauthentication_required(self, *, app: str, **_more: Any) -> bool:
        """Whether the user has to authenticate again before the second factor is changed.

        A log-in counts for as long as a reauthentication; allauth itself counts only the latter.
        """
        times = [record["at"] for record in get_authentication_records(self.request, self.request.user)]
        return not times or time.time() - max(times) > app_settings.REAUTHENTICATION_TIMEOUT

    def get_client_ip(self, request: HttpRequest) -> str:
        """The address for the list of sessions. Its column takes neither a network nor a word such as "unknown"."""
        address = client_address(request.META, proxies=settings.TRUSTED_PROXIES)
        return "::" if address == UNKNOWN else address.partition("/")[0]

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """Check a password, at log-in and before something sensitive. Raises ValidationError after too many.

        `username` is the name of a log-in, or the verified address of its user.
        """
        name = credentials.get("username", "")
        # Somebody else's log-in may have the address of this one as its name, so both are tried. First the one whose
        # user reads the mail: no attempt at the other may be counted for it, or refused to it.
        owner = invitations.verified_log_in(name)
        if owner and owner.lower() != name.lower():
            user = self._authenticate(request, credentials | {"username": owner})
            if user is not None:
                return user
        return self._authenticate(request, credentials)

    def _authenticate(self, request: HttpRequest, credentials: dict[str, Any]) -> User | None:
        attempt = self.begin_attempt(request, secret=Secret.PASSWORD, name=credentials.get("username", ""))
        user: User | None = super().authenticate(request, **credentials)
        if user is not None:
            attempt.forgive()
        return user

    def send_password_reset_mail(self, user: User, email: str, context: dict[str, Any]) -> None:
        """Record the message. allauth would send it within the request."""
        query = urlencode({"uid": context["uid"], "key": context["key"]})
        outbox.record(
            kind=Kind.PASSWORD_RESET,
            recipient=email,
            template="password_reset",
            context={"name": user.get_username(), "link": outbox.link(f"{reverse('reset_link')}?{query}")},
            language=get_language() or settings.LANGUAGE_CODE,
            at=clock.now(),
            lifetime=timedelta(seconds=settings.PASSWORD_RESET_TIMEOUT),
        )

    def begin_attempt(self, request: HttpRequest, *, secret: Secret, name: str) -> Attempt:
        """`throttle.begin`, whose refusal becomes a form's error."""
        try:
            return throttle.begin(request, secret=secret, name=name)
        except TooManyAttempts as refused:
            when = formats.until(refused.ends_at, at=clock.now())
            text = _("Too many failed login attempts. Try again %(when)s.") % {"when": when}
            raise ValidationError(text, code="too_many_login_attempts") from refused


class MFAAdapter(DefaultMFAAdapter):
    """Encrypts the seeds of one-time codes with CREDENTIALS_KEYS."""

    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "incorrect_code": _(
            "This code is wrong, or no longer valid. Type the one that the app shows now, or a recovery code that you "
            "have not used. If it is refused again, check that the clock of the phone is set automatically."
        ),
    }

    def encrypt(self, text: str) -> str:
        return credentials.encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        return credentials.decrypt(encrypted_text)

    def can_delete_authenticator(self, authenticator: Authenticator) -> bool:
        user: Any = authenticator.user
        return not (settings.REQUIRE_TWO_FACTOR and has_privileges(user))
