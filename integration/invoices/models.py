from collections.abc import Collection
from decimal import Decimal
from typing import Any, Self

import pgtrigger
from django.db import models
from django.db.models import Exists, OuterRef, Prefetch, Q
from django.utils.translation import gettext_lazy as _

from common.accounts import Environment
from common.brazil.formats import short_id
from common.fields import not_personal, one_of, personal
from common.measures import to_the_centavo
from common.postgresql import updates
from common.postgresql.forgetting import EMPTY, NO_BYTES, SET_ONCE, read_only_but_forgotten
from integration.invoices import nfe
from integration.models.order import LONGEST_CODE, Order, OrderQuerySet, compact_code
from integration.models.seller import Seller, environment_field

# Of the invoice before and after the change; one of them is NULL when it is written or deleted.
_COUNT_BYTES = """
more := coalesce(octet_length(NEW.raw), 0) - coalesce(octet_length(OLD.raw), 0);
owner := coalesce(NEW.seller_id, OLD.seller_id);
IF coalesce(NEW.environment, OLD.environment) = 'live' THEN
    UPDATE integration_seller SET invoice_bytes = invoice_bytes + more WHERE id = owner;
ELSE
    UPDATE integration_seller SET sandbox_invoice_bytes = sandbox_invoice_bytes + more WHERE id = owner;
END IF;
RETURN NULL;
"""
_IS_LINKED = """
IF TG_OP = 'INSERT' THEN
    UPDATE integration_invoice SET is_linked = TRUE WHERE id = NEW.invoice_id AND NOT is_linked;
ELSE
    UPDATE integration_invoice SET is_linked = FALSE WHERE id = OLD.invoice_id
        AND NOT EXISTS (SELECT FROM integration_invoicelink WHERE invoice_id = OLD.invoice_id);
END IF;
RETURN NULL;
"""
_TOUCH_LINKED = updates.touch("integration_order", "SELECT order_id FROM changed")
_TOUCH_ORDERS = updates.touch(
    "integration_order", "SELECT order_id FROM integration_invoicelink WHERE invoice_id = NEW.id"
)
_CHANGED: Any = pgtrigger.Referencing  # which has no types
# What an order shows of its invoices.
_OF_ORDERS = ("access_key", "number", "series", "value", "issued_at")
_OLD, _NEW = (", ".join(f"{row}.{name}" for name in _OF_ORDERS) for row in ("OLD", "NEW"))


# A file with a protocol replaces one without. The recipient of files of before is read later, by a migration.
_SAYS_MORE = "OLD.forgotten_at IS NULL AND OLD.protocol <> NEW.protocol"
_NOT_READ = "OLD.forgotten_at IS NULL AND OLD.recipient_document = ''"


class InvoiceStatus(models.TextChoices):
    """What the tax office says of a note."""

    VALID = "valid", _("Valid")
    UNCONFIRMED = "unconfirmed", _("Not confirmed by the tax office")
    VOID = "void", _("Void")


class InvoiceQuerySet(models.QuerySet["Invoice"]):
    def of(self, seller: Any, environment: Any) -> Self:
        """The invoices of a seller, or the expression of one, in an environment."""
        return self.filter(seller=seller, environment=environment)


