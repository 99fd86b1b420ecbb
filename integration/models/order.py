from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import repeat
from typing import Any, Self
from zoneinfo import ZoneInfo

import pgtrigger
from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core import signing
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection, models
from django.db.models import F, Func, Q, TextField, Value
from django.db.models.functions import Cast, Left, NullIf
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from common.accounts import Environment
from common.brazil import zones
from common.brazil.phones import phone_key, unusual_phones
from common.fields import composed, composed_column, not_personal, one_of, personal, spellings
from common.pages import link_tokens
from common.postgresql import updates
from common.postgresql.forgetting import EMPTY, FEWER_KEYS, SET_ONCE, read_only_but_forgotten
from integration import lifecycle, words
from integration.errors import OrderNotFound
from integration.freight.calculation import Package, Price, package_of
from integration.lifecycle import Reason, Status
from integration.models.carrier import Carrier
from integration.models.seller import Company, Seller, environment_field

LONGEST_CODE = 255
# The NF-e layout allows 15 characters for xPed, so marketplaces cut longer order ids to that.
CUT_REFERENCE = 15
NUMBER_SIGN = "#"  # Shopify's names of orders begin with it, invoices leave it out
LONGEST_REASON, LONGEST_PLACE = 255, 120
MOST_VOLUMES = 99
# How long the receiver's page is shown after the end of the order.
LINK_WORKS_FOR = timedelta(days=30)
# The path of receivers' pages, before the token. Not looked up in the URL map, because a worker that sends the address
# would load every view for it.
RECEIVERS_PAGES = "t/o/"
# Tokens of receivers' pages. Computed from the id, so that old orders have one too, and a new one costs no column, no
# index and no write.
_SALT = "integration.Order.tracking_url"
# Earlier tokens, the id and its signature, which are on labels and in e-mails.
_signer = signing.Signer(sep=".", salt=_SALT)
_LONGEST_TOKEN = 80
_LONGEST_NAMED = 100  # characters of an `orderId` that no order has
# Columns with personal data, and what they become when the order is forgotten, see `integration.actions.forgetting`.
_FORGOTTEN = {
    "receiver_name": EMPTY,
    "receiver_document": EMPTY,
    "receiver": FEWER_KEYS,
    "forgotten_at": SET_ONCE,
}

# What `integration.actions.orders.move` writes, and what `integration.webhooks.outbox` does.
MOVED = ["status", "promised_on", "delivered_at", "unrecorded_at"]
# What `integration.carriers.actions.assign` writes.
_ASSIGNED = ["carrier"]
# What `integration.actions.orders.create` writes of a cancelled order whose codes it uses again.
USED_AGAIN = ["code_reused", "tracking_code_reused"]
# What `integration.actions.orders.correct` writes of an order that waits for collection.
CORRECTED = [
    "service", "cost", "items", "stated_volumes", "receiver_name", "receiver_document", "receiver", "invoice_data",
    "invoice_key", "freight_centavos", "freight_days",
]  # fmt: skip  # a list of names
_MAY_BE_CORRECTED = "OLD.status = 'pending' AND NEW.status = 'pending' AND OLD.forgotten_at IS NULL"
_RECEIVER = ("receiver_name", "receiver_document", "receiver")
# What is written without a change of what sellers are shown.
_NOT_SHOWN = {"unrecorded_at"}
_SHOWN = [name for name in dict.fromkeys([*MOVED, "carrier_id", *_FORGOTTEN, *CORRECTED]) if name not in _NOT_SHOWN]
# Those that can be corrected and that no other trigger looks at, of the row before and after a change.
_OLD, _NEW = (", ".join(f"{row}.{name}" for name in CORRECTED if name not in _RECEIVER) for row in ("OLD", "NEW"))


_COMPACT = "UPPER(TRANSLATE(NORMALIZE(%(expressions)s, NFC), ' .-', ''))"


def compact_code(code: Any) -> Func:
    """A code, composed, in upper case without spaces, dots and dashes, which people write or leave out."""
    return Func(code, template=_COMPACT, output_field=TextField())


