"""What a phone asks for and reports while its driver works."""

from typing import Any
from uuid import UUID

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token

from common import clock
from common.page_updates import stream
from delivery import page_updates
from delivery.actions import deliveries, driver_devices, driver_moves, position_reports
from delivery.driver_app import reports
from delivery.driver_app.state import state
from delivery.driver_app.views.base import PhoneView
from delivery.driver_errors import InvalidReport
from delivery.errors import DeliveryNotFound
from delivery.models import Delivery, DriverMove, parse_id


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
                raise InvalidReport("'%(name)s' is not what it should be.", name="onDuty")
        self.device.refresh_from_db()
        return self.answer()


class Accept(WithState):
    """One driver gets the route; the others read why they did not."""

    http_method_names = ["post"]

    def post(self, _request: HttpRequest, delivery: UUID) -> HttpResponse:
        driver, now = self.device.driver, clock.now()
        found = Delivery.objects.filter(pk=delivery, environment=driver.environment).first()
        if found is None or driver.simulated_for_id not in (None, found.integrator_id):
            raise DeliveryNotFound("There is no such offer.")
        if found.driver_id != driver.pk or not found.is_held:  # a repetition of what succeeded
            deliveries.accept(delivery=found, driver=driver, by=f"driver {driver.name}", at=now)
        return self.answer()


class Moves(WithState):
    """Moves in the order in which they were made. Each has an outcome, which repetitions are given again."""

    http_method_names = ["post"]

    def post(self, _request: HttpRequest) -> HttpResponse:
        now = clock.now()
        reported = reports.moves(self.body(), at=now)
        outcomes = [driver_moves.perform(driver=self.device.driver, report=report, at=now) for report in reported]
        return self.answer(outcomes=[_outcome(move) for move in outcomes])


def _outcome(move: DriverMove) -> dict[str, Any]:
    return {"id": str(move.report), "done": not move.refusal, "code": move.refusal, "detail": move.refusal_detail}


class Positions(PhoneView):
    http_method_names = ["post"]

    def post(self, _request: HttpRequest) -> HttpResponse:
        now = clock.now()
        reported = reports.positions(self.body(), at=now)
        dropped = position_reports.record(device=self.device, reported=reported, at=now)
        return JsonResponse({"kept": len(reported) - dropped.total(), "dropped": dropped})


class Updates(PhoneView):
    """A stream that tells the phone when its state has changed. See `config.page_streams`."""

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
