from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from tests.delivery.api.calls import QUOTE, REQUEST
from tests.delivery.api.lists import NOON
from tests.factories import DeliveryFactory


class Clock:
    """The moment that the product takes for now."""

    def __init__(self) -> None:
        self.now = datetime(2026, 7, 15, 15, 0, tzinfo=UTC)

    def forward(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that stands still at 12:00:00 in São Paulo until a test moves it."""
    clock = Clock()
    monkeypatch.setattr(timezone, "now", lambda: clock.now)
    return clock


@pytest.fixture(params=[QUOTE, REQUEST])
def path(request):
    """The two endpoints that take a DeliveryRequest."""
    return request.param


@pytest.fixture
def made(token):
    """Make so many deliveries of the token's account, a minute apart. Returns their ids, the newest first."""

    def make(count, **arguments):
        at = arguments.pop("at", NOON)
        rows = [
            DeliveryFactory.create(**{"token": token, "stops": 1, **arguments}, at=at + timedelta(minutes=number))
            for number in range(count)
        ]
        return [str(row.pk) for row in reversed(rows)]

    return make
