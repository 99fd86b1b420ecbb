"""Shops whose platform posts its orders, what they posted lately, and the orders on their way to a delivery."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common.brazil.phones import phone_key, unusual_phones
from common.fields import not_personal, one_of, personal
from common.postgresql.compiled_queries import CompiledQuery, Parameter
from common.shops.models import (
    DraftStatus,
    ShopConnection,
    ShopDraft,
    ShopReception,
    is_key,
    known_connections,
    known_drafts,
)
from delivery.models import Delivery, Integrator, PickupPoint, VehicleType

LONGEST_PHONE = 255


class Connection(ShopConnection):
    """A shop of an account.

    `automatic`: its orders are requested as soon as nothing is missing.
    """

    integrator = models.ForeignKey(
        Integrator,
        verbose_name=_("account"),
        on_delete=models.CASCADE,
        related_name="connections",
        db_index=False,  # an index begins with this column
    )
    pickup = models.ForeignKey(
        PickupPoint, verbose_name=_("pickup point"), null=True, on_delete=models.SET_NULL, related_name="+"
    )
    # Whom the driver calls at A.
    contact_phone = personal(models.CharField(_("phone"), max_length=LONGEST_PHONE, blank=True))
    vehicle_type = models.CharField(_("vehicle"), max_length=10, choices=VehicleType, default=VehicleType.MOTORCYCLE)
    automatic = models.BooleanField(_("requested at once"), default=False)

    api_path = "/api/connections/"

    class Meta:
        default_permissions = ()
        ordering = ["name"]
        constraints = [
            *known_connections("connection"),
            one_of("connection_vehicle", "vehicle_type", VehicleType.values),
        ]
        indexes = [models.Index(fields=["integrator", "environment", "created_at"], name="connection_of_account")]

    @staticmethod
    def find(key: str) -> "Connection | None":
        """The connection that an address ends with, if it is not removed."""
        return _BY_KEY.first(key=key) if is_key(key) else None


_BY_KEY = CompiledQuery(
    lambda: (
        Connection.objects.select_related("integrator", "pickup")
        .filter(pk=Parameter("key"), removed_at=None)
        .order_by()[:1]
    )
)


class Draft(ShopDraft):
    """An order of a shop that becomes a delivery. The unique constraint allows one for each order of the platform.

    `payload`: as request-delivery takes it, as far as it is known. `source`: its drop-off as the platform had it last,
    by which what people changed is told from what the shop changed. A price that was computed of an earlier `revision`
    is not taken for its own.
    """

    connection = models.ForeignKey(Connection, on_delete=models.CASCADE, related_name="drafts", db_index=False)
    # That of the connection, for the lists.
    integrator = models.ForeignKey(Integrator, on_delete=models.CASCADE, related_name="+", db_index=False)
    source = personal(models.JSONField())
    price = models.DecimalField(_("price"), max_digits=9, decimal_places=2, null=True)
    seconds = models.PositiveIntegerField(null=True)  # see `takes`
    delivery = models.OneToOneField(Delivery, null=True, on_delete=models.CASCADE, related_name="+")
    precision = not_personal(models.CharField(max_length=8, blank=True))  # of a place that was looked for
    due_at = models.DateTimeField(null=True)  # when a worker looks at it next
    tries = models.PositiveIntegerField(default=0)

    class Meta:
        default_permissions = ()
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["connection", "order_id"], name="one_draft_per_order_of_a_shop"),
            *known_drafts("draft"),
            models.CheckConstraint(
                name="draft_requested_with_delivery",
                condition=Q(status=DraftStatus.REQUESTED, delivery__isnull=False)
                | (~Q(status=DraftStatus.REQUESTED) & Q(delivery=None)),
            ),
            models.CheckConstraint(
                name="draft_open_until_it_ends",
                condition=Q(status=DraftStatus.OPEN, ended_at=None)
                | (~Q(status=DraftStatus.OPEN) & Q(ended_at__isnull=False, due_at=None)),
            ),
        ]
        indexes = [
            models.Index(fields=["integrator", "environment", "-created_at", "-id"], name="draft_newest"),
            models.Index(fields=["integrator", "environment", "status", "-created_at", "-id"], name="draft_by_status"),
            models.Index(fields=["due_at"], name="draft_due", condition=Q(due_at__isnull=False)),
            models.Index(fields=["ended_at"], name="draft_to_forget", condition=Q(forgotten_at=None)),
            models.Index(phone_key("contact_phone"), name="draft_phone", condition=~Q(contact_phone="")),
            unusual_phones("contact_phone", name="draft_unusual_phone"),
        ]

    @property
    def answered_id(self) -> str:
        return str(self.delivery_id or self.pk)

    @property
    def dropoff(self) -> dict[str, Any]:
        """As `dropoffs` of request-delivery has it; empty once it was anonymised."""
        return self.payload["dropoffs"][0] if self.payload else {}

    @property
    def receiver(self) -> str:
        return str(self.dropoff.get("contacts", {}).get("name", ""))

    @property
    def street(self) -> str:
        """With the number."""
        address = self.dropoff.get("address", {})
        return ", ".join(filter(None, (address.get("street"), address.get("number"))))

    @property
    def district(self) -> str:
        address = self.dropoff.get("address", {})
        return str(address.get("district") or address.get("city", ""))

    @property
    def fee(self) -> Decimal | None:
        """What cancelling its delivery costs now, if the shop has cancelled the order and it can be."""
        return self.delivery.fee_of_cancelling if self.delivery and self.shop_cancelled_at else None

    @property
    def takes(self) -> timedelta | None:
        """From the request until the driver is expected at the drop-off."""
        return None if self.seconds is None else timedelta(seconds=self.seconds)

    @property
    def is_ready(self) -> bool:
        """Whether it can be requested as it is."""
        return self.is_open and not self.missing and self.price is not None

    @property
    def is_being_checked(self) -> bool:
        """Whether a worker has not looked at it yet."""
        return self.is_open and not self.missing and self.price is None


class Reception(ShopReception):
    connection = models.ForeignKey(Connection, on_delete=models.CASCADE, related_name="receptions", db_index=False)
    draft = models.ForeignKey(Draft, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        default_permissions = ()
        ordering = ["-id"]
        indexes = [models.Index(fields=["connection", "-id"], name="reception_newest")]