class Invoice(models.Model):
    """An NF-e or DC-e that a seller sent: its unchanged bytes, and the data parsed from them.

    A later file of the same note replaces the bytes if the tax office says more in it (`invoices.receive`).
    """

    seller = models.ForeignKey(
        Seller, verbose_name=_("seller"), on_delete=models.PROTECT, related_name="invoices", db_index=False
    )
    environment = environment_field()
    access_key = not_personal(models.CharField(_("access key"), max_length=44))
    issuer_document = personal(models.CharField(_("issuer"), max_length=14, blank=True))
    number = not_personal(models.CharField(_("number"), max_length=9, blank=True))
    series = not_personal(models.CharField(_("series"), max_length=3, blank=True))
    value = models.DecimalField(_("value"), max_digits=15, decimal_places=2, null=True)
    issued_at = models.DateTimeField(_("issued at"), null=True)
    layout = not_personal(models.CharField(_("layout"), max_length=4, blank=True))
    # Who receives the goods, by the file. It decides which order an uncertain reference means.
    recipient_document = personal(
        models.CharField(_("recipient"), max_length=14, blank=True, default="", db_default="")
    )
    # The cStat of its protocol; empty without one.
    protocol = not_personal(
        models.CharField(_("protocol status (cStat)"), max_length=3, blank=True, default="", db_default="")
    )
    # Denied or cancelled by the tax office, or marked by staff. It is kept, and linked to no order.
    is_void = models.BooleanField(_("denied or cancelled"), default=False, db_default=False)
    # Of goods that come back to the seller or in: never on a label.
    is_return = models.BooleanField(_("of a return"), default=False, db_default=False)
    # Whether it has a link. Maintained by a trigger of `InvoiceLink`, so that an index finds those without.
    is_linked = models.BooleanField(_("linked"), default=False, db_default=False, editable=False)
    raw = personal(models.BinaryField(editable=False))
    received_at = models.DateTimeField(_("received at"))
    received_by = personal(models.CharField(_("received by"), max_length=200))
    forgotten_at = models.DateTimeField(_("anonymised at"), null=True, editable=False)
    orders: "models.ManyToManyField[Order, InvoiceLink]" = models.ManyToManyField(
        Order, through="InvoiceLink", related_name="invoices", verbose_name=_("orders")
    )

    # Of those that may stand on a label, see `is_printable`.
    PRINTABLE = Q(is_void=False, is_return=False, protocol__in=["", *nfe.AUTHORISED])

    objects = InvoiceQuerySet.as_manager()

    class Meta:
        verbose_name = _("invoice")
        verbose_name_plural = _("invoices")
        ordering = ["-id"]
        constraints = [
            # Of expressions, as those of orders.
            models.UniqueConstraint(
                "seller", "environment", "access_key", name="one_invoice_of_environment_per_access_key"
            ),
            one_of("invoice_environment", "environment", Environment.values),
        ]
        indexes = [
            models.Index(fields=["seller", "environment", "-received_at"], name="invoice_newest"),
            # It ends with the primary key, so that a page's keys are read from the index alone.
            models.Index(fields=["seller", "environment", "is_linked", "-received_at", "-id"], name="invoice_linked"),
            models.Index(fields=["number"], name="invoice_number"),  # the search in the admin, over all sellers
            # The filter of the admin's list; of live ones, which most are, the primary key finds a page.
            models.Index(fields=["-id"], name="invoice_of_sandbox", condition=Q(environment=Environment.SANDBOX)),
            models.Index(fields=["received_at"], name="invoice_to_forget", condition=Q(forgotten_at__isnull=True)),
        ]
        triggers = [
            pgtrigger.ReadOnly(name="invoice_file_immutable", fields=["seller", "environment"]),
            read_only_but_forgotten(
                "invoice_forgotten",
                {"raw": NO_BYTES, "recipient_document": EMPTY, "forgotten_at": SET_ONCE},
                unless={"raw": _SAYS_MORE, "recipient_document": f"{_SAYS_MORE} OR {_NOT_READ}"},
            ),
            pgtrigger.Trigger(
                name="invoice_bytes_of_seller",
                when=pgtrigger.After,
                operation=pgtrigger.Insert | pgtrigger.UpdateOf("raw") | pgtrigger.Delete,  # type: ignore[no-untyped-call]
                declare=[("more", "bigint"), ("owner", "bigint")],
                func=_COUNT_BYTES,
            ),
            pgtrigger.Trigger(
                name="invoice_updates_orders",
                when=pgtrigger.After,
                operation=pgtrigger.UpdateOf(*_OF_ORDERS),  # type: ignore[no-untyped-call]
                condition=pgtrigger.Condition(f"(({_OLD}) IS DISTINCT FROM ({_NEW}))"),
                func=_TOUCH_ORDERS,
            ),
        ]

    def __str__(self) -> str:
        """Number and series, as people call it; the end of the access key where the file names no number."""
        return " / ".join(part for part in (self.number, self.series) if part) or short_id(self.access_key)

    @property
    def status(self) -> InvoiceStatus:
        if self.is_void:
            return InvoiceStatus.VOID
        return InvoiceStatus.VALID if self.protocol in nfe.AUTHORISED else InvoiceStatus.UNCONFIRMED

    @property
    def kind(self) -> str:
        """NF-e or DC-e; or what its access key says it is instead."""
        return nfe.name_of(self.access_key)

    @property
    def is_rejected(self) -> bool:
        """Whether the tax office has neither authorised nor denied it, and has answered."""
        return bool(self.protocol) and self.status == InvoiceStatus.UNCONFIRMED

    @property
    def is_printable(self) -> bool:
        """Whether its key may stand on a label: of goods on their way, and neither void nor rejected."""
        is_out = self.is_void or self.is_return or self.is_rejected
        return not is_out and nfe.may_accompany_goods(self.access_key)

    @property
    def value_of_orders(self) -> Decimal | None:
        """The value in reais that its orders have for it. Reads `links`, their orders, and the links of those.

        That which an order states for this invoice, or else the costs of all together. None without an order, and for
        an order that has another invoice too, which covers an unknown part of it.
        """
        orders = [link.order for link in self.links.all()]
        for order in orders:
            if (stated := order.stated_value(self.access_key)) is not None:
                return stated
        if not orders or any(len(order.invoice_links.all()) > 1 for order in orders):
            return None
        return sum((order.cost for order in orders), Decimal(0))

    def is_foreign(self, documents: Collection[str]) -> bool:
        """Whether it was issued by none of the companies with these documents."""
        return bool(self.issuer_document) and self.issuer_document not in documents

    @property
    def differs(self) -> bool:
        """Whether its value is not that of its orders, to the centavo."""
        expected = self.value_of_orders
        if self.value is None or expected is None:
            return False
        return self.value != to_the_centavo(expected)


