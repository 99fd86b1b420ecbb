"""Calls of the API that are kept: those answered under an Idempotency-Key, and refused ones."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from common.api.idempotency import IdempotencyRecord as AbstractRecord
from common.api.refused_calls import Recorder, RefusedCall, RefusedCallCount
from common.fields import not_personal
from common.observability.masking import Keys
from integration.models.carrier import Carrier
from integration.models.seller import Seller, environment_field

_KEYS = Keys(
    codes=frozenset(
        {
            "orderId", "trackingCode", "service", "orderCost", "price", "quantity", "dimensions", "state", "type",
            "weight", "height", "width", "length", "declared_amount", "status", "createdFrom", "createdTo",
            "updatedFrom", "limit", "cursor", "after", "from", "eventId", "occurredAt", "code",
        }
    ),
    postcodes=frozenset({"origin", "destination", "zipCode"}),
    coordinates=frozenset(),
)  # fmt: skip  # a list of names


class IdempotencyRecord(AbstractRecord):
    """The answer to a seller's call with an Idempotency-Key. Kept for 24 hours."""

    seller = models.ForeignKey(Seller, on_delete=models.CASCADE, related_name="+", db_index=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["seller", "endpoint", "key"], name="one_order_answer_per_idempotency_key"),
        ]


class RefusedSellerCall(RefusedCall):
    """A refused call with a key."""

    seller = models.ForeignKey(Seller, on_delete=models.CASCADE, related_name="+", db_index=False)
    environment = environment_field()

    class Meta:
        indexes = [
            models.Index(fields=["seller", "environment", "-created_at", "-id"], name="refused_seller_call_newest"),
            models.Index(fields=["created_at"], name="refused_seller_call_oldest"),
        ]


class RefusedSellerCallCount(RefusedCallCount):
    """The number of refused calls of a seller in one environment within an hour."""

    seller = models.ForeignKey(Seller, on_delete=models.CASCADE, related_name="+", db_index=False)
    environment = environment_field()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "seller",  # of expressions, as the constraints of orders
                "environment",
                "hour",
                name="refused_seller_count_of_environment",
            )
        ]
        indexes = [models.Index(fields=["hour"], name="refused_seller_count_oldest")]


class RefusedCarrierCall(RefusedCall):
    """A refused call with a carrier key."""

    credential = not_personal(models.CharField(max_length=24))  # the hint of a carrier key is longer than others
    carrier = models.ForeignKey(Carrier, on_delete=models.CASCADE, related_name="+", db_index=False)

    class Meta:
        verbose_name = _("refused call of a carrier")
        verbose_name_plural = _("refused calls of carriers")
        ordering = ["-created_at"]
        indexes = [
            models.Index(fields=["carrier", "-created_at", "-id"], name="refused_carrier_call_newest"),
            models.Index(fields=["created_at"], name="refused_carrier_call_oldest"),
        ]


class RefusedCarrierCallCount(RefusedCallCount):
    """The number of refused calls of a carrier within an hour."""

    carrier = models.ForeignKey(Carrier, on_delete=models.CASCADE, related_name="+", db_index=False)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["carrier", "hour"], name="refused_carrier_count_of_hour")]
        indexes = [models.Index(fields=["hour"], name="refused_carrier_count_oldest")]


RECORDER = Recorder(RefusedSellerCall, RefusedSellerCallCount, owner=("seller_id", "environment"), keys=_KEYS)
CARRIER_RECORDER = Recorder(RefusedCarrierCall, RefusedCarrierCallCount, owner=("carrier_id",), keys=_KEYS)
