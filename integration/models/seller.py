import secrets

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from common import fields
from common.limited_calls import LimitedAccount
from common.names import validate_name
from common.suspension import Suspendable, suspension_is_whole
from integration.errors import AccountSuspended

# Without 0, 1, I and O, which are easily confused.
_ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ"  # pragma: allowlist secret  # an alphabet
_REFERENCE_LENGTH = 10


def new_reference() -> str:
    """An identifier of a seller for support and logs. It is not secret and grants no access."""
    return "SEL-" + "".join(secrets.choice(_ALPHABET) for _index in range(_REFERENCE_LENGTH))


class Seller(Suspendable, LimitedAccount):
    """An account of area B. Its keys, companies, orders and invoices are not visible to other sellers."""

    suspended_word = pgettext_lazy("seller", "Suspended")

    name = models.CharField(_("name"), max_length=120)
    reference = fields.CharField(_("reference"), max_length=20, unique=True, default=new_reference, editable=False)
    members = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        verbose_name=_("members"),
        related_name="sellers",
        through="SellerMembership",
        blank=True,
        help_text=_("People who see this seller, and no other, in the panel."),
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    invoice_quota_mb = models.PositiveIntegerField(
        _("space for invoices (MB)"),
        null=True,
        blank=True,
        help_text=_("Empty: 2048. 0: no limit."),
    )
    invoices_per_day = models.PositiveIntegerField(
        _("invoices in 24 hours"),
        null=True,
        blank=True,
        help_text=_("Empty: 5000. 0: no limit."),
    )
    # Maintained by a trigger of `Invoice`, and so correct for every way of writing and deleting invoices.
    invoice_bytes = models.BigIntegerField(_("bytes of invoices"), default=0, db_default=0, editable=False)

    class Meta:
        verbose_name = _("seller")
        verbose_name_plural = _("sellers")
        ordering = ["name"]
        constraints = [suspension_is_whole("seller_suspension_has_who_and_why")]

    def clean(self) -> None:
        super().clean()
        validate_name(self.name)

    def __str__(self) -> str:
        return f"{self.name} ({self.reference})"

    def locked(self) -> "Seller":
        """The current row, with a lock that serialises writes of this seller until the transaction ends."""
        return Seller.objects.select_for_update(no_key=True).get(pk=self.pk)

    def check_active(self) -> None:
        """Raise AccountSuspended while the seller is suspended."""
        if self.is_suspended:
            raise AccountSuspended
