"""Appearance of the admin."""

from functools import partial
from typing import Any

from django.http import HttpRequest
from django.templatetags.static import static

# Of config/static/config/admin/.
_STYLES = ("colours", "cards", "facts", "moves", "lists", "lists_phone", "ids", "prices", "start", "fixes")


def _style(name: str, _request: HttpRequest) -> str:
    return static(f"config/admin/{name}.css")


# COLORS is empty because Unfold would write the colours as an inline style, which the
# Content-Security-Policy forbids; they are in config/admin/colours.css.
UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Rota",
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": lambda _request: static("panel/icon.svg")}],
    "SITE_HEADER": "Rota",
    "SITE_ICON": lambda _request: static("panel/icon.svg"),
    "SITE_URL": "/panel/",
    "SHOW_LANGUAGES": True,
    "COLORS": lambda _request: {},
    "STYLES": [partial(_style, name) for name in _STYLES],
    "SCRIPTS": [lambda _request: static("config/admin.js")],
    "DASHBOARD_CALLBACK": "config.start_page.context",
    "SIDEBAR": {"navigation": "config.navigation.sidebar"},
}
