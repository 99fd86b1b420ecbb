"""Log-in of a phone by a dispatcher's link, and log-out."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables
from django.views.generic import View

from common import clock
from common.http_requests import browser_name, client_address
from common.pages import attempts
from common.pages.attempts import Limit, TooManyAttempts
from delivery.drivers import devices as driver_devices
from delivery.drivers import session
from delivery.errors import LogInLinkUnknown, LogInLinkUnusable
from delivery.refusals import refusal

# Of links that nobody issued. Phones in one mobile network often share an address, so others are never refused for it.
PER_ADDRESS = Limit("log-in link and address", 30, timedelta(minutes=10))
_LONGEST_AGENT = 300


class LogIn(View):
    """GET shows whose link it is and changes nothing: messengers fetch links to show previews of them."""

    http_method_names = ["get", "head", "post"]

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return super().dispatch(request, *args, **kwargs)
        except LogInLinkUnknown as error:
            try:
                attempts.count(PER_ADDRESS, client_address(request.META, proxies=settings.TRUSTED_PROXIES))
            except TooManyAttempts:
                reason = _("Too many links from here did not work. Try again in ten minutes.")
                return _refused(request, reason, status=429)
            return _refused(request, refusal(error), status=error.status)
        except LogInLinkUnusable as error:
            return _refused(request, refusal(error), status=error.status)

    def head(self, _request: HttpRequest, token: str) -> HttpResponse:
        """Says nothing about the link, and is no try of it: programs send it before they show a preview."""
        return HttpResponse()

    @sensitive_variables("token")
    def get(self, request: HttpRequest, token: str) -> HttpResponse:
        link = driver_devices.find_link(token, at=clock.now())
        return render(request, "driver_app/log_in.html", {"driver": link.driver})

    @sensitive_variables("token", "text")
    def post(self, request: HttpRequest, token: str) -> HttpResponse:
        now = clock.now()
        _device, text = driver_devices.log_in(
            token=token,
            phone=browser_name(request.headers.get("User-Agent", "")[:_LONGEST_AGENT]),
            language=translation.get_language() or "pt-br",
            at=now,
            former=session.device_of(request, at=now),
        )
        response = redirect("driver_app:shell")
        session.begin(response, text)
        return response


class LogOut(View):
    """Ends the session of this phone."""

    http_method_names = ["post"]

    def post(self, request: HttpRequest) -> HttpResponse:
        now = clock.now()
        device = session.device_of(request, at=now)
        if device is not None:
            driver_devices.end(device=device, by=f"driver {device.driver.name}", at=now)
        response = redirect("driver_app:shell")
        session.end(response)
        return response


def _refused(request: HttpRequest, reason: str, *, status: int) -> HttpResponse:
    return render(request, "driver_app/link_unusable.html", {"reason": reason}, status=status)
