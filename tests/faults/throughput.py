"""How many calls web servers answer when each caller calls again at once."""

import http.client
import time
from collections import Counter
from collections.abc import Sequence
from functools import partial
from http import HTTPStatus
from urllib.parse import urlsplit

from tests.faults.calls import Request
from tests.faults.threads import Threads

_TIMEOUT_SECONDS = 20


class Callers(Threads):
    """Connections that make one request without a body over and over within a `with` block, to `bases` in turn.

    With the client of the standard library, because that of `calls` takes as much CPU time as the server.
    """

    def __init__(self, bases: Sequence[str], request: Request, *, connections: int) -> None:
        self.statuses: Counter[int] = Counter()
        self._request = request
        super().__init__([partial(self._call, bases[number % len(bases)]) for number in range(connections)])

    def _call(self, base: str) -> None:
        statuses: Counter[int] = Counter()
        client = http.client.HTTPConnection(urlsplit(base).netloc, timeout=_TIMEOUT_SECONDS)
        try:
            while not self.stopping.is_set():
                client.request(self._request.method, self._request.path, headers=self._request.headers)
                answer = client.getresponse()
                answer.read()
                statuses[answer.status] += 1
        finally:
            client.close()
            self.statuses.update(statuses)


def measured(bases: Sequence[str], request: Request, *, seconds: float, connections: int = 8) -> float:
    """Calls answered in a second. Raises AssertionError if one was not answered with 200."""
    began = time.monotonic()
    with Callers(bases, request, connections=connections) as callers:
        time.sleep(seconds)
    ended = time.monotonic()
    assert callers.statuses.keys() == {HTTPStatus.OK}, callers.statuses
    return callers.statuses.total() / (ended - began)
