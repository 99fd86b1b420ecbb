from uuid import UUID

import pgtrigger
from django.contrib.postgres.indexes import BrinIndex
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common.compiled_queries import CompiledQuery, Parameter
from common.fields import one_of
from common.forgetting import REDACTED, read_only_but_forgotten
from common.webhooks.models import (
    IS_DEAD,
    Endpoint,
    Event,
    EventQuerySet,
    EventState,
    off_has_its_reason,
    writes_dead_since,
)
from delivery import words
from delivery.lifecycle import Status
from delivery.models.delivery import Delivery
from delivery.models.ids import Identified
from delivery.models.integrator import Environment, Integrator


class WebhookEndpoint(Endpoint):
    """Where an integrator receives events, one for each environment. Without a URL nothing is sent."""

    integrator = models.ForeignKey(
        Integrator,
        verbose_name=_("integrator"),
        on_delete=models.CASCADE,
        related_name="endpoints",
        db_index=False,  # an index begins with this column
    )
    environment = models.CharField(_("environment"), max_length=7, choices=Environment)

    class Meta:
        verbose_name = _("webhook endpoint")
        verbose_name_plural = _("webhook endpoints")
        ordering = ["integrator", "environment"]
        constraints = [
            models.UniqueConstraint(fields=["integrator", "environment"], name="one_endpoint_per_environment"),
            one_of("endpoint_environment", "environment", Environment.values),
            off_has_its_reason("endpoint_off_has_its_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.integrator}, {self.get_environment_display()}"

    @staticmethod
    def of(integrator_id: UUID, environment: str) -> "WebhookEndpoint":
        """The endpoint of this account and environment, which each account has. Raises DoesNotExist."""
        endpoint = _OF_ACCOUNT.first(integrator=integrator_id, environment=environment)
        if endpoint is None:
            raise WebhookEndpoint.DoesNotExist(f"Account {integrator_id} has no endpoint for {environment}.")
        return endpoint


_OF_ACCOUNT = CompiledQuery(
    lambda: WebhookEndpoint.objects.filter(
        integrator=Parameter("integrator"), environment=Parameter("environment")
    ).order_by()
)


class WebhookEventQuerySet(EventQuerySet["WebhookEvent"]):
    """Events of deliveries."""


class WebhookEvent(Identified, Event):
    """The outbox: one change of one delivery, written in the transaction of the change. `id` is the `webhook-id`.

    A test event has no delivery.
    """

    delivery = models.ForeignKey(
        Delivery,
        verbose_name=_("delivery"),
        on_delete=models.CASCADE,
        related_name="events",
        null=True,
        db_index=False,  # an index begins with this column
    )
    endpoint = models.ForeignKey(
        WebhookEndpoint,
        verbose_name=_("endpoint"),
        on_delete=models.CASCADE,
        related_name="events",
        db_index=False,  # the index `event_log` begins with this column
    )
    sequence = models.PositiveIntegerField(_("sequence"), help_text=_("1, 2, 3 … within the delivery."))
    name = models.CharField(_("event"), max_length=9, choices=[(s.value, words.STATUSES[s]) for s in Status])
    # Assigned by `delivery.webhooks.feed` when the event is first read; None before.
    feed_position = models.BigIntegerField(null=True, editable=False)

    objects = WebhookEventQuerySet.as_manager()

    class Meta:
        verbose_name = _("webhook event")
        verbose_name_plural = _("webhook events")
        ordering = ["-created_at", "-sequence"]
        constraints = [
            models.UniqueConstraint(fields=["delivery", "sequence"], name="one_event_per_sequence"),
            models.UniqueConstraint(
                fields=["endpoint", "feed_position"],
                name="one_event_per_feed_position",
                condition=Q(feed_position__isnull=False),
            ),
            one_of("event_state", "state", EventState.values),
        ]
        triggers = [
            pgtrigger.ReadOnly(
                name="event_body_immutable", fields=["delivery", "endpoint", "sequence", "name", "created_at"]
            ),
            read_only_but_forgotten("event_body_forgotten", {"body": REDACTED}),
            writes_dead_since("event_dead_since"),
        ]
        # A B-tree on `state` would be updated for every event that is sent. With a block range index the update of the
        # row stays within its page (heap-only tuple), and the index is selective enough for the rare states.
        indexes = [
            models.Index(fields=["endpoint", "-created_at"], name="event_log"),
            models.Index(
                fields=["endpoint", "created_at"],
                name="event_without_position",
                condition=Q(feed_position__isnull=True, delivery__isnull=False),
            ),
            models.Index(fields=["endpoint", "-created_at", "-id"], name="event_dead_log", condition=IS_DEAD),
            models.Index(fields=["-id"], name="event_dead_newest", condition=IS_DEAD),
            BrinIndex(fields=["created_at", "state"], name="event_age_and_state", pages_per_range=32),
        ]

    def __str__(self) -> str:
        return f"{self.get_name_display()}, {self.sequence}"

    @property
    def is_test(self) -> bool:
        return self.delivery_id is None
