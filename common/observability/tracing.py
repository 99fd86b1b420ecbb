"""Traces, if `config.monitoring.tracing` has switched them on in this process. Without it the functions do nothing."""

from typing import Any

_tracer: Any = None  # an `OpenTelemetryTracer`


def use(tracer: Any) -> None:
    """Record the spans of this process; None ends it."""
    global _tracer  # noqa: PLW0603  # one for each process
    _tracer = tracer


def is_on() -> bool:
    return _tracer is not None


def traceparent() -> str:
    """The present span as a header `traceparent` (W3C Trace Context), for another process; empty without one."""
    return _tracer.traceparent() if _tracer else ""


def record(name: str, **span: Any) -> None:
    """Record a span that has ended, see `OpenTelemetryTracer.record`."""
    if _tracer:
        _tracer.record(name, **span)