def compact_sql(code: str) -> str:
    """The same, of a column in a statement that is written in SQL."""
    return _COMPACT % {"expressions": code}


def compact_value(value: Any) -> Func:
    """What somebody looks for, an expression or text, as `compact_code`. NULL if there is nothing but such signs."""
    return NullIf(compact_code(Cast(value, TextField())), Value(""))


def meant_by(reference: Any) -> list[Any]:
    """As `compact_code`, the codes that an order reference means: alike, with or without a NUMBER_SIGN before them."""
    marked: Func = Func(
        compact_value(reference), template=f"('{NUMBER_SIGN}' || %(expressions)s)", output_field=TextField()
    )
    return [compact_value(reference), marked]


def references_to(code: Any) -> list[Any]:
    """As `compact_code`, the order references that mean a code: alike, with its NUMBER_SIGN or without it."""
    without: Func = Func(
        compact_value(code), Value(f"^{NUMBER_SIGN}(.+)$"), function="substring", output_field=TextField()
    )
    return [compact_value(code), without]


def leaves_out_sign(reference: str, code: str) -> bool:
    """Whether a reference that means a code (`meant_by`) leaves its NUMBER_SIGN out."""
    return reference.count(NUMBER_SIGN) < code.count(NUMBER_SIGN)


def beginning(code: str) -> str:
    """What a cut reference holds of an order's code, composed."""
    return composed(code)[:CUT_REFERENCE]


def _unit_weight(item: Mapping[str, Any]) -> Decimal:
    return Decimal(item["dimensions"].partition(",")[2])


def key_of_token(token: str) -> int | None:
    """The key of the order whose receiver's page has this token; None if none has."""
    if len(token) > _LONGEST_TOKEN:
        return None
    key = link_tokens.read(token, salt=_SALT)
    if key is not None:
        return key
    try:
        return int(_signer.unsign(token))
    except signing.BadSignature:
        return None


_SENT = f"nullif({compact_sql('sent.code')}, '')"
_ONLY_ALIKE, _ONLY_MEANT = (
    f"""
    SELECT sent.code, min(alike.order_id)
    FROM unnest(%s::text[]) AS sent (code) CROSS JOIN LATERAL (
        SELECT order_id FROM integration_searchcode
        WHERE seller_id = %s AND environment = %s AND kind = 'order' AND {compact_sql("value")} IN ({alike})
        LIMIT 2
    ) alike
    GROUP BY sent.code HAVING count(*) = 1
    """  # noqa: S608  # nosec B608  # constants
    for alike in (_SENT, f"{_SENT}, '{NUMBER_SIGN}' || {_SENT}")
)


def only_alike(seller_id: int, environment: str, codes: Collection[str]) -> dict[str, int]:
    """By code, the key of the seller's order whose `orderId` is alike (`compact_code`), where there is one only."""
    return _only(_ONLY_ALIKE, seller_id, environment, codes)


def only_meant(seller_id: int, environment: str, references: Collection[str]) -> dict[str, int]:
    """By reference (xPed), the same, also of an `orderId` with a NUMBER_SIGN before what is alike."""
    return _only(_ONLY_MEANT, seller_id, environment, references)


def _only(statement: str, seller_id: int, environment: str, codes: Collection[str]) -> dict[str, int]:
    with connection.cursor() as cursor:
        cursor.execute(statement, [[*codes], seller_id, environment])
        return dict(cursor.fetchall())