class InvoiceReference(models.Model):
    """An order reference (xPed) of an invoice, by which orders that are created later find the invoice."""

    seller = models.ForeignKey(Seller, on_delete=models.CASCADE, related_name="+", db_index=False)
    invoice = models.ForeignKey(
        Invoice, verbose_name=_("invoice"), on_delete=models.CASCADE, related_name="references", db_index=False
    )
    value = not_personal(models.CharField(_("xPed"), max_length=LONGEST_CODE))

    class Meta:
        verbose_name = _("order reference")
        verbose_name_plural = _("order references")
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["invoice", "value"], name="one_reference_per_invoice")]
        indexes = [
            models.Index(fields=["seller", "value"], name="invoice_reference_value"),
            models.Index("seller", compact_code("value"), name="invoice_reference_alike"),
        ]

    def __str__(self) -> str:
        return self.value


class LinkReason(models.TextChoices):
    """Why an invoice is linked to an order, or is so no longer."""

    REFERENCE = "reference", _("The invoice names this orderId (xPed).")
    CUT_REFERENCE = "cut_reference", _("The invoice names the first 15 characters of this orderId (xPed), and fits it.")
    ACCESS_KEY = "access_key", _("The order names the access key of this invoice.")
    BY_HAND = "by_hand", _("By hand.")
    OTHER_ORDER = "other_order", _("The invoice is that of another order, whose orderId begins the same.")
    CORRECTED = "corrected", _("The order was corrected or created again, and this invoice is not its own any more.")
    VOID = "void", _("The tax office has denied or cancelled the invoice.")


