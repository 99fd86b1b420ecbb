"""What a person may see, where that opens, and who counts as privileged. Roles and permissions: `access.roles`."""

from typing import TypeVar

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import QuerySet

from delivery.models import Delivery, Environment, Integrator
from integration.models import Order, Seller

Account = Integrator | Seller
_DISPATCH = "delivery.dispatch_delivery"
_Account = TypeVar("_Account", Integrator, Seller)


def accounts_of(user: User | AnonymousUser) -> QuerySet[Integrator]:
    """All accounts for account staff; for other active users those they are members of; none for anonymous users."""
    return _visible(Integrator, user)


def sellers_of(user: User | AnonymousUser) -> QuerySet[Seller]:
    """As `accounts_of`, for sellers."""
    return _visible(Seller, user)


def is_account_staff(user: User | AnonymousUser, account: Account | type[Account]) -> bool:
    """Whether the user belongs to the staff that work on all accounts, or on all sellers."""
    return user.has_perm(f"{account._meta.app_label}.change_{account._meta.model_name}")


def is_of_depot(user: User | AnonymousUser) -> bool:
    """Whether the user scans parcels, and belongs neither to the account staff nor to the dispatchers."""
    return user.has_perm("integration.scan_order") and not user.has_perm("integration.view_order")


def has_choice(user: User | AnonymousUser) -> bool:
    """Whether the user chooses among accounts and sellers: staff, members of several, dispatchers who are members.

    The others are led to their account, seller or work by themselves.
    """
    return _sees_all(user) or len(_first_two(user)) > (0 if user.has_perm(_DISPATCH) else 1)


def only_one(user: User | AnonymousUser) -> Account | None:
    """The only account or seller of a user without a choice."""
    found = [] if _sees_all(user) or user.has_perm(_DISPATCH) else _first_two(user)
    return found[0] if len(found) == 1 else None


def live_or_sandbox(account: Account) -> Environment:
    """The environment in which an account or a seller opens.

    An account in the sandbox until it has a live delivery, a seller while it has orders in the sandbox only.
    """
    if isinstance(account, Integrator):
        is_live = Delivery.objects.within(account, Environment.LIVE).exists()
    else:
        live, sandbox = (Order.objects.of(account, each) for each in (Environment.LIVE, Environment.SANDBOX))
        is_live = live.exists() or not sandbox.exists()
    return Environment.LIVE if is_live else Environment.SANDBOX


def has_privileges(user: User) -> bool:
    """Whether the user has more rights than membership gives, active or not.

    Privileged users need a second factor, and only superusers may set their passwords.
    """
    return not without_privileges(User.objects.filter(pk=user.pk)).exists()


def without_privileges(users: QuerySet[User]) -> QuerySet[User]:
    """Those of `users` that `has_privileges` is false for."""
    return users.filter(is_staff=False, is_superuser=False, groups=None, user_permissions=None)


def _sees_all(user: User | AnonymousUser) -> bool:
    return any(is_account_staff(user, kind) for kind in (Integrator, Seller))


def _first_two(user: User | AnonymousUser) -> list[Account]:
    """Enough accounts and sellers of the user to see whether there are several. Asked for once, as permissions are."""
    kept = vars(user)  # that of the request, which ends with it
    if "_first_two" not in kept:
        kept["_first_two"] = [*accounts_of(user)[:2], *sellers_of(user)[:2]]
    found: list[Account] = kept["_first_two"]
    return found


def _visible(accounts: type[_Account], user: User | AnonymousUser) -> QuerySet[_Account]:
    found = accounts._default_manager.all()
    if not user.is_active:  # `members=None` would find the accounts without members
        return found.none()
    return found if is_account_staff(user, accounts) else found.filter(members=user.pk)
