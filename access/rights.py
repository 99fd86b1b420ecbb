"""What a person may see, and who counts as privileged. Which permissions a role has: `access.roles`."""

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import QuerySet

from delivery.models import Integrator
from integration.models import Seller


def accounts_of(user: User | AnonymousUser) -> QuerySet[Integrator]:
    """All accounts for account staff; for everybody else those they are members of."""
    accounts = Integrator.objects.all()
    return accounts if user.has_perm("delivery.change_integrator") else accounts.filter(members=user.pk)


def sellers_of(user: User | AnonymousUser) -> QuerySet[Seller]:
    """All sellers for account staff; for everybody else those they are members of."""
    sellers = Seller.objects.all()
    return sellers if user.has_perm("integration.change_seller") else sellers.filter(members=user.pk)


def has_privileges(user: User) -> bool:
    """Whether the user has more rights than membership gives, active or not.

    Privileged users need a second factor, and only superusers may set their passwords.
    """
    return user.is_staff or user.is_superuser or user.groups.exists() or user.user_permissions.exists()
