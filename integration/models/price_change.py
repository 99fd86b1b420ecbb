from django.db import models
from django.utils.translation import gettext_lazy as _

from common.row_history import RowChange, append_only


class FreightPriceChange(RowChange):
    """One change of a freight rate or of the freight parameters, written by a trigger of their tables."""

    class Meta:
        verbose_name = _("change of freight prices")
        verbose_name_plural = _("changes of freight prices")
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["table_name", "row_key", "-id"], name="freight_change_of_row"),
            models.Index(fields=["made_at", "made_by"], name="freight_changes_at_once"),
        ]
        triggers = [append_only()]
