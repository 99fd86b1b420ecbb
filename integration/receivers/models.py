from django.db import models
from django.utils.translation import gettext_lazy as _

from common.fields import not_personal, one_of
from integration.lifecycle import Status
from integration.models.order import Order
from integration.models.seller import Seller

# Of which a receiver is told, each once. COLLECTED stands for the first status that an order has on its way.
MAILED = (Status.COLLECTED, Status.OUT_FOR_DELIVERY, Status.DELIVERED, Status.DELIVERY_FAILED, Status.RETURNED)


class ReceiverMail(models.Model):
    """That the receiver of an order was told of a status by e-mail, so that nobody is told twice."""

    seller = models.ForeignKey(Seller, on_delete=models.PROTECT, related_name="+", db_index=False)
    order = models.ForeignKey(Order, on_delete=models.PROTECT, related_name="receiver_mails", db_index=False)
    status = not_personal(models.CharField(max_length=16))
    # The id of a `common.mail.models.Message`, which is deleted before this row.
    message = models.BigIntegerField()
    created_at = models.DateTimeField()

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["order", "status"], name="one_receiver_mail_of_each_status"),
            one_of("receiver_mail_status", "status", [status.value for status in MAILED]),
        ]
        indexes = [models.Index(fields=["seller", "-created_at"], name="receiver_mail_newest")]

    def __str__(self) -> str:
        return f"{self.order_id} {self.status}"


class ReceiverMailStop(models.Model):
    """That the receiver of an order wants no further e-mails about it."""

    order = models.OneToOneField(Order, on_delete=models.PROTECT, primary_key=True, related_name="receiver_mail_stop")
    stopped_at = models.DateTimeField(_("stopped at"))

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return str(self.order_id)
