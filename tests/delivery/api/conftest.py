from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone


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
