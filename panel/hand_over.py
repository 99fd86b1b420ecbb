"""Handing a new account or seller over: its first person is invited, and secrets are shown once."""

from cryptography.fernet import InvalidToken
from django.contrib import messages
from django.http import HttpRequest
from django.utils.translation import gettext as _

from access import invitations
from access.ciphertexts import FRESH_LINK
from access.rights import Account
from access.teams import TeamRefusal
from common import clock, credentials
from common.accounts import Role
from panel.base import page_language, user_of


def invite(request: HttpRequest, account: Account, email: str) -> None:
    """Invite the first person as owner, unless `email` is empty. The next page says so, or shows `fresh_link`."""
    if not email:
        return
    by, language = user_of(request), page_language()
    try:
        issued = invitations.invite(
            account=account, email=email, role=Role.OWNER, by=by, language=language, at=clock.now()
        )
    except TeamRefusal as error:
        messages.error(request, str(error))
        return
    if issued.invitation.is_mailed:
        messages.success(request, _("The invitation is on its way to %(email)s.") % {"email": email})
    else:
        show_next(request, FRESH_LINK, account, request.build_absolute_uri(issued.path))


def fresh_link(request: HttpRequest, account: Account) -> str | None:
    """The link of the invitation that the request before this one made, if it was not sent by e-mail."""
    gone = _("The link cannot be shown any more. Send the invitation again from the page 'Team'.")
    return shown_once(request, FRESH_LINK, account, gone=gone)


def show_next(request: HttpRequest, key: str, account: Account, text: str) -> None:
    """Keep a secret of the account, encrypted, for the next page that has `shown_once`."""
    request.session[key] = credentials.encrypt(f"{_owner(account)}\n{text}")


def shown_once(request: HttpRequest, key: str, account: Account, *, gone: str) -> str | None:
    """The secret that the session has kept, which it leaves; None with the message `gone` if it cannot be read.

    None too on a page of another account, which was opened instead: there it would be taken for that one's.
    """
    ciphertext = request.session.get(key)
    if not ciphertext:
        return None
    try:
        owner, _line, text = credentials.decrypt(ciphertext).partition("\n")
    except InvalidToken:  # its encryption key was removed meanwhile
        del request.session[key]
        messages.error(request, gone)
        return None
    if owner != _owner(account):
        return None
    del request.session[key]
    return text


def _owner(account: Account) -> str:
    return f"{account._meta.label} {account.pk}"
