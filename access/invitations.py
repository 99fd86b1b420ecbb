"""Invitations to an account by a link that is sent to an e-mail address.

A link works once, within seven days. The log-in that it leads to is the invited address's: a new one bears the address
as its name, and one that is verified has to be logged in to. So it gives nothing to somebody with another address.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from allauth.account.models import EmailAddress
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Collate, Lower
from django.urls import reverse
from django.utils.translation import gettext

from access import teams
from access.models import Invitation, InvitationState
from access.rights import Account
from access.teams import TeamRefusal
from common import credentials
from common.accounts import Role
from common.mail import outbox
from common.mail.models import Kind, Message
from common.pages import attempts
from common.pages.attempts import Limit, TooManyAttempts
from delivery.models import AuditAction, Integrator

LIFETIME = timedelta(days=7)
# Each can be an e-mail to somebody who has not asked for it.
PER_ACCOUNT = Limit("invitations of an account", 50, timedelta(days=1))
_LONGEST_NAME = 150  # of `User.username`
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Issued:
    """An invitation with the path of its link, which is known only now."""

    invitation: Invitation
    path: str


class NotOpen(Exception):
    """The invitation was used, has expired or was revoked; `invitation` says which."""

    def __init__(self, invitation: Invitation) -> None:
        super().__init__(str(invitation))
        self.invitation = invitation


class OfAnotherAddress(Exception):
    """The person who is logged in does not have the invited address."""


class HasLogIn(Exception):
    """The invited address has a verified log-in already, which is to be used."""


@transaction.atomic
def invite(*, account: Account, email: str, role: Role, by: User, language: str, at: datetime) -> Issued:
    """Invite an address. It is sent the link if there is a mail server, in `language`.

    Raises ValidationError for what is no address, TeamRefusal, PermissionDenied.
    """
    address = outbox.clean_address(email)
    teams.lock(account, by=by)
    if account.members.filter(pk__in=users_of(address)).exists():
        raise TeamRefusal(gettext("This person belongs to the account already."))
    earlier = pending(account).filter(email=address).first()
    if earlier is not None and earlier.state(at=at) == InvitationState.OPEN:
        raise TeamRefusal(gettext("This address is invited already. Send the invitation again from the list."))
    invitation = earlier or Invitation(**{_column(account): account, "email": address})
    invitation.role = role
    issued = _issue(invitation, by=by, language=language, at=at)
    teams.record(account, AuditAction.PERSON_INVITED, f"{address}: {role}", by=by, at=at)
    return issued


@transaction.atomic
def resend(*, account: Account, invitation: int, by: User, language: str, at: datetime) -> Issued:
    """Issue a new link for an invitation that was not accepted. The former link ends.

    Raises Invitation.DoesNotExist, TeamRefusal, PermissionDenied.
    """
    teams.lock(account, by=by)
    found = pending(account).get(pk=invitation)
    issued = _issue(found, by=by, language=language, at=at)
    teams.record(account, AuditAction.INVITATION_RESENT, found.email, by=by, at=at)
    return issued


@transaction.atomic
def revoke(*, account: Account, invitation: int, by: User, at: datetime) -> Invitation:
    """End an invitation. Raises Invitation.DoesNotExist if it has ended already, and PermissionDenied."""
    teams.lock(account, by=by)
    found = pending(account).get(pk=invitation)
    found.end(InvitationState.REVOKED, at=at)
    teams.record(account, AuditAction.INVITATION_REVOKED, found.email, by=by, at=at)
    return found


def pending(account: Account) -> QuerySet[Invitation]:
    """The invitations that were neither accepted nor revoked, expired ones included."""
    return account.invitations.filter(ended="")


def messages_of(found: Iterable[Invitation]) -> dict[Invitation, Message]:
    """The e-mails of these invitations that are still kept. An invitation and its e-mail have the same moment."""
    mailed = {(each.email, each.sent_at): each for each in found if each.is_mailed}
    moments = [sent_at for _email, sent_at in mailed]
    sent = Message.objects.filter(kind=Kind.INVITATION, created_at__in=moments).defer("body_ciphertext")
    return {mailed[key]: message for message in sent if (key := (message.recipient, message.created_at)) in mailed}


def find(key: str) -> Invitation | None:
    """The invitation of a link's key."""
    found = Invitation.objects.select_related("integrator", "seller")
    return found.filter(digest=credentials.digest(key)).first()


def users_of(address: str) -> QuerySet[User]:
    """The log-ins of an address, verified or not, active or not.

    The case of ASCII letters is ignored. PostgreSQL's UPPER, which `iexact` uses, makes an S of a long s (U+017F) too.
    """
    names = User.objects.alias(
        folded_email=Lower(Collate("email", "C")), folded_username=Lower(Collate("username", "C"))
    )
    return names.filter(
        Q(folded_email=address) | Q(folded_username=address) | Q(emailaddress__email=address)
    ).distinct()


