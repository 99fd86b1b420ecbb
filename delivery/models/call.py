"""Calls of the API that are kept: those answered under an Idempotency-Key, and refused ones."""

from django.db import models

from common.accounts import Environment
from common.api.idempotency import IdempotencyRecord as AbstractRecord
from common.api.refused_calls import Recorder, RefusedCall, RefusedCallCount
from common.fields import one_of
from common.observability.masking import Keys
from delivery.models.integrator import Integrator

_KEYS = Keys(
    codes=frozenset(
        {
            "vehicleType", "deliveryMode", "externalId", "state", "country", "quantity", "weight", "height", "width",
            "length", "status", "createdFrom", "createdTo", "updatedFrom", "limit", "cursor", "after", "point", "move",
            "deliveryId", "from",
        }
    ),
    postcodes=frozenset({"zipcode"}),
    coordinates=frozenset({"latitude", "longitude"}),
)  # fmt: skip  # a list of names


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


class RefusedDeliveryCall(RefusedCall):
    """A refused call with a token."""

    integrator = models.ForeignKey(Integrator, on_delete=models.CASCADE, related_name="+", db_index=False)
    environment = models.CharField(max_length=7, choices=Environment)

    class Meta:
        constraints = [one_of("refused_call_environment", "environment", Environment.values)]
        indexes = [
            models.Index(fields=["integrator", "environment", "-created_at", "-id"], name="refused_call_newest"),
            models.Index(fields=["created_at"], name="refused_call_oldest"),
        ]


class RefusedDeliveryCallCount(RefusedCallCount):
    """The number of refused calls of an account in one environment within an hour."""

    integrator = models.ForeignKey(Integrator, on_delete=models.CASCADE, related_name="+", db_index=False)
    environment = models.CharField(max_length=7, choices=Environment)

    class Meta:
        constraints = [
            one_of("refused_count_environment", "environment", Environment.values),
            models.UniqueConstraint(fields=["integrator", "environment", "hour"], name="refused_count_of_hour"),
        ]
        indexes = [models.Index(fields=["hour"], name="refused_count_oldest")]


RECORDER = Recorder(RefusedDeliveryCall, RefusedDeliveryCallCount, owner=("integrator_id", "environment"), keys=_KEYS)