class InvoiceLink(models.Model):
    """An invoice covers an order."""

    invoice = models.ForeignKey(
        Invoice, verbose_name=_("invoice"), on_delete=models.CASCADE, related_name="links", db_index=False
    )
    order = models.ForeignKey(Order, verbose_name=_("order"), on_delete=models.PROTECT, related_name="invoice_links")
    # Empty: made by an earlier version while the migration that finds the reasons ran.
    reason = models.CharField(_("reason"), max_length=13, choices=LinkReason, blank=True, default="", db_default="")
    linked_by = personal(models.CharField(_("linked by"), max_length=200))
    linked_at = models.DateTimeField(_("linked at"))

    class Meta:
        verbose_name = _("linked order")
        verbose_name_plural = _("linked orders")
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["invoice", "order"], name="one_link_per_invoice_and_order")]
        triggers = [
            pgtrigger.Trigger(
                name="invoice_is_linked",
                when=pgtrigger.After,
                operation=pgtrigger.Insert | pgtrigger.Delete,
                func=_IS_LINKED,
            ),
            *(
                pgtrigger.Trigger(
                    name=name,
                    when=pgtrigger.After,
                    operation=operation,
                    level=pgtrigger.Statement,
                    referencing=rows,
                    func=_TOUCH_LINKED,
                )
                for name, operation, rows in (
                    ("invoice_link_updates_orders", pgtrigger.Insert, _CHANGED(new="changed")),
                    ("invoice_unlink_updates_orders", pgtrigger.Delete, _CHANGED(old="changed")),
                )
            ),
        ]

    def __str__(self) -> str:
        return f"{self.invoice} → {self.order}"


class InvoiceChange(models.Model):
    """A link that was made or removed, or an invoice that was marked as void by hand. Append-only."""

    class Kind(models.TextChoices):
        LINKED = "linked", _("Linked")
        UNLINKED = "unlinked", _("Link removed")
        MARKED_VOID = "marked_void", _("Marked as void")

    invoice = models.ForeignKey(Invoice, verbose_name=_("invoice"), on_delete=models.PROTECT, related_name="changes")
    # None: the change is of the invoice.
    order = models.ForeignKey(
        Order, verbose_name=_("order"), on_delete=models.PROTECT, related_name="+", null=True, db_index=False
    )
    kind = models.CharField(_("kind"), max_length=11, choices=Kind)
    reason = models.CharField(_("reason"), max_length=13, choices=LinkReason)
    text = not_personal(models.CharField(_("reason in words"), max_length=255, blank=True))
    by = personal(models.CharField(_("by"), max_length=200))
    at = models.DateTimeField(_("at"))

    class Meta:
        verbose_name = _("change of an invoice")
        verbose_name_plural = _("changes of invoices")
        ordering = ["id"]
        constraints = [
            one_of("invoice_change_kind", "kind", ["linked", "unlinked", "marked_void"]),
            one_of("invoice_change_reason", "reason", LinkReason.values),
            models.CheckConstraint(
                name="invoice_change_names_its_order", condition=Q(kind="marked_void") | Q(order__isnull=False)
            ),
        ]
        triggers = [
            pgtrigger.ReadOnly(name="invoice_change_append_only"),
            pgtrigger.Protect(name="invoice_change_kept", operation=pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return self.get_kind_display()


def with_details(orders: OrderQuerySet) -> OrderQuerySet:
    """The orders with their company, carrier, status log and linked invoices, which are without their files."""
    return orders.select_related("company", "carrier").prefetch_related("status_log", _links())


def with_labels(orders: OrderQuerySet) -> OrderQuerySet:
    """The orders with what their labels say."""
    own = Invoice.objects.of(OuterRef("seller"), OuterRef("environment")).filter(access_key=OuterRef("invoice_key"))
    found = orders.annotate(names_unprintable=Exists(own.exclude(Invoice.PRINTABLE)))
    return found.select_related("company__seller", "carrier").prefetch_related(_links())


def _links() -> Any:
    return Prefetch("invoice_links", InvoiceLink.objects.select_related("invoice").defer("invoice__raw"))
