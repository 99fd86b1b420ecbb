from django.db import models

from common.fields import one_of
from common.idempotency import IdempotencyRecord as AbstractRecord
from delivery.models.integrator import Environment, Integrator


class IdempotencyRecord(AbstractRecord):
    """The answer to a call of an account's environment with an Idempotency-Key. Kept for 24 hours."""

    integrator = models.ForeignKey(Integrator, on_delete=models.CASCADE, related_name="+", db_index=False)
    environment = models.CharField(max_length=7, choices=Environment)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["integrator", "environment", "endpoint", "key"], name="one_answer_per_idempotency_key"
            ),
            one_of("idempotency_environment", "environment", Environment.values),
        ]
