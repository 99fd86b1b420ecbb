import pgtrigger
from django.db import models

from common.fields import one_of
from common.membership import Membership, Role, keeps_an_owner
from integration.models.seller import Seller


class SellerMembership(Membership):
    """A person who sees a seller in the panel."""

    # The unique index begins with it.
    seller = models.ForeignKey(Seller, on_delete=models.CASCADE, related_name="memberships", db_index=False)

    class Meta(Membership.Meta):
        db_table = "integration_seller_members"  # from when it held no role
        unique_together = [("seller", "user")]
        constraints = [one_of("seller_membership_role", "role", Role.values)]
        triggers = [
            pgtrigger.ReadOnly(name="seller_membership_stays", fields=["seller", "user"]),
            keeps_an_owner("seller_keeps_an_owner", column="seller_id", accounts="integration_seller"),
        ]
