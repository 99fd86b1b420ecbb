"""What a person may see, and who counts as privileged. Which permissions a role has: `access.roles`."""

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import QuerySet

from delivery.models import Integrator
from integration.models import Seller


def accounts_of(user: User | AnonymousUser) -> QuerySet[Integrator]:
    """All accounts for account staff; for other active users those they are members of; none for anonymous users."""
    accounts = Integrator.objects.all()
    if not user.is_active:  # `members=None` would find the accounts without members
        return accounts.none()
    return accounts if user.has_perm("delivery.change_integrator") else accounts.filter(members=user.pk)


def sellers_of(user: User | AnonymousUser) -> QuerySet[Seller]:
    """As `accounts_of`, for sellers."""
    sellers = Seller.objects.all()
    if not user.is_active:
        return sellers.none()
    return sellers if user.has_perm("integration.change_seller") else sellers.filter(members=user.pk)


def has_privileges(user: User) -> bool:
    """Whether the user has more rights than membership gives, active or not.

    Privileged users need a second factor, and only superusers may set their passwords.
    """
    return not without_privileges(User.objects.filter(pk=user.pk)).exists()


def without_privileges(users: QuerySet[User]) -> QuerySet[User]:
    """Those of `users` that `has_privileges` is false for."""
    return users.filter(is_staff=False, is_superuser=False, groups=None, user_permissions=None)
