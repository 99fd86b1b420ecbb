"""Changes of deliveries through `delivery.actions`, at a constant rate."""

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import cycle

from django.db import Error, connection
from django.utils import timezone

from delivery.actions import deliveries
from delivery.lifecycle import Mode, OnFailure
from delivery.models import Delivery, Token
from delivery.payload import Options
from delivery.windows import Window
from tests.factories import BY, DriverFactory, validated_payload
from tests.faults.threads import Threads

_THREADS = 2


class Load(Threads):
    """Makes changes within a `with` block. `committed_at` has the time of each, by delivery and sequence.

    With `survives_database` a change that fails because of the database is counted as refused and not repeated.
    """

    def __init__(self, token: Token, *, per_second: float, survives_database: bool = False) -> None:
        self.committed_at: dict[tuple[str, int], float] = {}  # on the monotonic clock
        self.refused = 0
        self._token, self._pause = token, _THREADS / per_second
        self._kinds = cycle((changes, reverse_changes))
        self._survives = survives_database
        super().__init__([self._change_deliveries] * _THREADS)

    @property
    def committed(self) -> set[tuple[str, int]]:
        return set(self.committed_at)

    def _change_deliveries(self) -> None:
        while not self.stopping.is_set():
            try:
                self._change_one_delivery()
            except Error:
                if not self._survives:
                    raise
                self.refused += 1
                connection.close()
                self.stopping.wait(0.1)

    def _change_one_delivery(self) -> None:
        """All changes of one delivery, each at the time that the rate gives it."""
        due = time.monotonic()
        for delivery in next(self._kinds)(self._token):
            self.committed_at[str(delivery.pk), delivery.last_sequence] = time.monotonic()
            due += self._pause
            if self.stopping.wait(max(0, due - time.monotonic())):
                return


def reverse_changes(token: Token) -> Iterator[Delivery]:
    """Yield a delivery in mode REVERSE after each of its five changes. The second pickup fails."""
    driver = DriverFactory.create()
    payload = validated_payload(stops=2, mode=Mode.REVERSE)
    delivery = deliveries.request(token=token, payload=payload, by=BY, at=timezone.now())
    yield delivery
    yield deliveries.accept(delivery=delivery, driver=driver, by=BY, at=timezone.now())
    yield deliveries.collect(delivery=delivery, point="B", by=BY, at=timezone.now())
    yield deliveries.fail(delivery=delivery, point="C", code="CLOSED", reason="", by=BY, at=timezone.now())
    yield deliveries.return_(delivery=delivery, by=BY, at=timezone.now())


def changes(token: Token) -> Iterator[Delivery]:
    """Yield a delivery with two drop-offs after each of its six changes with an event.

    It is scheduled, and the first drop-off is tried twice.
    """
    driver = DriverFactory.create()
    payload = validated_payload(stops=2)
    twice, once = payload.dropoffs
    dropoffs = [replace(twice, options=Options(on_failure=OnFailure.RETRY)), once]
    tomorrow = replace(payload.pickup, window=Window(timezone.now() + timedelta(days=1)))
    payload = replace(payload, pickup=tomorrow, dropoffs=dropoffs)
    delivery = deliveries.request(token=token, payload=payload, by=BY, at=timezone.now())
    yield delivery
    deliveries.offer(delivery=delivery, by=BY, at=timezone.now())
    yield deliveries.accept(delivery=delivery, driver=driver, by=BY, at=timezone.now())
    yield deliveries.collect(delivery=delivery, by=BY, at=timezone.now())
    yield deliveries.fail(delivery=delivery, point="B", code="ABSENT", reason="", by=BY, at=timezone.now())
    yield deliveries.deliver(delivery=delivery, point="C", by=BY, at=timezone.now())
    yield deliveries.deliver(delivery=delivery, point="B", by=BY, at=timezone.now())
