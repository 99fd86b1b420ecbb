"""allauth's forms that check a secret by themselves, with the same limits as the log-in."""

from typing import Any

from allauth.account import forms as account
from allauth.account.adapter import get_adapter
from allauth.core import context
from allauth.mfa.base import forms as mfa

from people.throttle import Attempt, Secret


def _begin_attempt(secret: Secret, user: Any) -> Attempt:
    attempt: Attempt = get_adapter().begin_attempt(context.request, secret=secret, name=user.get_username())
    return attempt


class ChangePasswordForm(account.ChangePasswordForm):
    """Counts attempts at the current password."""

    def clean_oldpassword(self) -> str:
        attempt = _begin_attempt(Secret.PASSWORD, self.user)
        password: str = super().clean_oldpassword()
        attempt.forgive()
        return password


class _ThrottledCode:
    """Mixin: counts attempts at a code of `user`."""

    user: Any

    def clean_code(self) -> str:
        attempt = _begin_attempt(Secret.CODE, self.user)
        code: str = super().clean_code()  # type: ignore[misc]  # allauth's
        attempt.forgive()
        return code


class AuthenticateForm(_ThrottledCode, mfa.AuthenticateForm):
    """The second factor at log-in."""


class ReauthenticateForm(_ThrottledCode, mfa.ReauthenticateForm):
    """The second factor before something sensitive."""