class OrderQuerySet(models.QuerySet["Order"]):
    def of(self, seller: Any, environment: Any) -> Self:
        """The orders of a seller, or the expression of one, in an environment."""
        return self.filter(seller=seller, environment=environment)

    def beginning_with(self, reference: Any) -> Self:
        """The orders whose code begins with a cut reference, which is an expression and composed.

        None whose code another one has by now.
        """
        return (
            self.filter(code_reused=False)
            .alias(beginning=Left(composed_column("code"), CUT_REFERENCE))
            .filter(beginning=reference)
        )

    def by_code(self, seller: Seller, environment: str, code: str) -> "Order":
        """The seller's order with this `orderId`; if there is none, the only one whose `orderId` is alike.

        Raises OrderNotFound.
        """
        (found,) = self.by_codes(seller, environment, [code])
        if isinstance(found, str):
            # With a slash it may be a path that no endpoint has, which is read as an `orderId`.
            raise OrderNotFound.named(code[:_LONGEST_NAMED]) if "/" in code else OrderNotFound
        return found

    def by_codes(self, seller: Seller, environment: str, sent: Sequence[str]) -> "list[Order | str]":
        """For each of these `orderId`s the seller's order, as `by_code` finds it, or the `orderId` that none has.

        Two statements more if there is no order with exactly one of them.
        """
        codes = [code for code in sent if "\0" not in code]  # which PostgreSQL refuses in a query
        own = self.of(seller, environment).filter(code_reused=False).order_by()
        # Of one code not by IN, nor sorted: PostgreSQL might then read sorted orders until one has the code.
        wanted = [spelling for code in codes for spelling in spellings(code)]
        if not wanted:
            return [*sent]
        exact = own.filter(code__in=wanted) if len(wanted) > 1 else own.filter(code=wanted[0])
        by_code = {order.code: order for order in exact}
        # The code as it was sent comes last, so that it goes before its other spellings.
        found = {code: by_code[each] for code in codes for each in reversed(spellings(code)) if each in by_code}
        if missing := [code for code in codes if code not in found]:
            keys = only_alike(seller.pk, environment, missing)
            alike = own.in_bulk(keys.values()) if keys else {}
            found |= {code: alike[key] for code, key in keys.items()}
        return [found.get(code, code) for code in sent]


