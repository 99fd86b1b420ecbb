"""The session of a driver's phone: a cookie of its own, which opens nothing but the driver's pages."""

from datetime import datetime

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from delivery.actions import driver_devices
from delivery.models import DriverDevice


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
