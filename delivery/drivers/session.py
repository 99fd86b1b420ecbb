"""The session of a driver's phone: a cookie of its own, which opens nothing but the driver's pages.

Bodies and answers of the views that require it are JSON, errors `{"code", "detail"}`.
"""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils.translation import gettext as _
from django.views.generic import View

from common import clock
from common.api.json_body import BodyTooLarge
from common.errors import DomainError
from common.observability import log_context
from common.pages.device_data import error, read_body
from delivery.drivers import devices as driver_devices
from delivery.models import DriverDevice
from delivery.refusals import refusal_to_driver


def device_of(request: HttpRequest, *, at: datetime) -> DriverDevice | None:
    """The phone that sends the request, with its driver, or None without a session."""
    text = request.COOKIES.get(settings.DRIVER_COOKIE_NAME, "")
    return driver_devices.find(text, at=at) if text else None


def begin(response: HttpResponse, session: str) -> None:
    """Let the phone keep its session."""
    response.set_cookie(
        settings.DRIVER_COOKIE_NAME,
        session,
        max_age=settings.DRIVER_SESSION,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def end(response: HttpResponse) -> None:
    """Let the phone forget its session."""
    response.delete_cookie(settings.DRIVER_COOKIE_NAME, samesite="Lax")


class PhoneView(View):
    """Requires the session of a driver's phone; without one 401 `logged_out`."""

    device: DriverDevice

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        device = device_of(request, at=clock.now())
        if device is None:
            return error(401, "logged_out", _("You are logged out. Ask your dispatcher for a new link."))
        self.device = device
        log_context.note("driver", device.driver_id)
        try:
            return super().dispatch(request, *args, **kwargs)
        except BodyTooLarge:
            return error(413, "body_too_large", _("Too much was sent at once."))
        except DomainError as refused:
            return error(refused.status, refused.code, refusal_to_driver(refused))

    def body(self) -> dict[str, Any]:
        """The request's JSON object. Raises BodyTooLarge and InvalidDeviceData."""
        return read_body(self.request)
