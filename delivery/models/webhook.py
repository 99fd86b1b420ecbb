from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from common.fields import not_personal
from common.webhooks.models import (
    Attempt,
    AttemptQuerySet,
    Endpoint,
    EndpointQuerySet,
    Event,
    EventQuerySet,
    QueueItem,
    attempt_indexes,
    endpoint_constraints,
    event_constraints,
    event_indexes,
    event_triggers,
    item_constraints,
    item_indexes,
)
from delivery import words
from delivery.lifecycle import Status
from delivery.models.delivery import Delivery
from delivery.models.integrator import Integrator

_STATUSES = [(status.value, words.STATUSES[status]) for status in Status]


class WebhookEndpointQuerySet(EndpointQuerySet["WebhookEndpoint"]):
    """Endpoints of integrators."""


class WebhookEndpoint(Endpoint):
    """Where an integrator receives events."""

    OWNER = "integrator"

    integrator = models.ForeignKey(
        Integrator,
        verbose_name=_("account"),
        on_delete=models.CASCADE,
        related_name="endpoints",
        db_index=False,  # an index begins with this column
    )
    statuses = ArrayField(
        models.CharField(max_length=9, choices=_STATUSES),
        verbose_name=_("filter"),
        default=list,
        db_default=[],
        blank=True,
        help_text=_("Events with these statuses are sent. None: all events."),
    )

    objects = WebhookEndpointQuerySet.as_manager()

    class Meta:
        verbose_name = _("webhook endpoint")
        verbose_name_plural = _("webhook endpoints")
        ordering = ["integrator", "environment", "number"]
        constraints = endpoint_constraints(owner="integrator", statuses=[s.value for s in Status])

    def shown_authorization(self, hint: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {hint}"}


class WebhookEventQuerySet(EventQuerySet["WebhookEvent"]):
    """Events of deliveries."""


class WebhookEvent(Event):
    """The outbox: one change of one delivery for one endpoint, see Event."""

    SUBJECT = "delivery"

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
    name = models.CharField(_("event"), max_length=9, choices=_STATUSES)
    # The header `Rota-Failure`: a drop-off and why it failed, such as `b=ABSENT`. Empty for other changes.
    failure = not_personal(models.CharField(max_length=25, blank=True, default="", db_default="", editable=False))

    objects = WebhookEventQuerySet.as_manager()

    class Meta:
        verbose_name = _("webhook event")
        verbose_name_plural = _("webhook events")
        ordering = ["-created_at", "-sequence"]
        constraints = event_constraints(subject="delivery")
        triggers = event_triggers(subject="delivery", immutable=["failure"])
        indexes = event_indexes(subject="delivery")

    @property
    def own_headers(self) -> dict[str, str]:
        return {"Rota-Failure": self.failure} if self.failure else {}


class WebhookQueueItem(QueueItem):
    """An event to send next, see QueueItem. The subject is the delivery."""

    event = models.OneToOneField(
        WebhookEvent, verbose_name=_("event"), on_delete=models.CASCADE, related_name="queue_item"
    )
    delivery = models.ForeignKey(
        Delivery,
        verbose_name=_("delivery"),
        on_delete=models.CASCADE,
        related_name="queue_items",
        null=True,
        db_index=False,  # the unique constraint covers the ordered items, and there are few others
    )
    endpoint = models.ForeignKey(
        WebhookEndpoint,
        verbose_name=_("endpoint"),
        on_delete=models.CASCADE,
        related_name="queue_items",
        db_index=False,  # the index `queue_item_due` begins with this column
    )

    class Meta:
        verbose_name = _("webhook queue item")
        verbose_name_plural = _("webhook queue items")
        constraints = item_constraints(subject="delivery")
        indexes = item_indexes()

    def __str__(self) -> str:
        return f"{self.event_id}"


class WebhookAttemptQuerySet(AttemptQuerySet["WebhookAttempt"]):
    """Attempts to send events of deliveries."""


class WebhookAttempt(Attempt):
    """One attempt to send an event of a delivery."""

    event = models.ForeignKey(
        WebhookEvent,
        verbose_name=_("event"),
        on_delete=models.CASCADE,
        related_name="attempts",
        db_index=False,  # the unique constraint's index begins with this column
    )

    objects = WebhookAttemptQuerySet.as_manager()

    class Meta:
        verbose_name = _("attempt")
        verbose_name_plural = _("attempts")
        ordering = ["id"]
        constraints = [models.UniqueConstraint(fields=["event", "number"], name="one_attempt_per_number")]
        indexes = attempt_indexes()
