"""The people of an account or seller: who may decide about them, changing roles, removing."""

from datetime import datetime
from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import AnonymousUser, User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext

from access.rights import Account, is_account_staff
from common.accounts import Membership, Role
from delivery.accounts import integrators
from delivery.models import AuditAction, Integrator
from integration.models import Seller


class TeamRefusal(Exception):
    """Why something about a team is refused, in the reader's language."""


class NotAMember(Exception):
    """The account has no such member, perhaps not any more."""


def people(account: Account) -> QuerySet[Any]:
    """The memberships of an account, owners first, with their users, and whether they have a second factor."""
    factors = Authenticator.objects.filter(user=OuterRef("user"))
    found = account.memberships.select_related("user").annotate(has_second_factor=Exists(factors))
    return found.order_by("-role", "user__username")


def may_manage(user: User | AnonymousUser, account: Account) -> bool:
    """Whether the user decides who belongs to the account: its owners and account staff."""
    if not user.is_active:
        return False
    return is_account_staff(user, account) or account.memberships.filter(user=user.pk, role=Role.OWNER).exists()


@transaction.atomic
def change_role(*, account: Account, membership: int, role: Role, by: User, at: datetime) -> Membership:
    """Give a member another role. Raises TeamRefusal for the last owner, NotAMember, PermissionDenied."""
    lock(account, by=by)
    found = _member(account, membership)
    if found.role == role:
        return found
    if role != Role.OWNER:
        _keep_an_owner(account, found)
    found.role = role
    found.save(update_fields=["role"])
    record(account, AuditAction.ROLE_CHANGED, f"{found.user.get_username()}: {role}", by=by, at=at)
    return found


def may_request(user: User | AnonymousUser, account: Integrator) -> bool:
    """Whether the user requests and cancels deliveries, and sees to pickup points and tokens.

    Owners and account staff always do, other members unless an owner has taken the right from them.
    """
    if not user.is_active:
        return False
    allowed = account.memberships.filter(Q(role=Role.OWNER) | Q(may_request=True), user=user.pk)
    return is_account_staff(user, account) or allowed.exists()


@transaction.atomic
def change_right(*, account: Integrator, membership: int, may_request: bool, by: User, at: datetime) -> Membership:
    """Give a member the right of `may_request`, or take it. Raises NotAMember, PermissionDenied."""
    lock(account, by=by)
    found = _member(account, membership)
    if found.may_request != may_request:
        found.may_request = may_request
        found.save(update_fields=["may_request"])
        action = AuditAction.REQUESTS_ALLOWED if may_request else AuditAction.REQUESTS_ENDED
        record(account, action, found.user.get_username(), by=by, at=at)
    return found


@transaction.atomic
def remove(*, account: Account, membership: int, by: User, at: datetime) -> Membership:
    """Take a person's access away, from the next request on.

    Raises NotAMember, PermissionDenied, and TeamRefusal for the last owner, whom only account staff may remove, and
    only as the last person.
    """
    lock(account, by=by)
    found = _member(account, membership)
    if not may_remove_last(by, account):
        _keep_an_owner(account, found)
    found.delete()
    record(account, AuditAction.PERSON_REMOVED, found.user.get_username(), by=by, at=at)
    return found


def may_remove_last(user: User | AnonymousUser, account: Account) -> bool:
    """Whether this user may remove the account's only person: account staff may, members may not."""
    return account.memberships.count() <= 1 and is_account_staff(user, account)


def lock(account: Account, *, by: User) -> None:
    """Serialise changes of the team until the transaction ends. Raises PermissionDenied unless `by` may make them."""
    lock_row(account)
    if not may_manage(by, account):
        raise PermissionDenied


def lock_row(account: Account) -> None:
    """Lock the account's row until the transaction ends."""
    rows: Any = type(account)._default_manager
    rows.select_for_update(no_key=True).get(pk=account.pk)


def record(account: Account, action: AuditAction, subject: str, *, by: User, at: datetime) -> None:
    """Write to the audit trail of an integrator, or to the history of a seller in the admin."""
    if isinstance(account, Integrator):
        integrators.record_audit(account, action, subject, by=f"user {by.get_username()}", at=at)
    else:
        row = Seller.objects.filter(pk=account.pk)
        LogEntry.objects.log_actions(by.pk, row, CHANGE, f"{action.label}: {subject}", single_object=True)


def _member(account: Account, membership: int) -> Any:
    found = people(account).filter(pk=membership).first()
    if found is None:
        raise NotAMember
    return found


def _keep_an_owner(account: Account, leaving: Membership) -> None:
    if not account.memberships.filter(role=Role.OWNER).exclude(pk=leaving.pk).exists():
        raise TeamRefusal(gettext("This is the last owner. Make somebody else an owner first."))
