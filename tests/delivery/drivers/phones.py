"""Phones of drivers for tests: clients with the session of a driver."""

from typing import Any
from urllib.parse import urlencode
from uuid import UUID, uuid4

from django.test import Client
from django.utils import timezone

from delivery.drivers import devices as driver_devices
from delivery.models import Delivery, Driver
from tests.factories import BY, PICKUP, DriverFactory


class Phone:
    """A driver's phone, logged in by a link."""

    def __init__(self, driver: Driver, *, language: str = "en") -> None:
        self.driver = driver
        self.client = Client(headers={"accept-language": language})
        token = driver_devices.issue_link(driver=driver, by=BY, at=timezone.now())
        response = self.client.post(f"/driver/in/{token}/", headers={"user-agent": "Linux; Android 14 Chrome/140"})
        assert response.status_code == 302

    def state(self) -> dict[str, Any]:
        answer: dict[str, Any] = self.get("state/").json()
        return answer

    def get(self, path: str) -> Any:
        return self.client.get(f"/driver/{path}")

    def upload(self, content: bytes, delivery: Delivery, *, upload: UUID | None = None, point: str = "B") -> Any:
        """Send a photo of a stop."""
        query = {"id": str(upload or uuid4()), "deliveryId": str(delivery.pk), "point": point, "takenAt": now()}
        return self.client.post(f"/driver/photos/?{urlencode(query)}", content, content_type="image/jpeg")

    def post(self, path: str, body: Any = None) -> Any:
        return self.client.post(f"/driver/{path}", body or {}, content_type="application/json")


def phone(*, on_duty: bool = True, **driver: Any) -> Phone:
    """A new driver at PICKUP, with a phone."""
    made = Phone(DriverFactory.create(on_duty=False, at_point=PICKUP, **driver))
    if on_duty:
        assert made.post("duty/", {"onDuty": True}).status_code == 200
    return made


def move(delivery: Delivery, trigger: str = "collect", **changes: Any) -> dict[str, Any]:
    """A move as the page sends it."""
    return {"id": str(uuid4()), "deliveryId": str(delivery.pk), "trigger": trigger, "madeAt": now(), **changes}


def now() -> str:
    return timezone.now().isoformat()
