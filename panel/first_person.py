"""The invitation of the first person of a new account or seller, and its link where no e-mail can be sent."""

from cryptography.fernet import InvalidToken
from django.contrib import messages
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.utils.translation import gettext as _

from access import invitations
from access.teams import Account, TeamRefusal
from common import clock, credentials
from common.membership import Role
from panel.ciphertexts import FRESH_LINK
from panel.languages import page_language


def invite(request: HttpRequest, account: Account, email: str) -> None:
    """Invite the first person as owner, unless `email` is empty. The next page says so, or shows `fresh_link`."""
    if not email:
        return
    user = request.user
    assert isinstance(user, User)  # noqa: S101  # nosec B101  # the pages require log-in
    try:
        issued = invitations.invite(
            account=account, email=email, role=Role.OWNER, by=user, language=page_language(), at=clock.now()
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
    ciphertext = request.session.pop(FRESH_LINK, None)
    try:
        return credentials.decrypt(ciphertext) if ciphertext else None
    except InvalidToken:  # its encryption key was removed meanwhile
        messages.error(request, _("The link cannot be shown any more. Send the invitation again from the page 'Team'."))
        return None