def verified_log_in(address: str) -> str | None:
    """The name of the log-in whose user has shown to read the mail of an address.

    Anybody can have made another log-in of the address.
    """
    found = EmailAddress.objects.filter(email=address.lower(), verified=True)
    return found.values_list("user__username", flat=True).first()


@transaction.atomic
def accept(*, invitation: Invitation, user: User, at: datetime) -> None:
    """Make a person with the invited address a member. Raises NotOpen, OfAnotherAddress."""
    invitation = _lock_open(invitation, at=at)
    if not users_of(invitation.email).filter(pk=user.pk).exists():
        raise OfAnotherAddress
    _join(invitation, user, at=at)


@transaction.atomic
def sign_up(*, invitation: Invitation, name: str, password: str, at: datetime) -> User:
    """Create the log-in of the invited address, and make it a member. Raises NotOpen, HasLogIn."""
    invitation = _lock_open(invitation, at=at)
    # Before the check: where another invitation of this address is accepted between the two, this name is free no more.
    username = new_log_in_name(invitation.email)
    if verified_log_in(invitation.email) is not None:
        raise HasLogIn
    try:
        with transaction.atomic():
            user = User.objects.create_user(username, invitation.email, password, first_name=name)
    except IntegrityError as error:  # another invitation of this address was accepted at the same moment
        raise HasLogIn from error
    _join(invitation, user, at=at)
    return user


def log_in_name(address: str) -> str:
    """The name of a new log-in: the address, without the few characters that names cannot have."""
    return "".join(each if each.isalnum() or each in ".@+-_" else "_" for each in address)[:_LONGEST_NAME]


def new_log_in_name(address: str) -> str:
    """`log_in_name`, with a number if a log-in bears it already. Log-in ignores case, so this does too."""
    name = log_in_name(address)
    names = (name, *(f"{name[: _LONGEST_NAME - 4]}_{number}" for number in range(2, 1000)))
    return next(each for each in names if not User.objects.filter(username__iexact=each).exists())


def _issue(invitation: Invitation, *, by: User, language: str, at: datetime) -> Issued:
    account = invitation.account
    try:
        attempts.count(PER_ACCOUNT, _column(account), str(account.pk))
    except TooManyAttempts as error:
        text = gettext("%(most)s invitations were sent within a day, the most there may be; try again tomorrow.")
        raise TeamRefusal(text % {"most": PER_ACCOUNT.amount}) from error
    key = credentials.random_token("")
    path = f"{reverse('account_invitation')}?key={key}"
    invitation.digest = credentials.digest(key)
    invitation.is_mailed = outbox.is_configured()
    invitation.invited_by = by.get_username()
    invitation.sent_at, invitation.expires_at = at, at + LIFETIME
    invitation.save()
    if invitation.is_mailed:
        context = {"inviter": by.get_full_name() or by.get_username(), "account": account.name}
        outbox.record(
            kind=Kind.INVITATION,
            recipient=invitation.email,
            template="invitation",
            context={**context, "link": outbox.link(path)},
            language=language,
            at=at,
            lifetime=LIFETIME,
        )
    return Issued(invitation, path)


def _column(account: Account) -> str:
    return "integrator" if isinstance(account, Integrator) else "seller"


def _lock_open(invitation: Invitation, *, at: datetime) -> Invitation:
    """Lock the account, as every change of a team does, and read the invitation again. Raises NotOpen."""
    account = invitation.account
    teams.lock_row(account)
    current = Invitation.objects.get(pk=invitation.pk)
    if current.digest != invitation.digest:  # it was sent again meanwhile, with another key
        raise NotOpen(invitation)
    if current.state(at=at) != InvitationState.OPEN:
        raise NotOpen(current)
    return current


def _join(invitation: Invitation, user: User, *, at: datetime) -> None:
    account = invitation.account
    has_owner = account.memberships.filter(role=Role.OWNER).exists()
    role = invitation.role if has_owner else Role.OWNER  # the first person of an account
    account.memberships.get_or_create(user=user, defaults={"role": role})
    invitation.end(InvitationState.USED, at=at)
    if invitation.is_mailed:
        _verify(user, invitation.email)
    teams.record(account, AuditAction.PERSON_JOINED, f"{invitation.email}: {role}", by=user, at=at)
    _log.info("user %s joined %s %s", user.pk, _column(account), account.pk)  # the name can be an address


def _verify(user: User, address: str) -> None:
    """The link was sent to the address and nowhere else, so its use shows that the user reads the address' mail."""
    if EmailAddress.objects.filter(email=address, verified=True).exists():
        return  # this user's, or that of another log-in of the same person
    is_first = not EmailAddress.objects.filter(user=user, primary=True).exists()
    EmailAddress.objects.update_or_create(
        user=user, email=address, defaults={"verified": True}, create_defaults={"verified": True, "primary": is_first}
    )
    if not user.email:
        user.email = address
        user.save(update_fields=["email"])
