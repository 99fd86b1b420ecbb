"""What a phone asks for and sends while its driver works."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.utils.translation import gettext as _

from common import clock
from common.errors import DomainError
from common.pages import attempts
from common.pages.attempts import Limit, TooManyAttempts
from common.pages.device_data import Unreadable, error, wrong
from common.pages.page_updates import stream
from delivery import page_updates
from delivery.actions import deliveries, drivers, proofs
from delivery.drivers import devices as driver_devices
from delivery.drivers import moves as driver_moves
from delivery.drivers import phone_data
from delivery.drivers.moves import SentMove
from delivery.drivers.session import PhoneView
from delivery.drivers.state import state
from delivery.errors import DeliveryNotFound, InvalidPhoto, PhotosBusy
from delivery.models import Delivery, DriverMove, parse_id
from delivery.photos import MOST_BYTES
from delivery.refusals import refusal_to_driver

# A phone makes its photos itself, so that none is refused. Each may occupy the encoder for seconds.
REFUSED = Limit("refused photos and driver", 10, timedelta(minutes=10))
# An upload takes at most half a minute. The window ends one of a process that was killed.
AT_ONCE = Limit("uploads at once and driver", 1, timedelta(minutes=1))


class WithState(PhoneView):
    """Answers with the state of the phone. The header `Rota-Route` names the delivery whose route the phone shows."""

    def answer(self, **more: Any) -> JsonResponse:
        shown = parse_id(self.request.headers.get("Rota-Route", ""))
        now = state(self.device, shown=shown, at=clock.now())
        return JsonResponse({**more, "csrf": get_token(self.request), **now})


class State(WithState):
    http_method_names = ["get"]

    def get(self, _request: HttpRequest) -> HttpResponse:
        return self.answer()


class Duty(WithState):
    http_method_names = ["post"]

    def post(self, _request: HttpRequest) -> HttpResponse:
        match self.body().get("onDuty"):
            case True:
                driver_devices.go_on_duty(device=self.device)
            case False:
                driver_devices.go_off_duty(driver=self.device.driver)
            case _other:
                raise wrong("onDuty")
        self.device.refresh_from_db()
        return self.answer()


class _OfAnOffer(WithState):
    http_method_names = ["post"]

    def found(self, delivery: UUID) -> Delivery:
        """The delivery, if it is one that this driver could be offered. Raises DeliveryNotFound."""
        found = Delivery.objects.filter(pk=delivery).first()
        if found is None or not self.device.driver.fits(found):
            raise DeliveryNotFound("There is no such offer.")
        return found


class Accept(_OfAnOffer):
    """One driver gets the route; the others read why they did not."""

    def post(self, _request: HttpRequest, delivery: UUID) -> HttpResponse:
        driver, found = self.device.driver, self.found(delivery)
        if found.driver_id != driver.pk or not found.is_held:  # a repetition of what succeeded
            deliveries.accept(delivery=found, driver=driver, by=f"driver {driver.name}", at=clock.now())
        return self.answer()


class Decline(_OfAnOffer):
    """The driver is shown this offer no more."""

    def post(self, _request: HttpRequest, delivery: UUID) -> HttpResponse:
        drivers.decline(delivery=self.found(delivery), driver=self.device.driver, at=clock.now())
        return self.answer()


class Moves(WithState):
    """Moves in the order in which they were made. Each has an outcome, which repetitions are given again."""

    http_method_names = ["post"]

    def post(self, _request: HttpRequest) -> HttpResponse:
        now = clock.now()
        sent = phone_data.moves(self.body(), at=now)
        return self.answer(outcomes=[self._outcome(each, at=now) for each in sent])

    def _outcome(self, sent: SentMove | Unreadable, *, at: datetime) -> dict[str, Any]:
        if isinstance(sent, Unreadable):
            detail = refusal_to_driver(sent.error)
            return {"id": sent.id, "done": False, "code": sent.error.code, "detail": detail}
        return _outcome(driver_moves.perform(driver=self.device.driver, sent=sent, at=at))


def _outcome(move: DriverMove) -> dict[str, Any]:
    return {"id": str(move.report), "done": not move.refusal, "code": move.refusal, "detail": move.refusal_detail}


class Positions(PhoneView):
    """Receives those that `delivery.drivers.positions` does not."""

    http_method_names = ["post"]

    def post(self, _request: HttpRequest) -> HttpResponse:
        now = clock.now()
        sent = phone_data.positions(self.body(), at=now)
        dropped = driver_devices.receive_positions(device=self.device, sent=sent, at=now)
        return JsonResponse({"kept": len(sent) - dropped.total(), "dropped": dropped})


class Updates(PhoneView):
    """A stream that tells the phone when its state has changed. See `config.server.page_streams`."""

    http_method_names = ["get"]

    def get(self, request: HttpRequest) -> HttpResponse:
        driver = self.device.driver
        return stream(
            request,
            page_updates.session(self.device.pk),
            page_updates.driver(driver.pk),
            page_updates.offers(driver.environment, driver.vehicle_type),
            user=f"driver {driver.pk}",
        )


class Push(PhoneView):
    """GET answers the key to subscribe with, null where no messages are sent; POST takes a PushSubscription."""

    http_method_names = ["get", "post", "delete"]

    def get(self, _request: HttpRequest) -> HttpResponse:
        return JsonResponse({"publicKey": driver_devices.public_key()})

    def post(self, _request: HttpRequest) -> HttpResponse:
        driver_devices.subscribe(device=self.device, **phone_data.subscription(self.body()), at=clock.now())
        return HttpResponse(status=204)

    def delete(self, _request: HttpRequest) -> HttpResponse:
        driver_devices.unsubscribe(device=self.device)
        return HttpResponse(status=204)


class Photos(PhoneView):
    """POST: keeps the photo that is the body. The query says what it shows, and has the phone's own id of it.

    201 with the id, 200 for one that was kept before.
    """

    http_method_names = ["post"]

    def post(self, request: HttpRequest) -> HttpResponse:
        driver = str(self.device.driver_id)
        try:
            upload = attempts.count(AT_ONCE, driver)
        except TooManyAttempts as busy:
            raise PhotosBusy("Other photos are being read. Send it again in a moment.") from busy
        try:
            return self._answer(request, driver)
        finally:
            upload.forgive()

    def _answer(self, request: HttpRequest, driver: str) -> HttpResponse:
        try:
            refused = attempts.count(REFUSED, driver)
        except TooManyAttempts:
            return error(
                429, "too_many_refused_photos", _("Too many photos could not be used. Try again in ten minutes.")
            )
        try:
            answer = self._keep(request)
        except DomainError as refusal:
            if not isinstance(refusal, InvalidPhoto):
                refused.forgive()
            raise
        refused.forgive()
        return answer

    def _keep(self, request: HttpRequest) -> HttpResponse:
        now = clock.now()
        photo = phone_data.photo(request.GET.dict(), at=now)
        # Not `request.body`, which has a lower limit. One byte more shows that the photo is too large.
        content = request.read(MOST_BYTES + 1)
        _photo, is_new = proofs.add(
            driver=self.device.driver,
            upload=photo.upload,
            delivery=photo.delivery,
            point=photo.point,
            taken_at=photo.taken_at,
            content=content,
            at=now,
        )
        return JsonResponse({"id": str(photo.upload)}, status=201 if is_new else 200)