class Order(models.Model):
    """A purchase to be shipped. The integer id is the shipping id, and the `order_id` of status logs.

    Triggers refuse changes of all fields but the status and what is set with it, which only
    `integration.actions.orders` writes, the carrier, and while it waits for collection what can be corrected.
    """

    seller = models.ForeignKey(
        Seller, verbose_name=_("seller"), on_delete=models.PROTECT, related_name="orders", db_index=False
    )
    environment = environment_field()
    company = models.ForeignKey(Company, verbose_name=_("company"), on_delete=models.PROTECT, related_name="orders")
    code = not_personal(models.CharField(_("orderId"), max_length=LONGEST_CODE))
    tracking_code = not_personal(models.CharField(_("tracking code"), max_length=LONGEST_CODE))
    # Whether an order that was created later has its code, or its tracking code: it was cancelled before it was
    # collected. Whoever looks an order up by one of them means the later one.
    code_reused = models.BooleanField(default=False, db_default=False, editable=False)
    tracking_code_reused = models.BooleanField(default=False, db_default=False, editable=False)
    status = models.CharField(
        _("status"), max_length=16, choices=[(s.value, words.STATUSES[s]) for s in Status], default=Status.PENDING.value
    )
    service = not_personal(models.CharField(_("service"), max_length=5))
    cost = models.DecimalField(_("cost"), max_digits=16, decimal_places=4)
    items = not_personal(models.JSONField(_("items"), encoder=DjangoJSONEncoder))
    # None of orders from before they could say it, see `volumes`.
    stated_volumes = models.SmallIntegerField(_("volumes"), null=True, editable=False)
    receiver_name = personal(models.CharField(_("receiver"), max_length=255))
    receiver_document = personal(models.CharField(_("receiver's document"), max_length=255, blank=True))
    receiver = personal(models.JSONField(_("receiver as sent"), encoder=DjangoJSONEncoder))
    invoice_data = not_personal(models.JSONField(_("invoice as sent"), null=True, encoder=DjangoJSONEncoder))
    invoice_key = not_personal(models.CharField(_("invoice key"), max_length=LONGEST_CODE, blank=True))
    # The quote of the moment of the creation: centavos and business days. None without an origin or a rate.
    freight_centavos = models.BigIntegerField(_("freight"), null=True, editable=False)
    freight_days = models.SmallIntegerField(_("deadline (business days)"), null=True, editable=False)
    # Set when the parcel leaves the seller: `freight_days` after that day.
    promised_on = not_personal(models.DateField(_("promised for"), null=True, editable=False))
    delivered_at = models.DateTimeField(_("delivered at"), null=True, editable=False)
    # The moment of the last entry of its log, if that has no event because no endpoint had a URL.
    unrecorded_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(_("created at"))
    created_by = personal(models.CharField(_("created by"), max_length=200))
    updated_at = updates.updated_at()
    forgotten_at = models.DateTimeField(_("anonymised at"), null=True, editable=False)
    carrier = models.ForeignKey(
        Carrier,
        verbose_name=_("carrier"),
        on_delete=models.PROTECT,
        null=True,
        editable=False,
        related_name="orders",
        db_index=False,
    )

    objects = OrderQuerySet.as_manager()

    class Meta:
        verbose_name = _("order")
        verbose_name_plural = _("orders")
        ordering = ["-id"]
        permissions = [
            ("assign_order", "Can assign orders to carriers"),
            ("scan_order", _("Can scan the parcels of orders")),
        ]
        constraints = [
            # Of expressions, so that they are indexes alone, which a migration can make while the table is in use.
            models.UniqueConstraint(
                "seller", "environment", "code", condition=Q(code_reused=False), name="one_order_per_code_in_use"
            ),
            models.UniqueConstraint(
                "seller",
                "environment",
                "tracking_code",
                condition=Q(tracking_code_reused=False),
                name="one_order_per_tracking_code_in_use",
            ),
            models.CheckConstraint(
                name="order_with_reused_codes_is_cancelled",
                condition=Q(code_reused=False, tracking_code_reused=False) | Q(status=Status.CANCELLED.value),
            ),
            one_of("order_environment", "environment", Environment.values),
            models.CheckConstraint(name="order_cost_not_negative", condition=models.Q(cost__gte=0)),
            models.CheckConstraint(
                name="order_volumes_in_range",
                condition=Q(stated_volumes=None) | Q(stated_volumes__range=(1, MOST_VOLUMES)),
            ),
            models.CheckConstraint(
                name="order_freight_is_whole",
                condition=Q(freight_centavos=None, freight_days=None, promised_on=None)
                | Q(freight_centavos__isnull=False, freight_days__isnull=False),
            ),
        ]
        indexes = [
            # They end with the primary key, so that a page's keys are read from the index alone.
            models.Index(fields=["seller", "environment", "-created_at", "-id"], name="order_newest"),
            models.Index(fields=["seller", "environment", "status", "-created_at", "-id"], name="order_with_status"),
            # What else the list selects by is read from the index too, where few of many changed rows fit.
            models.Index(
                fields=["seller", "environment", "updated_at", "id"],
                include=["status", "created_at"],
                name="order_updated",
            ),
            models.Index(fields=["seller", "environment", "cost", "id"], name="order_cost"),
            models.Index(fields=["seller", "environment", "receiver_document", "-id"], name="order_receiver"),
            models.Index(fields=["seller", "environment", "invoice_key"], name="order_invoice_key"),
            models.Index(
                "seller",
                "environment",
                Left(composed_column("code"), CUT_REFERENCE),
                name="order_beginning_of_code",
            ),
            models.Index(
                fields=["seller", "environment", "unrecorded_at"],
                name="order_unrecorded",
                condition=Q(unrecorded_at__isnull=False),
            ),
            models.Index(fields=["carrier", "-id"], name="order_of_carrier", condition=Q(carrier__isnull=False)),
            # The codes that are equal when compact, and among them the one that is equal as it is.
            models.Index(compact_code("tracking_code"), "tracking_code", name="order_scanned_code"),
            # Filters of the admin's list; of live orders, which most are, the primary key finds a page.
            models.Index(fields=["status", "-id"], name="order_by_status"),
            models.Index(fields=["-id"], name="order_of_sandbox", condition=Q(environment=Environment.SANDBOX)),
            models.Index(fields=["created_at"], name="order_to_forget", condition=Q(forgotten_at__isnull=True)),
            models.Index(phone_key("receiver__phone"), name="order_phone", condition=Q(receiver__has_key="phone")),
            models.Index(
                phone_key("receiver__cellphone"), name="order_cellphone", condition=Q(receiver__has_key="cellphone")
            ),
            unusual_phones("receiver__phone", name="order_unusual_phone"),
            unusual_phones("receiver__cellphone", name="order_unusual_cellphone"),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="order_immutable", exclude=["updated_at", *MOVED, *_ASSIGNED, *_FORGOTTEN, *CORRECTED, *USED_AGAIN]
            ),
            pgtrigger.Protect(
                name="order_corrected_while_pending",
                operation=pgtrigger.Update,
                condition=pgtrigger.Condition(f"(({_OLD}) IS DISTINCT FROM ({_NEW}) AND NOT ({_MAY_BE_CORRECTED}))"),
            ),
            read_only_but_forgotten("order_forgotten", _FORGOTTEN, unless=dict.fromkeys(_RECEIVER, _MAY_BE_CORRECTED)),
            updates.set_by_updates("order_updated", *_SHOWN),
            pgtrigger.Protect(name="order_kept", operation=pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return self.code

    @property
    def freight(self) -> Price | None:
        """What the shipment costs and how long it takes, as quoted when the order was created."""
        if self.freight_centavos is None or self.freight_days is None:
            return None
        return Price(amount=self.freight_centavos, deadline=self.freight_days)

    @property
    def freight_reais(self) -> Decimal | None:
        return None if self.freight_centavos is None else Decimal(self.freight_centavos) / 100

    @property
    def package(self) -> Package:
        """One of the volumes that its freight was quoted for."""
        value = (self.invoice_data or {}).get("value")
        declared = self.cost if value is None else Decimal(str(value))
        return package_of(self.items, declared=declared, volumes=self.freight_volumes)

    @property
    def freight_volumes(self) -> int:
        """For how many volumes its freight was quoted. Before orders could say how many they are, it was for one."""
        return self.stated_volumes or 1

    def stated_value(self, access_key: str) -> Decimal | None:
        """The value that the order states for the invoice with this key, in reais, unless it names another one."""
        value = (self.invoice_data or {}).get("value") if self.invoice_key in ("", access_key) else None
        return None if value is None else Decimal(str(value))

    @property
    def differing_invoices(self) -> list[models.Model]:
        """Its invoices whose value is not that of their orders. Reads what `Invoice.differs` needs of each link."""
        return [link.invoice for link in self.invoice_links.all() if link.invoice.differs]

    @property
    def is_late(self) -> bool:
        """Whether it was delivered after the promised day, or is on its way after it."""
        if self.promised_on is None or self.status in (Status.RETURNED, Status.CANCELLED):
            return False
        return timezone.localdate(self.delivered_at) > self.promised_on

    @property
    def possible_carriers(self) -> models.QuerySet[Carrier]:
        """Those that it may be assigned to, with its own."""
        return Carrier.objects.filter(Q(active=True) | Q(pk=self.carrier_id))

    @property
    def tracking_url(self) -> str:
        """The receiver's page. Whoever has the address can see it, see `link_works`."""
        return f"{settings.SITE_URL}/{RECEIVERS_PAGES}{link_tokens.make(self.pk, salt=_SALT)}"

    @staticmethod
    def find_by_token(token: str) -> "Order | None":
        """The order whose receiver's page has this token, with its seller and status log, or None."""
        key = key_of_token(token)
        if key is None:
            return None
        return Order.objects.select_related("seller").prefetch_related("status_log").filter(pk=key).first()

    def link_works(self, *, at: datetime) -> bool:
        """Whether the receiver's page is shown still. Reads the status log."""
        last = list(self.status_log.all())[-1].created_at
        end = last if self.status in lifecycle.CLOSED else last + lifecycle.ENDS_AFTER
        return self.forgotten_at is None and at < end + LINK_WORKS_FOR

    @property
    def zone(self) -> ZoneInfo:
        """The time zone of the receiver."""
        return zones.of_address(self.receiver.get("address") or {})

    @property
    def volumes(self) -> int:
        """In how many boxes it leaves. Before orders could say it, each unit of an item was one, and stays so."""
        if self.stated_volumes is not None:
            return self.stated_volumes
        return sum(item["quantity"] for item in self.items)

    @property
    def weights(self) -> Iterator[Decimal]:
        """Of its volumes, in kilograms: equal parts of the order's. Without `stated_volumes`, those of the units."""
        if self.stated_volumes is not None:
            yield from repeat(self.weight / self.stated_volumes, self.stated_volumes)
            return
        for item in self.items:
            yield from repeat(_unit_weight(item), item["quantity"])

    @property
    def weight(self) -> Decimal:
        """Of all its volumes, in kilograms."""
        return sum((_unit_weight(item) * item["quantity"] for item in self.items), Decimal())

    @property
    def parcels(self) -> list[dict[str, Any]]:
        """The items, with the sides in centimetres and the weight in kilograms. `dimensions` is `10x20x30,1.5`."""
        parcels = []
        for item in self.items:
            sides, _comma, weight = item["dimensions"].partition(",")
            numbers = {"price": Decimal(str(item["price"])), "weight": Decimal(weight)}
            parcels.append({**item, **numbers, "sides": " × ".join(sides.split("x"))})  # noqa: RUF001  # between lengths
        return parcels


class Correction(models.Model):
    """A correction of an order. Append-only: it stands beside the log, whose entries are events."""

    order = models.ForeignKey(Order, verbose_name=_("order"), on_delete=models.PROTECT, related_name="corrections")
    # Dotted paths of the keys whose values are others, such as receiver.address.streetNumber.
    fields = not_personal(ArrayField(models.CharField(max_length=LONGEST_CODE), verbose_name=_("corrected")))
    corrected_at = models.DateTimeField(_("corrected at"))
    corrected_by = personal(models.CharField(_("corrected by"), max_length=200))

    class Meta:
        verbose_name = _("correction")
        verbose_name_plural = _("corrections")
        ordering = ["id"]
        triggers = [pgtrigger.Protect(name="correction_append_only", operation=pgtrigger.Update | pgtrigger.Delete)]

    def __str__(self) -> str:
        return ", ".join(self.parts)

    @property
    def parts(self) -> list[str]:
        """What was corrected, in the reader's language, each with the keys within it: Receiver (address.city)."""
        inner: dict[str, list[str]] = {}
        for path in self.fields:
            part, _dot, rest = path.partition(".")
            inner.setdefault(part, []).extend(filter(None, [rest]))
        return [
            f"{words.CORRECTED[part]} ({', '.join(keys)})" if keys else str(words.CORRECTED[part])
            for part, keys in inner.items()
        ]


class StatusLog(models.Model):
    """One change of an order's status. Append-only: triggers refuse deletion, and updates but to forget its texts."""

    order = models.ForeignKey(Order, verbose_name=_("order"), on_delete=models.PROTECT, related_name="status_log")
    company = models.ForeignKey(Company, verbose_name=_("company"), on_delete=models.PROTECT, related_name="+")
    status = models.CharField(_("status"), max_length=16, choices=[(s.value, words.STATUSES[s]) for s in Status])
    via_api = models.BooleanField(_("by the seller's call"))
    by = personal(models.CharField(_("by"), max_length=200))
    created_at = models.DateTimeField(_("created at"))
    updated_at = models.DateTimeField(_("updated at"))
    reason_code = models.CharField(
        _("reason"),
        max_length=18,
        choices=[(code.value, text) for code, text in words.REASONS.items()],
        blank=True,
        db_default="",
    )
    reason = personal(models.CharField(_("reason in words"), max_length=LONGEST_REASON, blank=True, db_default=""))
    place = personal(models.CharField(_("place"), max_length=LONGEST_PLACE, blank=True, db_default=""))
    # When it happened; None if that is when it was recorded.
    happened_at = models.DateTimeField(_("happened at"), null=True)

    class Meta:
        verbose_name = _("status log entry")
        verbose_name_plural = _("status log")
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                name="status_log_reason_of_a_failure",
                condition=Q(reason_code="", reason="") | Q(status__in=[s.value for s in lifecycle.WITH_REASON]),
            ),
            one_of("status_log_reason_code", "reason_code", ["", *(code.value for code in Reason)]),
        ]
        triggers = [
            pgtrigger.ReadOnly(name="status_log_append_only", exclude=["reason", "place"]),
            read_only_but_forgotten("status_log_forgotten", {"reason": EMPTY, "place": EMPTY}),
            pgtrigger.Protect(name="status_log_kept", operation=pgtrigger.Delete),
        ]

    def __str__(self) -> str:
        return self.get_status_display()

    @property
    def occurred_at(self) -> datetime:
        return self.happened_at or self.created_at


