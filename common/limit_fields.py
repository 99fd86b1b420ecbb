"""Fields of limits in the admin: an empty one shows the installation's value, which is then in force."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.formats import number_format
from django.utils.translation import gettext as _


class LimitFields:
    """Mixin. `limits` maps the names of fields to the settings whose values they replace."""

    limits: dict[str, str]

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        field = super().formfield_for_dbfield(db_field, request, **kwargs)  # type: ignore[misc]  # a ModelAdmin follows
        if field is not None and db_field.name in self.limits:
            value = getattr(settings, self.limits[db_field.name])
            text = number_format(value, force_grouping=True) if value else _("no limit")
            field.widget.attrs["placeholder"] = _("default: %(value)s") % {"value": text}
            field.help_text = _("0: no limit.")
        return field
