"""What allauth, which does log-in and second factor, asks of this product."""

import time
from typing import Any

from allauth.account import app_settings
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.internal.flows.login import get_authentication_records
from allauth.mfa.adapter import DefaultMFAAdapter
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest

from access import throttle
from access.addresses import UNKNOWN, client_address
from access.rights import has_privileges
from access.throttle import Attempt, Secret, TooManyAttempts
from common import credentials


class AccountAdapter(DefaultAccountAdapter):
    """People are added by staff; nobody signs up."""

    def is_open_for_signup(self, request: HttpRequest) -> bool:
        return False

    def is_safe_url(self, url: str | None) -> bool:
        try:
            return bool(super().is_safe_url(url))
        except ValueError:  # allauth splits it with `urlparse`, which raises for some texts that are no URL
            return False

    def is_reauthentication_required(self, *, app: str, **_more: Any) -> bool:
        """Before the second factor is touched the password is asked for, unless it was given a moment ago."""
        given = [record["at"] for record in get_authentication_records(self.request, self.request.user)]
        return not given or time.time() - max(given) > app_settings.REAUTHENTICATION_TIMEOUT

    def get_client_ip(self, request: HttpRequest) -> str:
        """As the list of somebody's sessions keeps it, whose column takes neither networks nor words."""
        address = client_address(request.META, proxies=settings.TRUSTED_PROXIES)
        return "::" if address == UNKNOWN else address.partition("/")[0]

    def authenticate(self, request: HttpRequest, **credentials: Any) -> User | None:
        """Check a password, at log-in and before something sensitive. Raises ValidationError after too many."""
        attempt = self.begin_attempt(request, secret=Secret.PASSWORD, name=credentials.get("username", ""))
        user: User | None = super().authenticate(request, **credentials)
        if user is not None:
            attempt.forgive()
        return user

    def begin_attempt(self, request: HttpRequest, *, secret: Secret, name: str) -> Attempt:
        """`throttle.begin`, whose refusal becomes a form's error."""
        try:
            return throttle.begin(request, secret=secret, name=name)
        except TooManyAttempts as refused:
            raise self.validation_error("too_many_login_attempts") from refused


class MFAAdapter(DefaultMFAAdapter):
    """Keeps what makes one-time codes as encrypted as every other secret."""

    def encrypt(self, text: str) -> str:
        return credentials.encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        return credentials.decrypt(encrypted_text)

    def can_delete_authenticator(self, authenticator: Authenticator) -> bool:
        user: Any = authenticator.user
        return not (settings.REQUIRE_TWO_FACTOR and has_privileges(user))
