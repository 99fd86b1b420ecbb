"""Shops of sellers whose platform posts its orders, what they posted lately, and the orders that are taken."""

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
from integration import words
from integration.models import Company, Order, Seller

DEFAULT_DIMENSIONS = "20x15x10,1"
_LONGEST_DIMENSIONS = 40
TEST_ORDER, PAYS_AT_DOOR = "test_order", "pays_at_door"
# What may pass by itself or is for people to say, so that they can make the order as it is.
_PASSING = frozenset(("account_suspended", "too_many_simulations", PAYS_AT_DOOR))


class Connection(ShopConnection):
    """A shop of a seller. Its orders are sent by `company` with `service`.

    `dimensions`: of items whose size or weight the platform does not send, as the API takes them.
    """

    seller = models.ForeignKey(
        Seller,
        verbose_name=_("seller"),
        on_delete=models.CASCADE,
        related_name="connections",
        db_index=False,  # an index begins with this column
    )
    company = models.ForeignKey(
        Company, verbose_name=_("company"), null=True, on_delete=models.SET_NULL, related_name="+"
    )
    service = not_personal(models.CharField(_("service"), max_length=5))
    dimensions = not_personal(
        models.CharField(_("dimensions"), max_length=_LONGEST_DIMENSIONS, default=DEFAULT_DIMENSIONS)
    )

    api_path = "/api/integration/connections/"

    class Meta:
        default_permissions = ()
        ordering = ["name"]
        constraints = [
            *known_connections("seller_connection"),
            one_of("seller_connection_service", "service", words.ORDER_SERVICES),
        ]
        indexes = [models.Index(fields=["seller", "environment", "created_at"], name="connection_of_seller")]

    @staticmethod
    def find(key: str) -> "Connection | None":
        """The connection that an address ends with, if it is not removed."""
        return _BY_KEY.first(key=key) if is_key(key) else None


_BY_KEY = CompiledQuery(
    lambda: (
        Connection.objects.select_related("seller", "company")
        .filter(pk=Parameter("key"), removed_at=None)
        .order_by()[:1]
    )
)


class Draft(ShopDraft):
    """An order of a shop that becomes an order. The unique constraint allows one for each order of the platform.

    `payload`: as the API takes an order, as far as it is known. `price`: its freight in reais; None without one.
    `pays_at_door`: carriers do not ask for the money, so that people decide about it.
    """

    connection = models.ForeignKey(Connection, on_delete=models.CASCADE, related_name="drafts", db_index=False)
    # That of the connection, for the lists.
    seller = models.ForeignKey(Seller, on_delete=models.CASCADE, related_name="+", db_index=False)
    price = models.DecimalField(_("freight"), max_digits=12, decimal_places=2, null=True)
    pays_at_door = models.BooleanField(default=False, db_default=False)
    made = models.OneToOneField(Order, null=True, on_delete=models.CASCADE, related_name="+")
    receiver_document = personal(models.CharField(max_length=255, blank=True))

    class Meta:
        default_permissions = ()
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(fields=["connection", "order_id"], name="one_seller_draft_per_order_of_a_shop"),
            *known_drafts("seller_draft"),
            models.CheckConstraint(
                name="seller_draft_requested_with_order",
                condition=Q(status=DraftStatus.REQUESTED, made__isnull=False)
                | (~Q(status=DraftStatus.REQUESTED) & Q(made=None)),
            ),
            models.CheckConstraint(
                name="seller_draft_open_until_it_ends",
                condition=Q(status=DraftStatus.OPEN, ended_at=None)
                | (~Q(status=DraftStatus.OPEN) & Q(ended_at__isnull=False)),
            ),
        ]
        indexes = [
            models.Index(fields=["seller", "environment", "-created_at", "-id"], name="seller_draft_newest"),
            models.Index(
                fields=["seller", "environment", "status", "-created_at", "-id"], name="seller_draft_by_status"
            ),
            models.Index(fields=["ended_at"], name="seller_draft_to_forget", condition=Q(forgotten_at=None)),
            models.Index(phone_key("contact_phone"), name="seller_draft_phone", condition=~Q(contact_phone="")),
            unusual_phones("contact_phone", name="seller_draft_unusual_phone"),
            models.Index(
                fields=["receiver_document"], name="seller_draft_document", condition=~Q(receiver_document="")
            ),
        ]

    @property
    def answered_id(self) -> str:
        return self.external_id if self.made_id else str(self.pk)  # the code of its order

    @property
    def receiver(self) -> dict[str, Any]:
        """As the API takes it; empty once it was anonymised."""
        found: dict[str, Any] = self.payload.get("receiver", {})
        return found

    @property
    def is_ready(self) -> bool:
        """Whether an order can be made of it as it is."""
        return self.is_open and _PASSING.issuperset(self.missing)

    @property
    def can_be_made(self) -> bool:
        """Whether people can make an order of it, once they have filled in what is missing."""
        return self.is_open and bool(self.payload) and TEST_ORDER not in self.missing


class Reception(ShopReception):
    connection = models.ForeignKey(Connection, on_delete=models.CASCADE, related_name="receptions", db_index=False)
    draft = models.ForeignKey(Draft, null=True, on_delete=models.SET_NULL, related_name="+")

    class Meta:
        default_permissions = ()
        ordering = ["-id"]
        indexes = [models.Index(fields=["connection", "-id"], name="seller_reception_newest")]
