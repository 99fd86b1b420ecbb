"""Traces by OpenTelemetry: a span for each request, and one for each attempt at a webhook in the trace of its change.

Its packages are imported only if OTEL_EXPORTER_OTLP_ENDPOINT is set. Spans have routes and ids, and no paths, queries,
bodies or texts of errors.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from http import HTTPStatus
from threading import Thread
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse

from common.observability import log_context, tracing

_HEADER = "traceparent"
_LENGTH = 55
_STOP_SECONDS = 3
_NANOSECONDS = 1_000_000_000


class OpenTelemetryTracer:
    """Sends spans to the collector at the endpoint, in a thread of its own."""

    def __init__(self, endpoint: str, *, process: str) -> None:
        # Not installed everywhere, and not free to import.
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        self._api, self._format = trace, TraceContextTextMapPropagator()
        # OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence.
        self.provider = TracerProvider(resource=Resource.create({"service.name": "rota", "rota.process": process}))
        exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
        self.provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self.provider.get_tracer("rota")

    def traceparent(self) -> str:
        carrier: dict[str, str] = {}
        self._format.inject(carrier)
        return carrier.get(_HEADER, "")

    def record(
        self,
        name: str,
        *,
        parent: str,
        started_at: datetime,
        ended_at: datetime,
        failed: bool,
        attributes: Mapping[str, str | int],
    ) -> None:
        span = self._tracer.start_span(
            name,
            context=self._context(parent),
            kind=self._api.SpanKind.CLIENT,
            attributes=attributes,
            start_time=int(started_at.timestamp() * _NANOSECONDS),
        )
        if failed:
            span.set_status(self._api.StatusCode.ERROR)
        span.end(int(ended_at.timestamp() * _NANOSECONDS))

    def answer(self, request: HttpRequest, get_response: Callable[[HttpRequest], HttpResponse]) -> HttpResponse:
        """Answer a request within a span.

        A caller's own trace is linked and not continued, because it must not decide about sampling here.
        """
        callers = self._api.get_current_span(self._context(request.headers.get(_HEADER, ""))).get_span_context()
        links = [self._api.Link(callers)] if callers.is_valid else []
        with self._tracer.start_as_current_span(
            request.method or "", kind=self._api.SpanKind.SERVER, links=links, record_exception=False
        ) as span:
            response = get_response(request)
            route = request.resolver_match.route if request.resolver_match else "unknown"
            span.update_name(f"{request.method} {route}")
            span.set_attributes(
                {
                    "http.request.method": request.method or "",
                    "http.route": route,
                    "http.response.status_code": response.status_code,
                    **{f"rota.{name}": value for name, value in log_context.noted().items() if name != "changed_at"},
                }
            )
            if response.status_code >= HTTPStatus.INTERNAL_SERVER_ERROR:
                span.set_status(self._api.StatusCode.ERROR)
            return response

    def _context(self, traceparent: str) -> Any:
        from opentelemetry.context import Context

        carrier = {_HEADER: traceparent} if len(traceparent) == _LENGTH else {}
        return self._format.extract(carrier, context=Context())


_tracer: OpenTelemetryTracer | None = None


def start(process: str) -> None:
    """Record the spans of this process, `web` or `worker`, if there is an endpoint. To be called after forks."""
    global _tracer  # noqa: PLW0603  # one for each process
    if settings.OTEL_ENDPOINT:
        _tracer = OpenTelemetryTracer(settings.OTEL_ENDPOINT, process=process)
        tracing.use(_tracer)


def stop() -> None:
    """Send what is recorded, for at most three seconds."""
    global _tracer  # noqa: PLW0603  # one for each process
    if _tracer is not None:
        # In a thread, because the SDK does not observe its own deadline while a collector does not answer.
        flushing = Thread(target=_tracer.provider.force_flush, daemon=True)
        flushing.start()
        flushing.join(_STOP_SECONDS)
        tracing.use(None)
        _tracer = None


class TraceMiddleware:
    """A span for each request. In MIDDLEWARE only if there is an endpoint."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return _tracer.answer(request, self.get_response) if _tracer else self.get_response(request)
