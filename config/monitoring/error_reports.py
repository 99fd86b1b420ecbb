"""Reports of errors to Sentry, if SENTRY_DSN is set. Its package is imported only then.

A report has the constant text of the log record, the type of the exception and where in the code it was raised, and
the ids that the log has. What was sent, values of variables and texts of exceptions stay in the log of this
installation, which the request id leads to.
"""

from typing import Any

from django.conf import settings

from common.observability import log_context
from config.monitoring.outages import OutageReports

_KEPT = frozenset({"event_id", "timestamp", "platform", "level", "logger", "sdk", "environment", "release", "tags"})
_FRAME = frozenset(
    {"abs_path", "filename", "function", "module", "lineno", "pre_context", "context_line", "post_context", "in_app"}
)
_SHUTDOWN_SECONDS = 2
_outages = OutageReports()


def start() -> None:
    """Report the errors that this process logs from now on. To be called after forks."""
    if not settings.SENTRY_DSN:
        return
    import sentry_sdk  # not installed everywhere
    from sentry_sdk.integrations.atexit import AtexitIntegration
    from sentry_sdk.integrations.dedupe import DedupeIntegration
    from sentry_sdk.integrations.logging import LoggingIntegration

    sentry_sdk.init(
        settings.SENTRY_DSN,
        # Django and Celery log every error that they catch. The integrations for them would add what was sent.
        default_integrations=False,
        auto_enabling_integrations=False,
        integrations=[
            LoggingIntegration(level=None),
            DedupeIntegration(),
            AtexitIntegration(callback=lambda _pending, _timeout: None),
        ],
        before_send=reduced,
        include_local_variables=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        auto_session_tracking=False,
        send_client_reports=False,
        propagate_traces=False,
        shutdown_timeout=_SHUTDOWN_SECONDS,
    )


def stop() -> None:
    """Send what is waiting, for at most two seconds."""
    if settings.SENTRY_DSN:
        import sentry_sdk  # not installed everywhere

        sentry_sdk.flush(_SHUTDOWN_SECONDS)


def reduced(event: Any, hint: Any) -> Any:
    """A report with nothing but what is listed here; None for an error of an outage that was reported."""
    if _outages.is_known((hint.get("exc_info") or [None, None])[1]):
        return None
    kept = {name: value for name, value in event.items() if name in _KEPT}
    kept["tags"] = dict(log_context.noted())
    if "logentry" in event:
        kept["logentry"] = {"message": event["logentry"].get("message", "")}
    if "exception" in event:
        kept["exception"] = {"values": [_exception(value) for value in event["exception"]["values"]]}
    return kept


def _exception(value: dict[str, Any]) -> dict[str, Any]:
    frames = (value.get("stacktrace") or {}).get("frames", [])
    return {
        "type": value.get("type"),
        "module": value.get("module"),
        "value": "",
        "stacktrace": {"frames": [{key: frame[key] for key in frame if key in _FRAME} for frame in frames]},
    }
