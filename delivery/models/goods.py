from uuid import UUID

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from common.fields import personal
from common.postgresql.compiled_queries import Parameter
from delivery.models.delivery import Delivery
from delivery.models.driver import Driver


class GoodsInHandQuerySet(models.QuerySet["GoodsInHand"]):
    def out(self) -> "GoodsInHandQuerySet":
        """Those that are not recorded as back, the oldest first."""
        return self.filter(back_at=None).order_by("reported_at", "pk")

    def of_driver(self, driver: UUID | Parameter) -> "GoodsInHandQuerySet":
        return self.out().filter(driver=driver)


class GoodsInHand(models.Model):
    """That a driver has goods of a route which this driver does not hold any more, until they are back.

    The driver had collected them before the phone knew that the route was cancelled or given to another driver. A route
    that was cancelled is opened again instead where that is possible, see `delivery.drivers.moves`.

    They are back when a dispatcher says so, or when somebody has collected all goods of the route.
    """

    delivery = models.ForeignKey(
        Delivery,
        verbose_name=_("delivery"),
        on_delete=models.CASCADE,
        related_name="goods_in_hand",
        db_index=False,  # the unique index begins with it
    )
    driver = models.ForeignKey(
        Driver, verbose_name=_("driver"), on_delete=models.CASCADE, related_name="goods_in_hand", db_index=False
    )
    collected_at = models.DateTimeField(_("collected at"))
    reported_at = models.DateTimeField(_("reported at"))
    back_at = models.DateTimeField(_("recorded as back at"), null=True)
    back_by = personal(models.CharField(_("recorded as back by"), max_length=200, blank=True))

    objects = GoodsInHandQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        verbose_name = _("goods in hand")
        verbose_name_plural = _("goods in hand")
        constraints = [
            models.UniqueConstraint(fields=["delivery", "driver"], name="goods_in_hand_once"),
            models.CheckConstraint(
                name="goods_in_hand_back_whole",
                condition=Q(back_at=None, back_by="") | (Q(back_at__isnull=False) & ~Q(back_by="")),
            ),
        ]
        indexes = [
            models.Index(fields=["reported_at", "id"], name="goods_in_hand_out", condition=Q(back_at=None)),
            models.Index(fields=["driver"], name="goods_in_hand_of_driver"),
        ]

    def __str__(self) -> str:
        return str(self.delivery)