class SearchCodeQuerySet(models.QuerySet["SearchCode"]):
    def alike(self, value: Any) -> Self:
        """Those that are the value without regard to case, spaces, dots and dashes."""
        return self.alias(compact=compact_code("value")).filter(compact=compact_value(value))

    def meant_by(self, reference: Any) -> Self:
        """Those that an order reference means if it is none exactly, as `only_meant` says."""
        return self.alias(compact=compact_code("value")).filter(compact__in=meant_by(reference))

    def of_all(self) -> Self:
        """Of every seller, in a form in which the indexes, which begin with the seller, serve."""
        return self.filter(seller__in=Seller.objects.order_by().values("pk"), environment__in=Environment.values)

    def named(self, text: str) -> Self:
        """Those that are exactly the text; if there are none, those that are alike. Executes a statement."""
        exact = self.filter(value=text)
        return exact if exact.exists() else self.alike(Value(text))

    def any_named(self, texts: Collection[str]) -> Self:
        """For each of the texts, those that `named` finds. Executes a statement."""
        exact = {*self.filter(value__in=texts).values_list("value", flat=True)}
        others = [compact_value(Value(text)) for text in texts if text not in exact]
        if not others:
            return self.filter(value__in=exact)
        alike = self.alias(compact=compact_code("value"))
        return alike.filter(Q(compact__in=others) | Q(value__in=exact)) if exact else alike.filter(compact__in=others)


