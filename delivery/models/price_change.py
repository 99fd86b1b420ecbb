from django.db import models
from django.utils.translation import gettext_lazy as _

from common.row_history import RowChange, append_only


class TariffChange(RowChange):
    """One change of a tariff, written by a trigger of its table."""

    class Meta:
        verbose_name = _("change of delivery prices")
        verbose_name_plural = _("changes of delivery prices")
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["table_name", "row_key", "-id"], name="tariff_change_of_row"),
            models.Index(fields=["made_at", "made_by"], name="tariff_changes_at_once"),
        ]
        triggers = [append_only()]
