"""Changes of deliveries through `delivery.actions`, at a constant rate."""

import threading
import time
from collections.abc import Iterator
from typing import Self

from django.db import Error, connection
from django.utils import timezone

from delivery.actions import deliveries
from delivery.models import Delivery, Token
from tests.factories import BY, DriverFactory, validated_payload

_THREADS = 2


class Load:
    """Makes changes within a `with` block. `committed_at` has the time of each, by delivery and sequence.

    With `survives_database` a change that fails because of the database is counted as refused and not repeated.
    """

    def __init__(self, token: Token, *, per_second: float, survives_database: bool = False) -> None:
        self.committed_at: dict[tuple[str, int], float] = {}  # on the monotonic clock
        self.refused = 0
        self._token, self._pause = token, _THREADS / per_second
        self._survives = survives_database
        self._stopping = threading.Event()
        self._errors: list[Exception] = []
        self._threads = [threading.Thread(target=self._run) for _number in range(_THREADS)]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stopping.set()
        for thread in self._threads:
            thread.join()
        if self._errors:
            raise self._errors[0]

    @property
    def committed(self) -> set[tuple[str, int]]:
        return set(self.committed_at)

    def _run(self) -> None:
        try:
            while not self._stopping.is_set():
                try:
                    self._change_one_delivery()
                except Error:
                    if not self._survives:
                        raise
                    self.refused += 1
                    connection.close()
                    self._stopping.wait(0.1)
        except Exception as error:  # noqa: BLE001  # raised by `__exit__`
            self._errors.append(error)
        finally:
            connection.close()

    def _change_one_delivery(self) -> None:
        """All changes of one delivery, each at the time that the rate gives it."""
        due = time.monotonic()
        for delivery in changes(self._token):
            self.committed_at[str(delivery.pk), delivery.last_sequence] = time.monotonic()
            due += self._pause
            if self._stopping.wait(max(0, due - time.monotonic())):
                return


def changes(token: Token) -> Iterator[Delivery]:
    """Yield a delivery with two drop-offs after each of its five changes."""
    driver = DriverFactory.create()
    delivery = deliveries.request(token=token, payload=validated_payload(stops=2), by=BY, at=timezone.now())
    yield delivery
    yield deliveries.accept(delivery=delivery, driver=driver, by=BY, at=timezone.now())
    yield deliveries.collect(delivery=delivery, by=BY, at=timezone.now())
    yield deliveries.deliver_point(delivery=delivery, point="B", by=BY, at=timezone.now())
    yield deliveries.deliver_point(delivery=delivery, point="C", by=BY, at=timezone.now())
