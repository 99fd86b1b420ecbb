"""Traces, if `config.monitoring.tracing` has switched them on in this process. Without it the functions do nothing."""

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol, TypeAlias

Attributes: TypeAlias = Mapping[str, str | int]


class Tracer(Protocol):
    """What records spans."""

    def traceparent(self) -> str:
        """The present span as the value of the header `traceparent` (W3C Trace Context)."""

    def record(
        self, name: str, *, parent: str, started_at: datetime, ended_at: datetime, failed: bool, attributes: Attributes
    ) -> None:
        """Record a span that has ended, as part of the trace of `parent`, a value of `traceparent`."""


_tracer: Tracer | None = None


def use(tracer: Tracer | None) -> None:
    """Record the spans of this process."""
    global _tracer  # noqa: PLW0603  # one for each process
    _tracer = tracer


def is_on() -> bool:
    """Whether spans are recorded."""
    return _tracer is not None


def traceparent() -> str:
    """The present span, to be continued by another process; empty without one."""
    return _tracer.traceparent() if _tracer else ""


def record(
    name: str, *, parent: str, started_at: datetime, ended_at: datetime, failed: bool, attributes: Attributes
) -> None:
    """Record a span that has ended, see `Tracer.record`."""
    if _tracer:
        _tracer.record(
            name, parent=parent, started_at=started_at, ended_at=ended_at, failed=failed, attributes=attributes
        )
