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
        request.session[FRESH_LINK] = credentials.encrypt(request.build_absolute_uri(issued.path))


def fresh_link(request: HttpRequest) -> str | None:
    """The link of the invitation that the request before this one made, if it was not sent by e-mail."""
    gone = _("The link cannot be shown any more. Send the invitation again from the page 'Team'.")
    return shown_once(request, FRESH_LINK, gone=gone)


def shown_once(request: HttpRequest, key: str, *, gone: str) -> str | None:
    """The clear text of the ciphertext in the session, which it leaves; None with the message `gone` if it is lost."""
    ciphertext = request.session.pop(key, None)
    try:
        return credentials.decrypt(ciphertext) if ciphertext else None
    except InvalidToken:  # its encryption key was removed meanwhile
        messages.error(request, gone)
        return None
