"""Maps on which a place is chosen, for pages of the panel and of the admin. `pin.js` describes them."""

from typing import Any

from django import template
from django.template import Context

from panel import maps

register = template.Library()


@register.inclusion_tag("panel/pin_head.html", takes_context=True)
def pin_head(context: Context) -> dict[str, Any]:
    """Styles, scripts and the ground, for the head of a page with `pin`."""
    return {"tiles": maps.tiles(), "perms": context["perms"]}


@register.inclusion_tag("panel/pin.html")
def pin(fields: str, *, radius: str | int = "", label: str = "A", near: Any = "") -> dict[str, Any]:
    """A map whose pin and the fields with this CSS selector follow each other.

    The selector is of one field for latitude and longitude, or of two. `radius` is metres, or the selector of the field
    with them. `label`: of the point whose place it is. `near`: a pickup point, which an empty map shows, and the map of
    another point than A always.
    """
    return {"fields": fields, "radius": radius, "label": label, "near": near}
