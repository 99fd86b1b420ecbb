import pgtrigger
from django.db import models

from common.fields import one_of
from common.membership import Membership, Role, keeps_an_owner
from delivery.models.integrator import Integrator


class IntegratorMembership(Membership):
    """A person who sees an account in the panel."""

    # The unique index begins with it.
    integrator = models.ForeignKey(Integrator, on_delete=models.CASCADE, related_name="memberships", db_index=False)

    class Meta(Membership.Meta):
        db_table = "delivery_integrator_members"  # from when it held no role
        unique_together = [("integrator", "user")]
        constraints = [one_of("integrator_membership_role", "role", Role.values)]
        triggers = [
            pgtrigger.ReadOnly(name="integrator_membership_stays", fields=["integrator", "user"]),
            keeps_an_owner("integrator_keeps_an_owner", column="integrator_id", accounts="delivery_integrator"),
        ]
