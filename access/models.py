from datetime import datetime
from enum import StrEnum

from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q

from common.constraints import one_of
from common.membership import Role
from delivery.models import Integrator
from integration.models import Seller


class AttemptCount(models.Model):
    """Attempts at secrets within a window, see `access.throttle`. Pruned after `expires_at`."""

    key = models.CharField(primary_key=True, max_length=64)  # a hexadecimal SHA-256 digest
    count = models.PositiveIntegerField()
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.count} until {self.expires_at}"


class EnrolmentCode(models.Model):
    """The latest enrolment code of a user, see `access.enrolment`."""

    user = models.OneToOneField(User, primary_key=True, on_delete=models.CASCADE, related_name="enrolment_code")
    digest = models.BinaryField(max_length=32)
    issued_by = models.CharField(max_length=200)
    issued_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.user_id}, issued by {self.issued_by}"


class InitialPassword(models.Model):
    """Marks a user whose password was set by somebody else, until the user has changed it."""

    user = models.OneToOneField(User, primary_key=True, on_delete=models.CASCADE, related_name="initial_password")
    set_at = models.DateTimeField(auto_now=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.user_id}, since {self.set_at}"


class Invitation(models.Model):
    """An invitation of an e-mail address to an account of either area, see `access.invitations`.

    The link holds a key of which only the digest is kept. Sending the invitation again replaces the key.
    """

    integrator = models.ForeignKey(Integrator, null=True, on_delete=models.CASCADE, related_name="invitations")
    seller = models.ForeignKey(Seller, null=True, on_delete=models.CASCADE, related_name="invitations")
    email = models.CharField(max_length=254)
    role = models.CharField(max_length=6, choices=Role)
    digest = models.BinaryField(max_length=32, unique=True)
    # Whether the link has reached its holder through the address, which its use then verifies.
    is_mailed = models.BooleanField()
    invited_by = models.CharField(max_length=200)
    sent_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    ended = models.CharField(max_length=7, blank=True)  # the InvitationState `used` or `revoked`; empty before
    ended_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()
        ordering = ["email"]
        constraints = [
            models.CheckConstraint(name="invitation_to_one_account", condition=Q(integrator=None) ^ Q(seller=None)),
            one_of("invitation_role", "role", Role.values),
            models.CheckConstraint(
                name="invitation_ended_has_its_time",
                condition=Q(ended="", ended_at=None) | (Q(ended__in=["used", "revoked"]) & Q(ended_at__isnull=False)),
            ),
            *(
                models.UniqueConstraint(
                    name=f"one_open_invitation_to_{account}",
                    fields=[account, "email"],
                    condition=Q(ended=""),
                )
                for account in ("integrator", "seller")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.email}, {self.get_role_display()}"

    @property
    def account(self) -> Integrator | Seller:
        found = self.integrator or self.seller
        assert found is not None  # noqa: S101  # nosec B101  # by a constraint
        return found

    def state(self, *, at: datetime) -> "InvitationState":
        if self.ended:
            return InvitationState(self.ended)
        return InvitationState.EXPIRED if self.expires_at <= at else InvitationState.OPEN

    def end(self, state: "InvitationState", *, at: datetime) -> None:
        """Write that it was used or revoked."""
        self.ended, self.ended_at = state, at
        self.save(update_fields=["ended", "ended_at"])


class InvitationState(StrEnum):
    """Whether an invitation can be accepted, and if not, why."""

    OPEN = "open"
    USED = "used"
    EXPIRED = "expired"
    REVOKED = "revoked"
