"""allauth's forms that check a password or code, with the limits of `access.throttle`."""

import logging
from typing import Any

from allauth.account import forms as account
from allauth.account.adapter import get_adapter
from allauth.core import context
from allauth.mfa.base import forms as mfa
from allauth.mfa.totp import forms as totp
from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from access import enrolment
from access.addresses import client_address
from access.throttle import Attempt, Secret

_log = logging.getLogger(__name__)


def _begin_attempt(secret: Secret, user: Any) -> Attempt:
    attempt: Attempt = get_adapter().begin_attempt(context.request, secret=secret, name=user.get_username())
    return attempt


class ChangePasswordForm(account.ChangePasswordForm):
    """Refuses the current password as the new one, so that an initial password is really replaced."""

    def clean_oldpassword(self) -> str:
        attempt = _begin_attempt(Secret.PASSWORD, self.user)
        password: str = super().clean_oldpassword()
        attempt.forgive()
        return password

    def clean(self) -> Any:
        cleaned = super().clean()
        if cleaned.get("password1") and cleaned.get("password1") == cleaned.get("oldpassword"):
            self.add_error("password1", get_adapter().validation_error("same_as_current"))
        return cleaned


class _ThrottledCode:
    """Mixin: counts attempts at a code of `user`."""

    user: Any

    def clean_code(self) -> str:
        attempt = _begin_attempt(Secret.CODE, self.user)
        try:
            code: str = super().clean_code()  # type: ignore[misc]  # allauth's
        except ValidationError:
            address = client_address(context.request.META, proxies=settings.TRUSTED_PROXIES)
            _log.warning("A wrong code of %s from %s", self.user.get_username(), address)
            raise
        attempt.forgive()
        return code


class AuthenticateForm(_ThrottledCode, mfa.AuthenticateForm):
    """The second factor at log-in."""


class ReauthenticateForm(_ThrottledCode, mfa.ReauthenticateForm):
    """The second factor before a sensitive change."""


class ActivateTOTPForm(totp.ActivateTOTPForm):
    """Sets up a second factor, with an enrolment code where `access.enrolment` requires one."""

    enrolment_code = forms.CharField(
        label=_("Enrolment code"),
        max_length=40,
        help_text=_(
            "The administrator who created your log-in gives you this code. It works once and expires after a day."
        ),
        widget=forms.TextInput(attrs={"autocomplete": "off", "aria-describedby": "id_enrolment_code_helptext"}),
    )
    field_order = ["enrolment_code", "code"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if not enrolment.needs_code(self.user):
            del self.fields["enrolment_code"]

    def clean_enrolment_code(self) -> str:
        attempt = _begin_attempt(Secret.CODE, self.user)
        code: str = self.cleaned_data["enrolment_code"]
        if not enrolment.is_valid(user=self.user, code=code, at=timezone.now()):
            raise ValidationError(gettext("This code is wrong, used or too old. Ask for a new one."))
        attempt.forgive()
        return code
