from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Self
from zoneinfo import ZoneInfo

import pgtrigger
from django.db import models
from django.db.models import Prefetch, Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from common.accounts import Environment
from common.fields import one_of, personal
from integration.models.order import Order
from integration.models.seller import Seller, environment_field

_SET_IS_OPEN = """
    SELECT closed_at INTO closed FROM integration_manifest
        WHERE id = CASE TG_OP WHEN 'INSERT' THEN NEW.manifest_id ELSE OLD.manifest_id END;
    IF closed IS NOT NULL THEN
        RAISE EXCEPTION 'rota: the orders of a closed manifest cannot change';
    END IF;
    IF TG_OP = 'INSERT' THEN RETURN NEW; END IF;
    RETURN OLD;
"""

STATUSES = ("open", "closed")  # as the API names them
MOST_ORDERS = 100  # of one manifest, and of one file of labels


@dataclass(frozen=True)
class Totals:
    """Of a manifest's orders. `weight` in kilograms, `cost` in reais, `freight` in centavos of those that have one."""

    orders: int
    volumes: int
    weight: Decimal
    cost: Decimal
    freight: int


class ManifestQuerySet(models.QuerySet["Manifest"]):
    def of(self, seller: Any, environment: Any) -> Self:
        """The manifests of a seller in an environment."""
        return self.filter(seller=seller, environment=environment)

    def with_orders(self) -> Self:
        """With what their totals, and pages and papers about them, read."""
        entries = ManifestEntry.objects.select_related("order__company", "order__carrier").order_by("pk")
        return self.select_related("seller").prefetch_related(Prefetch("entries", entries))


class Manifest(models.Model):
    """The orders that a seller hands over together. While it is open, orders come and go; a closed one is final.

    Who changes it or its entries locks it first, and then its orders.
    """

    seller = models.ForeignKey(
        Seller, verbose_name=_("seller"), on_delete=models.PROTECT, related_name="manifests", db_index=False
    )
    environment = environment_field()  # its orders'
    created_at = models.DateTimeField(_("created at"))
    created_by = personal(models.CharField(_("created by"), max_length=200))
    closed_at = models.DateTimeField(pgettext_lazy("manifest", "closed at"), null=True, editable=False)
    closed_by = personal(models.CharField(_("closed by"), max_length=200, blank=True, editable=False))

    objects = ManifestQuerySet.as_manager()

    class Meta:
        verbose_name = _("manifest")
        verbose_name_plural = _("manifests")
        ordering = ["-id"]
        constraints = [
            one_of("manifest_environment", "environment", Environment.values),
            models.CheckConstraint(
                name="manifest_closing_has_who",
                condition=Q(closed_at=None, closed_by="") | Q(Q(closed_at__isnull=False), ~Q(closed_by="")),
            ),
        ]
        indexes = [
            # It ends with the primary key, so that a page's keys are read from the index alone.
            models.Index(fields=["seller", "environment", "-created_at", "-id"], name="manifest_of_seller"),
            # As those of orders and invoices, for the filter of the admin's list.
            models.Index(fields=["-id"], name="manifest_of_sandbox", condition=Q(environment=Environment.SANDBOX)),
        ]
        triggers = [
            pgtrigger.ReadOnly(name="manifest_immutable", exclude=["closed_at", "closed_by"]),
            pgtrigger.Protect(
                name="manifest_closed",
                operation=pgtrigger.Update | pgtrigger.Delete,
                condition=pgtrigger.Q(old__closed_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return str(self.pk)

    @property
    def status(self) -> str:
        """One of STATUSES."""
        return STATUSES[self.closed_at is not None]

    @property
    def in_order(self) -> list[Order]:
        """Its orders as they were added. Reads `entries` with their orders."""
        return [entry.order for entry in self.entries.all()]

    @property
    def zone(self) -> ZoneInfo:
        """The time zone of where the parcels leave from. Reads what `in_order` does."""
        return next((order.company.zone for order in self.in_order), None) or self.seller.zone

    @property
    def totals(self) -> Totals:
        orders = self.in_order
        return Totals(
            orders=len(orders),
            volumes=sum(order.volumes for order in orders),
            weight=sum((order.weight for order in orders), Decimal()),
            cost=sum((order.cost for order in orders), Decimal()),
            freight=sum(order.freight_centavos or 0 for order in orders),
        )


class ManifestEntry(models.Model):
    """An order in a manifest. It stands in one only: those of a closed one are collected, and never wait again."""

    manifest = models.ForeignKey(Manifest, verbose_name=_("manifest"), on_delete=models.CASCADE, related_name="entries")
    order = models.ForeignKey(
        Order, verbose_name=_("order"), on_delete=models.PROTECT, related_name="manifest_entries", db_index=False
    )

    class Meta:
        verbose_name = _("order of a manifest")
        verbose_name_plural = _("orders of a manifest")
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["order"], name="one_manifest_per_order")]
        triggers = [
            pgtrigger.ReadOnly(name="manifest_entry_immutable"),
            pgtrigger.Trigger(
                name="manifest_set_is_open",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.Delete,
                declare=[("closed", "timestamptz")],
                func=_SET_IS_OPEN,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.order} → {self.manifest}"
