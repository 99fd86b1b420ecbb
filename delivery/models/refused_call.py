from django.db import models

from common.constraints import one_of
from common.refused_calls import RefusedCall, RefusedCallCount
from delivery.models.integrator import Environment, Integrator


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

    def __str__(self) -> str:
        return f"{self.method} {self.path}: {self.status}"


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

    def __str__(self) -> str:
        return f"{self.hour}: {self.refused}"
