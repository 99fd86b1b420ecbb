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
from django.contrib.auth.forms import SetPasswordMixin
from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from access import enrolment
from access.rights import has_privileges, without_privileges
from access.throttle import Secret
from common import clock
from common.accounts import validate_name
from common.http_requests import client_address
from common.mail import outbox
from common.pages.attempts import Attempt

_log = logging.getLogger(__name__)


def _begin_attempt(secret: Secret, user: Any) -> Attempt:
    attempt: Attempt = get_adapter().begin_attempt(context.request, secret=secret, name=user.get_username())
    return attempt


def _reworded(form: forms.Form, **labels: Any) -> None:
    """Give fields these labels, and remove the placeholders, with which allauth repeats its labels."""
    for name, label in labels.items():
        form.fields[name].label = label
    for field in form.fields.values():
        field.widget.attrs.pop("placeholder", None)


def _describe_password(field: forms.Field) -> None:
    field.help_text = _(
        "At least 12 characters. Avoid common passwords, even with digits added; a phrase of several words is good."
    )


class LoginForm(account.LoginForm):
    """The name and the password. The name of invited people is their address."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _reworded(self, login=_("Email or username"), password=_("Password"))


class ChangePasswordForm(account.ChangePasswordForm):
    """Refuses the current password as the new one, so that an initial password is really replaced."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _reworded(
            self,
            oldpassword=_("Current password"),
            password1=_("New password"),
            password2=_("New password (again)"),
        )
        _describe_password(self.fields["password1"])

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


class ResetPasswordForm(account.ResetPasswordForm):
    """Asks for a link to reset a password. Counts every request, and never says whether the address has a log-in.

    Only verified addresses of active people without privileges are sent one; superusers set the others' passwords.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _reworded(self, email=_("Email"))

    def clean_email(self) -> str:
        address = outbox.clean_address(self.cleaned_data["email"])
        get_adapter().begin_attempt(context.request, secret=Secret.RESET, name=address)
        verified = User.objects.filter(is_active=True, emailaddress__email=address, emailaddress__verified=True)
        self.users = list(without_privileges(verified))
        return address


class ResetPasswordKeyForm(account.ResetPasswordKeyForm):
    """The new password of somebody who followed the link."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        _reworded(self, password1=_("New password"), password2=_("New password (again)"))
        _describe_password(self.fields["password1"])


class UserTokenForm(account.UserTokenForm):
    """Checks the link, and that its owner may still use one."""

    def clean(self) -> Any:
        cleaned = super().clean()
        if not self.reset_user.is_active or has_privileges(self.reset_user):
            raise get_adapter().validation_error("invalid_password_reset")
        return cleaned


class SignUpForm(SetPasswordMixin, forms.Form):  # type: ignore[type-arg]  # generic for the checker only
    """The name and the password of an invited person."""

    error_messages = {"password_mismatch": _("You must type the same password each time.")}
    name = forms.CharField(
        label=_("Your name"),
        max_length=150,
        validators=[validate_name],
        widget=forms.TextInput({"autocomplete": "name", "autofocus": True}),
    )
    password1, password2 = SetPasswordMixin.create_password_fields(_("Password"), _("Password (again)"))

    def __init__(self, *args: Any, log_in_name: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._log_in_name = log_in_name
        _describe_password(self.fields["password1"])
        self.fields["password2"].help_text = ""

    def clean(self) -> Any:
        self.validate_passwords()
        user = User(username=self._log_in_name, first_name=self.cleaned_data.get("name", ""))
        self.validate_password_for_user(user, "password1")
        return super().clean()


class _ThrottledCode:
    """Mixin: counts attempts at a code of `user`."""

    user: Any
    fields: dict[str, forms.Field]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        code = self.fields["code"]
        code.label, code.help_text = _("Code"), _("Six digits from your authenticator app, or a recovery code.")
        code.widget.attrs |= {"inputmode": "numeric", "autocomplete": "one-time-code", "autofocus": True}
        code.widget.attrs.pop("placeholder", None)

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
        _reworded(self, code=_("Code of the app"))
        self.fields["code"].widget.attrs |= {"inputmode": "numeric", "autocomplete": "one-time-code"}
        if not enrolment.needs_code(self.user):
            del self.fields["enrolment_code"]

    def clean_enrolment_code(self) -> str:
        attempt = _begin_attempt(Secret.CODE, self.user)
        code: str = self.cleaned_data["enrolment_code"]
        if not enrolment.is_valid(user=self.user, code=code, at=clock.now()):
            raise ValidationError(gettext("This code is wrong, used or too old. Ask for a new one."))
        attempt.forgive()
        return code
