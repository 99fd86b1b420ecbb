"""Base classes of the views that phones call. Bodies and answers are JSON, errors `{"code", "detail"}`."""

from io import BytesIO
from typing import Any

from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.utils.translation import gettext as _
from django.views.generic import View

from common import clock
from common.json_body import BodyTooDeep, BodyTooLarge, InvalidJSON, NotAnObject, read_object
from delivery.driver_app import session
from delivery.errors import DeliveryError, InvalidReport
from delivery.models import DriverDevice
from delivery.refusals import refusal_to_driver

_MOST_BYTES = 128 * 1024
_MOST_LEVELS = 6


class PhoneView(View):
    """Requires the session of a driver's phone; without one 401 `logged_out`."""

    device: DriverDevice

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        device = session.device_of(request, at=clock.now())
        if device is None:
            return error(401, "logged_out", _("You are logged out. Ask your dispatcher for a new link."))
        self.device = device
        try:
            return super().dispatch(request, *args, **kwargs)
        except BodyTooLarge:
            return error(413, "body_too_large", _("The report is too large."))
        except DeliveryError as refused:
            return error(refused.status, refused.code, refusal_to_driver(refused))

    def body(self) -> dict[str, Any]:
        """The request's JSON object. Raises BodyTooLarge and InvalidReport."""
        try:
            return read_object(BytesIO(self.request.body), most_bytes=_MOST_BYTES, most_levels=_MOST_LEVELS)
        except (BodyTooDeep, InvalidJSON, NotAnObject) as fault:
            raise InvalidReport("The report is no JSON object.") from fault


def error(status: int, code: str, detail: str) -> JsonResponse:
    return JsonResponse({"code": code, "detail": detail}, status=status)
