import pgtrigger
from django.contrib.postgres.expressions import ArraySubquery
from django.db import models
from django.db.models import Func, Q
from django.utils.translation import gettext_lazy as _

from common.expressions import Folded, any_of, folded
from common.forgetting import EMPTY, FEWER_KEYS, ROUNDED, SET_ONCE, read_only_but_forgotten
from common.phones import phone_key
from delivery import lifecycle, words
from delivery.lifecycle import Status
from delivery.models.location import Located, on_earth

LABELS = "BCD"
# Columns with personal data, and what they become when the stop is forgotten.
_FORGOTTEN = {
    "contact_name": EMPTY,
    "contact_phone": EMPTY,
    "address": FEWER_KEYS,
    "latitude": ROUNDED,
    "longitude": ROUNDED,
    "forgotten_at": SET_ONCE,
}


class Stop(Located):
    """One drop-off of a delivery: an item of `orders` in the API. Only its status and failure reason can change.

    The label shown for `index` is a letter of `LABELS`; "A" is the delivery's pickup.
    """

    delivery = models.ForeignKey(
        "delivery.Delivery",
        verbose_name=_("delivery"),
        on_delete=models.CASCADE,
        related_name="stops",
        db_index=False,  # an index begins with this column
    )
    index = models.PositiveSmallIntegerField(_("index"), help_text=_("0 for B, 1 for C, 2 for D."))
    external_id = models.CharField(_("external id"), max_length=255, blank=True)
    contact_name = models.CharField(_("contact name"), max_length=255, blank=True)
    contact_phone = models.CharField(_("contact phone"), max_length=255, blank=True)
    address = models.JSONField(_("address"))
    status = models.CharField(_("status"), max_length=9, choices=[(s.value, words.STATUSES[s]) for s in Status])
    failure_reason = models.CharField(_("failure reason"), max_length=255, blank=True)
    forgotten_at = models.DateTimeField(_("anonymised at"), null=True, editable=False)

    class Meta:
        verbose_name = _("stop")
        verbose_name_plural = _("stops")
        ordering = ["delivery_id", "index"]  # "delivery" would join it, to sort by its own ordering
        constraints = [
            on_earth("stop_on_earth"),
            models.UniqueConstraint(fields=["delivery", "index"], name="one_stop_per_index"),
            models.CheckConstraint(name="stop_index_b_c_or_d", condition=Q(index__gte=0, index__lt=len(LABELS))),
            models.CheckConstraint(
                name="stop_status_known", condition=Q(status__in=[status.value for status in Status])
            ),
        ]
        indexes = [
            models.Index(fields=["external_id"], name="stop_external_id", condition=~Q(external_id="")),
            models.Index(phone_key("contact_phone"), name="stop_phone", condition=~Q(contact_phone="")),
        ]
        triggers = [
            pgtrigger.ReadOnly(name="stop_immutable", exclude=["status", "failure_reason", *_FORGOTTEN]),
            read_only_but_forgotten("stop_forgotten", _FORGOTTEN),
            pgtrigger.Protect(
                name="stop_closed_stays_closed",
                operation=pgtrigger.Update,
                condition=~pgtrigger.Q(old__status__in=[s.value for s in lifecycle.OPEN])
                & ~pgtrigger.Q(old__status=pgtrigger.F("new__status")),
            ),
            # No stop can be added to an accepted route or removed from it. FOR SHARE waits for the end of an
            # acceptance that holds the delivery's row lock.
            pgtrigger.Trigger(
                name="stop_set_is_locked",
                when=pgtrigger.Before,
                operation=pgtrigger.Insert | pgtrigger.Delete,
                declare=[("route", "text")],
                func="""
                    SELECT route_status INTO route FROM delivery_delivery
                        WHERE id = CASE TG_OP WHEN 'INSERT' THEN NEW.delivery_id ELSE OLD.delivery_id END
                        FOR SHARE;
                    IF route IS NOT NULL AND route <> 'AVAILABLE' THEN
                        RAISE EXCEPTION 'rota: the stops of an accepted route cannot change';
                    END IF;
                    IF TG_OP = 'INSERT' THEN RETURN NEW; END IF;
                    RETURN OLD;
                """,
            ),
        ]

    def __str__(self) -> str:
        return f"{self.label} {self.external_id}".strip()

    @staticmethod
    def refers_to(delivery: str, *, external_id: str) -> Func:
        """The condition that `delivery`, the name of a key, is of a delivery with this externalId at a drop-off."""
        return any_of(delivery, ArraySubquery(Stop.objects.filter(external_id=external_id).values("delivery")))

    @staticmethod
    def of_some_with(deliveries: ArraySubquery, *, text: str) -> Func:
        """The condition that a delivery's `pk` is one of `deliveries` with this text in an externalId or recipient.

        Case and accents do not matter. No index serves this, so the keys are to be few.
        """
        part = folded(text)
        stops = Stop.objects.filter(any_of("delivery", deliveries)).alias(
            id_text=Folded("external_id"), name_text=Folded("contact_name")
        )
        found = stops.filter(Q(id_text__contains=part) | Q(name_text__contains=part))
        return any_of("pk", ArraySubquery(found.values("delivery")))

    @property
    def label(self) -> str:
        return LABELS[self.index]
