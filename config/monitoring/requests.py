"""What is counted of HTTP requests."""

from functools import cache

from django.conf import settings
from django.http import HttpRequest
from prometheus_client import Counter, Histogram

from common.observability.metrics import REGISTRY

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_REQUESTS = Counter("rota_http_requests", "Requests answered", ["endpoint", "method", "status"], registry=REGISTRY)
_SECONDS = Histogram(
    "rota_http_request_seconds",
    "Time in which a thread answered a request",
    ["endpoint", "method"],
    buckets=_BUCKETS,
    registry=REGISTRY,
)
# Web processes have few threads, which are the pool of their database connections too.
WAITED = Histogram(
    "rota_http_wait_seconds",
    "Time for which a request, read completely, waited for a thread",
    buckets=_BUCKETS,
    registry=REGISTRY,
)


def answered(request: HttpRequest, status: int, seconds: float) -> None:
    """Count an answered request."""
    method = request.method if request.method in _METHODS else "other"
    endpoint = _endpoint(request)
    count, durations = _children(endpoint, method or "other", status)
    count.inc()
    durations.observe(seconds)


@cache  # looking them up takes twice as long as counting
def _children(endpoint: str, method: str, status: int) -> tuple[Counter, Histogram]:
    return _REQUESTS.labels(endpoint, method, status), _SECONDS.labels(endpoint, method)


def _endpoint(request: HttpRequest) -> str:
    """The route of the request's URL, with names in place of ids."""
    if request.resolver_match is not None:
        return request.resolver_match.route or "/"
    return "static" if request.path.startswith(settings.STATIC_URL) else "unknown"
