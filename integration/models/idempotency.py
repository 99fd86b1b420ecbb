from django.db import models

from common.idempotency import IdempotencyRecord as AbstractRecord
from integration.models.seller import Seller


class IdempotencyRecord(AbstractRecord):
    """The answer to a seller's call with an Idempotency-Key. Kept for 24 hours."""

    seller = models.ForeignKey(Seller, on_delete=models.CASCADE, related_name="+", db_index=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["seller", "endpoint", "key"], name="one_order_answer_per_idempotency_key"),
        ]
