"""Figures with a unit in forms of the admin: typed as `23,90` or `23.90`, with the unit inside the field."""

from typing import Any

from django.http import HttpRequest
from unfold.widgets import UnfoldAdminTextInputWidget

from common.admin_base import ModelAdmin
from common.measures import MeasuredDecimal, MeasuredInteger


class MeasureAdmin(ModelAdmin):
    """Base of screens whose model has figures with a unit."""

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if isinstance(db_field, MeasuredDecimal | MeasuredInteger):
            unit = db_field.unit
            # Unfold writes the unit over the field: the classes leave room for it.
            room = "rota-unit-before" if unit.prefix else "rota-unit-after" if unit.suffix else ""
            attributes = {"inputmode": "decimal", "autocomplete": "off", "class": room}
            attributes |= {"prefix": unit.prefix} if unit.prefix else {"suffix": unit.suffix}
            return db_field.formfield(widget=UnfoldAdminTextInputWidget(attributes))
        return super().formfield_for_dbfield(db_field, request, **kwargs)
