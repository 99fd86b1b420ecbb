"""Shops whose platform posts its orders, what they posted lately, and the orders that are taken: columns of both areas.

An area adds its accounts, what it needs for its own orders, constraints and indexes.
"""

import secrets
from typing import Any, ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from common import credentials
from common.accounts import Environment
from common.fields import CharField, CiphertextField, new_id, not_personal, one_of, personal
from common.fields import UUIDField as IdField
from common.shops.platforms import Platform
from common.shops.values import LONGEST_ID

_KEY_BYTES = 16
LONGEST_KEY = 2 * _KEY_BYTES
LONGEST_SECRET = 255
LONGEST_METHOD = 100
LONGEST_NAME = 120
PLATFORMS = {Platform.WOOCOMMERCE: "WooCommerce", Platform.SHOPIFY: "Shopify", Platform.YAMPI: "Yampi"}


def new_key() -> str:
    """128 random bits, in hexadecimal digits."""
    return secrets.token_hex(_KEY_BYTES)


def is_key(text: str) -> bool:
    """Whether a connection could have this key."""
    return len(text) == LONGEST_KEY and text.isascii() and text.isalnum()


class ShopConnection(models.Model):
    """A shop of an account. Its platform posts each order to an address that ends with `id`, signed with the secret.

    `shipping_method`: only orders with this text in a shipping method are taken. `removed_at`: then its address is
    unknown, and its drafts stay.
    """

    id = not_personal(CharField(primary_key=True, max_length=LONGEST_KEY, default=new_key, editable=False))
    environment = models.CharField(_("environment"), max_length=7, choices=Environment)
    platform = models.CharField(
        _("platform"), max_length=11, choices=[(each.value, PLATFORMS[each]) for each in Platform]
    )
    name = not_personal(models.CharField(_("name"), max_length=LONGEST_NAME))
    shipping_method = not_personal(models.CharField(_("shipping method"), max_length=LONGEST_METHOD, blank=True))
    secret_ciphertext = not_personal(CiphertextField(editable=False))
    created_at = models.DateTimeField(_("created at"), editable=False)
    created_by = personal(models.CharField(_("created by"), max_length=200, editable=False))
    removed_at = models.DateTimeField(_("removed at"), null=True, blank=True, editable=False)

    api_path: ClassVar[str]

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.name

    @property
    def path(self) -> str:
        """Of the address to which the platform posts."""
        return f"{self.api_path}{self.pk}"

    @property
    def secret(self) -> str:
        """With which the platform signs."""
        return credentials.decrypt(self.secret_ciphertext)


def known_connections(prefix: str) -> list[models.BaseConstraint]:
    """The constraints of ShopConnection. Their names begin with `prefix`."""
    return [
        one_of(f"{prefix}_environment", "environment", Environment.values),
        one_of(f"{prefix}_platform", "platform", [each.value for each in Platform]),
    ]


class DraftStatus(models.TextChoices):
    OPEN = "open", pgettext_lazy("order of a shop", "Open")
    REQUESTED = "requested", pgettext_lazy("order of a shop", "Requested")
    DROPPED = "dropped", pgettext_lazy("order of a shop", "Dropped")


class ShopDraft(models.Model):
    """An order of a shop on its way to what the area makes of it. There is one for each order of the platform.

    `payload`: as the area's API takes it, as far as it is known. `contact_phone`: every number of the receiver that
    stands in the row, by which requests of people find it. `missing`: codes of what keeps it from being made.
    `automatic`: it is made without a click. `revision`: counts the changes of what people see of it, a price that
    replaces another one included; what they confirm is a revision. `edited_by`: who changed it last, or took it back;
    `dropped_by`: who dropped it, if that was not the shop.
    """

    id = IdField(primary_key=True, default=new_id, editable=False)
    environment = models.CharField(max_length=7, choices=Environment)
    order_id = not_personal(models.CharField(max_length=LONGEST_ID))
    external_id = not_personal(models.CharField(_("order"), max_length=255))
    status = models.CharField(_("status"), max_length=9, choices=DraftStatus, default=DraftStatus.OPEN)
    missing = not_personal(ArrayField(models.CharField(max_length=30), default=list))
    payload = personal(models.JSONField())
    contact_phone = personal(models.CharField(max_length=255, blank=True))
    shop_changed_at = models.DateTimeField(null=True)  # by the platform's clock
    shop_cancelled_at = models.DateTimeField(_("cancelled in the shop"), null=True)
    automatic = models.BooleanField(default=False)
    is_test = models.BooleanField(default=False)  # of the shop: in production nothing is made of it
    revision = models.PositiveIntegerField(default=0)
    edited_by = personal(models.CharField(max_length=200, blank=True, db_default=""))
    edited_at = models.DateTimeField(null=True)
    dropped_by = personal(models.CharField(max_length=200, blank=True, db_default=""))
    created_at = models.DateTimeField(_("received"))
    ended_at = models.DateTimeField(null=True)
    forgotten_at = models.DateTimeField(null=True)

    # Of the area's model: to the connection.
    connection: Any
    connection_id: str

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return self.external_id

    @property
    def is_open(self) -> bool:
        return self.status == DraftStatus.OPEN

    @property
    def answered_id(self) -> str:
        """The id that the platform is answered with: of what was made of it, else its own."""
        raise NotImplementedError


def known_drafts(prefix: str) -> list[models.BaseConstraint]:
    """The constraints of ShopDraft. Their names begin with `prefix`."""
    return [
        one_of(f"{prefix}_status", "status", DraftStatus.values),
        one_of(f"{prefix}_environment", "environment", Environment.values),
    ]


class ShopReception(models.Model):
    """What a platform has posted, signed, and what became of it. The last hundred of each connection are kept."""

    at = models.DateTimeField()
    number = not_personal(models.CharField(max_length=LONGEST_ID, blank=True))  # of the order
    result = not_personal(models.CharField(max_length=10))
    reason = not_personal(models.CharField(max_length=30, blank=True))
    about = not_personal(models.CharField(max_length=300, blank=True))  # paths that a body of unknown form lacks
    is_trial = models.BooleanField(default=False)

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.result} {self.number}".strip()