class SearchCode(models.Model):
    """One value by which a tracking query finds an order. One table holds all kinds, so one index serves the query."""

    class Kind(models.TextChoices):
        TRACKING_CODE = "tracking_code", _("Tracking code")
        ORDER = "order", _("orderId")
        SHIPPING = "shipping", _("Shipping id")
        INVOICE_KEY = "invoice_key", _("Invoice key")
        INVOICE_NUMBER = "invoice_number", _("Invoice number")
        OTHER = "other", _("Auxiliary code")

    seller = models.ForeignKey(Seller, on_delete=models.CASCADE, related_name="+", db_index=False)
    environment = environment_field()  # the order's
    order = models.ForeignKey(
        Order, verbose_name=_("order"), on_delete=models.CASCADE, related_name="codes", db_index=False
    )
    kind = models.CharField(_("kind"), max_length=14, choices=Kind, default=Kind.OTHER)
    value = not_personal(models.CharField(_("value"), max_length=LONGEST_CODE))

    objects = SearchCodeQuerySet.as_manager()

    class Meta:
        verbose_name = _("code")
        verbose_name_plural = _("codes")
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["order", "kind", "value"], name="one_search_code")]
        indexes = [
            models.Index(fields=["seller", "environment", "value", "-order"], name="search_code_equal"),
            models.Index("seller", "environment", compact_code("value"), F("order").desc(), name="search_code_alike"),
            # A scanned access key, of which no seller is known.
            models.Index(fields=["value"], name="search_code_invoice_key", condition=Q(kind="invoice_key")),
        ]

    def __str__(self) -> str:
        return self.value
