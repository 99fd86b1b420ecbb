from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from delivery.models.delivery import Delivery
from delivery.models.webhook import WebhookEndpoint, WebhookEvent


class WebhookQueueItem(models.Model):
    """An event to send next. A small table with many updates; a row is deleted when nothing is left to send.

    A delivery with pending events has one ordered item, which refers to the first of them and moves on to the next when
    that has ended, so events of one delivery are sent in order. A test event has an item of its own. So has a poisoned
    event, one that the endpoint refused repeatedly while it accepted others: its item is no longer ordered, and is
    retried beside the later events of its delivery.
    """

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
    is_ordered = models.BooleanField(default=True)
    due_at = models.DateTimeField(_("next attempt at"), help_text=_("While the item is claimed, the end of its lease."))
    tries = models.PositiveSmallIntegerField(
        default=0,
        help_text=_("Attempts that count towards the schedule of retries. A replay of an ended event resets them."),
    )
    refusals = models.PositiveSmallIntegerField(default=0, help_text=_("Attempts with an answer other than 2xx."))
    first_refused_at = models.DateTimeField(null=True)
    lease = models.UUIDField(
        null=True, help_text=_("Fencing token: only the worker that claimed the item under it may settle the item.")
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
