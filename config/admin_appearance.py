"""Appearance of the admin."""

from typing import Any

from django.templatetags.static import static

# COLORS is empty because Unfold would write the colours as an inline style, which the
# Content-Security-Policy forbids; they are in config/admin.css.
UNFOLD: dict[str, Any] = {
    "SITE_TITLE": "Rota",
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": lambda _request: static("panel/icon.svg")}],
    "SITE_HEADER": "Rota",
    "SITE_SYMBOL": "local_shipping",
    "SITE_URL": "/panel/",
    "SHOW_LANGUAGES": True,
    "COLORS": lambda _request: {},
    "STYLES": [lambda _request: static("config/admin.css")],
    "SCRIPTS": [lambda _request: static("config/admin.js")],
    "SIDEBAR": {"navigation": "config.navigation.sidebar"},
}
