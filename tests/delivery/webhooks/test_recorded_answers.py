"""What deliveries without the optional keys of occurrences are answered with, byte for byte as before there were any.

`recorded_answers.txt` holds the answers and webhooks of three deliveries, with ids, secrets and addresses replaced. It
was recorded before failures had policies, and is not to be recorded anew for a change of the product.
"""

import re
from pathlib import Path

import pytest
from django.utils import timezone

from delivery.actions import deliveries
from delivery.models import Delivery
from tests.delivery.api.calls import CANCEL, DETAIL, INFO, LOCATION, QUOTE, REQUEST, send
from tests.delivery.api.conftest import clock  # noqa: F401  # a fixture
from tests.factories import BY, PICKUP, DriverFactory, TariffFactory, payload

RECORDED = Path(__file__).parent / "recorded_answers.txt"
# Each with what replaces it; ids are numbered, so that one that is another's shows.
_RANDOM = {
    r'(?<=/t/)[\w-]{22}(?=")': "<receiver>",
    r"Bearer \S+": "Bearer <token>",
    r"v1,\S+": "v1,<signature>",
    r"127\.0\.0\.1:\d+": "<host>",
    r"(?<=Quote-Id: ).+": "<quote>",
    r"(?<=:\d\d)\.\d{6}(?=-03:00)": "",  # how long sending took
    r"(?<=webhook-timestamp: )\d+": "<timestamp>",
}
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
# What the HTTP servers and the middleware add, and what differs between machines.
_NOT_OURS = {"x-request-id", "content-length", "ratelimit", "ratelimit-policy"}
# What the detail answer has gained since, with the values where no optional key was sent, and the header of a failure.
_GAINED = re.compile(
    r',"failureCode":(?:null|"[A-Z_]+")|,"attempts":[01],"onFailure":"RETURN"|,"left":false|,"scheduledFor":null'
    r'|,"fees":\[(?:\{[^}]*\},?)*\]|,"updatedAt":"[^"]+"(?=,"(?:offerExpires|closed)At")'
    r"|rota-failure: .+\n"
)


def without_gained(text):
    return _GAINED.sub("", text)


class Told:
    """Writes down what is answered and sent."""

    def __init__(self, api, sink, send_due):
        self.api, self.sink, self.send_due = api, sink, send_due
        self.lines = []

    def answer(self, name, response):
        headers = sorted(each for each in response.headers.items() if each[0].lower() not in _NOT_OURS)
        self.lines.extend([f"# {name}", str(response.status_code), *(f"{key}: {value}" for key, value in headers)])
        self.lines.append(response.content.decode())

    def everything(self, name, delivery):
        """What the reads answer now, and what the endpoint has received since."""
        for read in (INFO, DETAIL, LOCATION):
            self.answer(f"{name}: {read}", self.api.get(read.format(delivery)))
        self.send_due()
        for headers, body in self.sink.received:
            self.lines.append(f"# {name}: webhook")
            self.lines.extend(f"{key}: {value}" for key, value in sorted(headers.items()) if key != "content-length")
            self.lines.append(body)
        self.sink.received.clear()


@pytest.mark.django_db(transaction=True)
class TestWithoutTheNewKeys:
    def test_is_as_recorded(self, api, sink, send_due, token, clock):  # noqa: F811  # the fixture
        told = Told(api, sink, send_due)
        TariffFactory.create()

        def request(name, **changes):
            body = payload(**changes)
            told.answer(f"{name}: quote", send(api, QUOTE, body))
            answer = send(api, REQUEST, body)
            delivery = answer.json()["deliveryId"]
            told.answer(f"{name}: request", answer)
            told.everything(f"{name}: request", delivery)
            return delivery

        def move(name, delivery, verb, **details):
            clock.forward(60)
            found = Delivery.objects.get(pk=delivery)
            getattr(deliveries, verb)(delivery=found, by=BY, at=timezone.now(), **details)
            told.everything(f"{name}: {verb}", delivery)

        def cancel(name, delivery, body):
            told.answer(f"{name}: cancel", send(api, CANCEL.format(delivery), body))
            told.everything(f"{name}: cancel", delivery)

        first = request("three stops")
        ana = DriverFactory.create(name="Ana", at_point=PICKUP)
        move("three stops", first, "accept", driver=ana)
        move("three stops", first, "collect")
        move("three stops", first, "deliver", point="B")
        move("three stops", first, "fail", point="C", reason="Rang twice", code="ABSENT")
        move("three stops", first, "fail", point="D", reason="Rain")
        move("three stops", first, "return_")
        second = request("cancelled", stops=1, deliveryMode=None)
        move("cancelled", second, "accept", driver=ana)
        move("cancelled", second, "collect")
        cancel("cancelled", second, {"reason": "Too late"})
        move("cancelled", second, "return_")
        third = request("back to A", stops=2, deliveryMode="RETURN")
        cancel("back to A", third, {})

        assert without_gained(replaced("\n".join(told.lines))) == RECORDED.read_text()


def replaced(text):
    ids: dict[str, str] = {}
    for pattern, name in _RANDOM.items():
        text = re.sub(pattern, name, text)
    return _ID.sub(lambda found: ids.setdefault(found[0], f"<id {len(ids) + 1}>"), text) + "\n"
