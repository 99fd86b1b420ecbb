from datetime import datetime
from enum import StrEnum

from django.contrib.auth.models import User
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common.accounts import Role
from common.fields import CiphertextField, not_personal, one_of, personal
from delivery.models import Integrator
from integration.models import Seller


class EnrolmentCode(models.Model):
    """The latest enrolment code of a user, see `access.enrolment`."""

    user = models.OneToOneField(User, primary_key=True, on_delete=models.CASCADE, related_name="enrolment_code")
    digest = not_personal(models.BinaryField(max_length=32))
    issued_by = personal(models.CharField(max_length=200))
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
    email = personal(models.CharField(max_length=254))
    role = models.CharField(max_length=6, choices=Role)
    digest = not_personal(models.BinaryField(max_length=32, unique=True))
    # Whether the link has reached its holder through the address, which its use then verifies.
    is_mailed = models.BooleanField()
    invited_by = personal(models.CharField(max_length=200))
    sent_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    ended = not_personal(
        models.CharField(max_length=7, blank=True)
    )  # the InvitationState `used` or `revoked`; empty before
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


class AccessLink(models.Model):
    """A link that shows the access data of an account once, see `access.access_links`. Deleted by its use.

    The link holds a key of which only the digest is kept.
    """

    digest = not_personal(models.BinaryField(max_length=32, unique=True))
    integrator = models.ForeignKey(Integrator, null=True, on_delete=models.CASCADE, related_name="+")
    seller = models.ForeignKey(Seller, null=True, on_delete=models.CASCADE, related_name="+")
    issued_by = personal(models.CharField(max_length=200))
    issued_at = models.DateTimeField()
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        default_permissions = ()
        constraints = [
            models.CheckConstraint(name="access_link_of_one_account", condition=Q(integrator=None) ^ Q(seller=None)),
        ]

    def __str__(self) -> str:
        return f"{self.account}, until {self.expires_at}"

    @property
    def account(self) -> Integrator | Seller:
        found = self.integrator or self.seller
        assert found is not None  # noqa: S101  # nosec B101  # by a constraint
        return found


class InvitationState(StrEnum):
    """Whether an invitation can be accepted, and if not, why."""

    OPEN = "open"
    USED = "used"
    EXPIRED = "expired"
    REVOKED = "revoked"


class PersonRequestKind(models.TextChoices):
    """What a person has asked for."""

    FORGET = "forget", _("Forget")
    EXPORT = "export", _("Export")


class PersonRequest(models.Model):
    """Who had the data of one person forgotten or exported, and when. The log of both kinds of requests.

    The number of the person is kept, encrypted, until everything is forgotten; afterwards only its last digits are.
    """

    kind = models.CharField(_("request"), max_length=6, choices=PersonRequestKind)
    # JSON of a `Person`; empty once the request is finished.
    ciphertext = personal(CiphertextField(blank=True))
    hint = personal(models.CharField(_("number"), max_length=20, help_text=_("Its last digits.")))
    requested_by = personal(models.CharField(_("by"), max_length=200))
    requested_at = models.DateTimeField(_("requested at"))
    finished_at = models.DateTimeField(_("finished at"), null=True)
    stops = models.PositiveIntegerField(_("drop-offs"), default=0)
    pickups = models.PositiveIntegerField(_("pickups"), default=0)
    orders = models.PositiveIntegerField(_("orders"), default=0)
    drivers = models.PositiveIntegerField(_("drivers"), default=0)
    drafts = models.PositiveIntegerField(_("orders of shops"), default=0, db_default=0)
    # The last anonymised delivery of those that a driver has held; None before and after the driver's turn.
    last_delivery = models.UUIDField(null=True, editable=False)

    class Meta:
        verbose_name = _("request about personal data")
        verbose_name_plural = _("requests about personal data")
        ordering = ["-id"]
        default_permissions = ("view", "add")
        constraints = [
            one_of("person_request_kind", "kind", PersonRequestKind.values),
            models.CheckConstraint(
                name="person_request_ended_has_no_number",
                condition=Q(finished_at=None) | Q(ciphertext=""),
            ),
        ]
        indexes = [models.Index(fields=["id"], name="person_request_open", condition=Q(finished_at=None))]

    def __str__(self) -> str:
        return f"{self.get_kind_display()} {self.hint}"
