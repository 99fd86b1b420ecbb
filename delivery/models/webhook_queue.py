from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common.webhooks.models import QueueItem
from delivery.models.delivery import Delivery
from delivery.models.webhook import WebhookEndpoint, WebhookEvent


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
        constraints = [
            models.UniqueConstraint(
                fields=["delivery"], name="one_ordered_queue_item_per_delivery", condition=Q(is_ordered=True)
            ),
        ]
        indexes = [
            models.Index(fields=["endpoint", "due_at"], name="queue_item_due"),
            models.Index(fields=["endpoint"], name="queue_item_leased", condition=Q(lease__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.event_id}"
