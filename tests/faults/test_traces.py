"""Traces of real processes: a call to a web process, and the webhook that a worker sends for it."""

from tests.config.monitoring.receivers import receiver
from tests.faults.calls import call, new_session
from tests.faults.waiting import until


def test_a_call_and_its_webhook_are_one_trace(processes, callers):
    with receiver() as collector:
        environment = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_port}",
            "OTEL_BSP_SCHEDULE_DELAY": "200",
            "WEB_WORKERS": "1",
        }
        web = processes.start_web(**environment)
        processes.start("worker", **environment)

        with new_session() as session:
            answer = call(session, web.base, callers.delivery())
        until(lambda: len({process for process, _span in collector.spans()}) == 2, what="spans of both processes")

    spans = {process: span for process, span in collector.spans() if span.name != "GET healthz"}
    assert answer.status == 201
    assert spans["web"].name == "POST api/request-delivery"
    assert spans["worker"].name == "webhook attempt"
    assert spans["worker"].trace_id == spans["web"].trace_id
    assert spans["worker"].parent_span_id == spans["web"].span_id
