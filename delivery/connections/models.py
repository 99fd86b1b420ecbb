"""Shops whose platform posts its orders, what they posted lately, and the orders on their way to a delivery."""

import secrets
from datetime import timedelta
from decimal import Decimal
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from common import credentials
from common.accounts import Environment
from common.brazil.phones import phone_key, unusual_phones
from common.fields import CharField, CiphertextField, not_personal, one_of, personal
from common.shops.platforms import Platform
from common.shops.values import LONGEST_ID
from delivery.models import Delivery, Integrator, PickupPoint, VehicleType
from delivery.models.bases import Identified

_KEY_BYTES = 16
LONGEST_SECRET = 255
LONGEST_METHOD = 100
PLATFORMS = {Platform.WOOCOMMERCE: "WooCommerce", Platform.SHOPIFY: "Shopify", Platform.YAMPI: "Yampi"}


def new_key() -> str:
    """128 random bits, in hexadecimal digits."""
    return secrets.token_hex(_KEY_BYTES)


class Connection(models.Model):
    """A shop of an account. Its platform posts each order to an address that ends with `id`, signed with the secret.

    `shipping_method`: only orders with this text in a shipping method are taken. `automatic`: they are requested as
    soon as nothing is missing. `removed_at`: then its address is unknown, and its drafts stay.
    """

    id = not_personal(CharField(primary_key=True, max_length=2 * _KEY_BYTES, default=new_key, editable=False))
    integrator = models.ForeignKey(
        Integrator,
        verbose_name=_("integrator"),
        on_delete=models.CASCADE,
        related_name="connections",
        db_index=False,  # an index begins with this column
    )
    environment = models.CharField(_("environment"), max_length=7, choices=Environment)
    platform = models.CharField(
        _("platform"), max_length=11, choices=[(each.value, PLATFORMS[each]) for each in Platform]
    )
    name = not_personal(models.CharField(_("name"), max_length=120))
    pickup = models.ForeignKey(
        PickupPoint, verbose_name=_("pickup point"), null=True, on_delete=models.SET_NULL, related_name="+"
    )
    # Whom the driver calls at A.
    contact_phone = personal(models.CharField(_("phone"), max_length=255, blank=True))
    vehicle_type = models.CharField(_("vehicle"), max_length=10, choices=VehicleType, default=VehicleType.MOTORCYCLE)
    shipping_method = not_personal(models.CharField(_("shipping method"), max_length=LONGEST_METHOD, blank=True))
    automatic = models.BooleanField(_("requested at once"), default=False)
    secret_ciphertext = not_personal(CiphertextField(editable=False))
    created_at = models.DateTimeField(_("created at"), editable=False)
    created_by = personal(models.CharField(_("created by"), max_length=200, editable=False))
    removed_at = models.DateTimeField(_("removed at"), null=True, blank=True, editable=False)

    class Meta:
        default_permissions = ()
        ordering = ["name"]
        constraints = [
            one_of("connection_environment", "environment", Environment.values),
            one_of("connection_platform", "platform", [each.value for each in Platform]),
            one_of("connection_vehicle", "vehicle_type", VehicleType.values),
        ]
        indexes = [models.Index(fields=["integrator", "environment", "created_at"], name="connection_of_account")]

    def __str__(self) -> str:
        return self.name

    @staticmethod
    def find(key: str) -> "Connection | None":
        """The connection that an address ends with, if it is not removed."""
        rows = Connection.objects.select_related("integrator", "pickup").filter(removed_at=None)
        return rows.filter(pk=key).first() if len(key) == 2 * _KEY_BYTES else None

    @property
    def path(self) -> str:
        return f"/api/connections/{self.pk}"

    @property
    def secret(self) -> str:
        """With which the platform signs."""
        return credentials.decrypt(self.secret_ciphertext)


class DraftStatus(models.TextChoices):
    OPEN = "open", pgettext_lazy("order of a shop", "Open")
    REQUESTED = "requested", pgettext_lazy("order of a shop", "Requested")
    DROPPED = "dropped", pgettext_lazy("order of a shop", "Dropped")


class Draft(Identified):
    """An order of a shop that becomes a delivery. The unique constraint allows one for each order of the platform.

    `payload`: as request-delivery takes it, as far as it is known. `source`: the same as the platform had it last, by
    which what people changed is told from what the shop changed. `missing`: codes of what keeps it from being
    requested. `revision`: counts its changes, so that a price that was computed meanwhile is not taken for its own.
    """

    connection = models.ForeignKey(Connection, on_delete=models.CASCADE, related_name="drafts", db_index=False)
    # Those of the connection, for the lists.
    integrator = models.ForeignKey(Integrator, on_delete=models.CASCADE, related_name="+", db_index=False)
    environment = models.CharField(max_length=7, choices=Environment)
    order_id = not_personal(models.CharField(max_length=LONGEST_ID))
    external_id = not_personal(models.CharField(_("order"), max_length=255))
    status = models.CharField(_("status"), max_length=9, choices=DraftStatus, default=DraftStatus.OPEN)
    missing = not_personal(ArrayField(models.CharField(max_length=30), default=list))
    price = models.DecimalField(_("price"), max_digits=9, decimal_places=2, null=True)
    seconds = models.PositiveIntegerField(null=True)  # see `takes`
    payload = personal(models.JSONField())
    source = personal(models.JSONField())
    contact_phone = personal(models.CharField(max_length=255, blank=True))
    shop_changed_at = models.DateTimeField(null=True)  # by the platform's clock
    shop_cancelled_at = models.DateTimeField(_("cancelled in the shop"), null=True)
    delivery = models.OneToOneField(Delivery, null=True, on_delete=models.CASCADE, related_name="+")
    automatic = models.BooleanField(default=False)
    is_test = models.BooleanField(default=False)  # of the shop: in production it is not requested
    precision = not_personal(models.CharField(max_length=8, blank=True))  # of a place that was looked for
    revision = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(null=True)  # when a worker looks at it next
    tries = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(_("received"))
    ended_at = models.DateTimeField(null=True)
    forgotten_at = models.DateTimeField(null=True)

    class Meta:
        default_permissions = ()
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["connection", "order_id"], name="one_draft_per_order_of_a_shop"),
            one_of("draft_status", "status", DraftStatus.values),
            one_of("draft_environment", "environment", Environment.values),
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

    def __str__(self) -> str:
        return self.external_id

    @property
    def is_open(self) -> bool:
        return self.status == DraftStatus.OPEN

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


class Reception(models.Model):
    """What a platform has posted, signed, and what became of it. The last hundred of each connection are kept."""

    connection = models.ForeignKey(Connection, on_delete=models.CASCADE, related_name="receptions", db_index=False)
    at = models.DateTimeField()
    number = not_personal(models.CharField(max_length=LONGEST_ID, blank=True))  # of the order
    result = not_personal(models.CharField(max_length=10))
    reason = not_personal(models.CharField(max_length=30, blank=True))
    about = not_personal(models.CharField(max_length=300, blank=True))  # paths that a body of unknown form lacks
    draft = models.ForeignKey(Draft, null=True, on_delete=models.SET_NULL, related_name="+")
    is_trial = models.BooleanField(default=False)

    class Meta:
        default_permissions = ()
        ordering = ["-id"]
        indexes = [models.Index(fields=["connection", "-id"], name="reception_newest")]

    def __str__(self) -> str:
        return f"{self.result} {self.number}".strip()
