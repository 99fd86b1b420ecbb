"""The page of the app, its manifest and its service worker. They hold nothing of a driver, so phones may keep them."""

from pathlib import Path

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.urls import reverse
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.generic import View

from common.pages.offline_pages import OfflinePage
from delivery import lifecycle, words
from delivery.models.driver import FROM_PHONES

_ICONS = ("192", "512", "maskable")
_COLOUR = "#115e59"
# Reasons that are seen at once, the commonest; the others unfold.
_FIRST_FAILURES = 5


class Shell(View):
    """The same page for everybody: what it shows is in `/driver/state/`, which requires a session."""

    http_method_names = ["get"]

    def get(self, _request: HttpRequest) -> HttpResponse:
        return APP.shell()


class Manifest(View):
    """Lets browsers install the page as an app."""

    http_method_names = ["get"]

    def get(self, _request: HttpRequest) -> HttpResponse:
        home = reverse("driver_app:shell")
        manifest = {
            "id": home,
            "name": _("Rota for drivers"),
            "short_name": "Rota",
            "description": _("Offers, routes and proof of delivery for drivers."),
            "lang": translation.get_language(),
            "start_url": home,
            "scope": home,
            "display": "standalone",
            "orientation": "portrait",
            "background_color": "#ffffff",
            "theme_color": _COLOUR,
            "icons": [_icon(name) for name in _ICONS],
        }
        return JsonResponse(manifest, content_type="application/manifest+json")


class Worker(View):
    """The service worker."""

    http_method_names = ["get"]

    def get(self, _request: HttpRequest) -> HttpResponse:
        return APP.service_worker()


def _icon(name: str) -> dict[str, str]:
    size = "192" if name == "192" else "512"
    return {
        "src": static(f"driver_app/icon-{name}.png"),
        "sizes": f"{size}x{size}",
        "type": "image/png",
        "purpose": "maskable" if name == "maskable" else "any",
    }


def _texts() -> dict[str, str]:
    """The texts in the language of the request, by the names that the modules use."""
    return {
        **{f"stop.{code}": str(label) for code, label in words.STATUSES.items()},
        **{f"stop.{code}": _("To deliver") for code in lifecycle.OPEN},
        "stop.again": _("Second attempt"),
        "window.from": _("from %s"),
        "window.until": _("until %s"),
        "stop.changed": _("Changed by the shop at %s"),
        **{f"pickup.{code}": str(label) for code, label in words.PICKUPS.items()},
        "move.collectAt": _("Collected at"),
        **{f"move.{trigger}": str(words.TRIGGERS[trigger]) for trigger in FROM_PHONES},
        "error.unreachable": _("No connection. Try again when you have signal."),
        "error.kept": _("This phone cannot keep anything: its storage is full or switched off."),
        "error.photo": _("This photo cannot be read. Take it again."),
        "error.photos": _("Up to three photos."),
        "error.reason": _("Choose what happened."),
        "error.other": _("Write what happened."),
        "offers.one": _("1 offer"),
        "offers.many": _("%s offers"),
        "error.push": _("This browser cannot receive notifications now. Try again later, in the menu."),
        "error.pin": _("Enter the four digits."),
        "error.needs_photo": _("Take a photo first."),
        "time.minutes": _("%s min"),
        "time.seconds": _("%s s"),
        "time.over": _("over"),
    }


def _render(modules: list[str]) -> str:
    failures = [*words.FAILURES.items()]
    return render_to_string(
        "driver_app/shell.html",
        {
            "modules": modules,
            "texts": _texts(),
            "failures": failures[:_FIRST_FAILURES],
            "other_failures": failures[_FIRST_FAILURES:],
        },
    )


APP = OfflinePage(
    name="driver-app",
    folder=Path(__file__).parents[1] / "static" / "driver_app",
    url="driver_app:shell",
    render=_render,
)
