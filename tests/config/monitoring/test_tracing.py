"""Traces to a collector on loopback, in the protocol OTLP over HTTP."""

import asyncio
from datetime import timedelta

import pytest
from django.http import HttpResponse
from django.test import RequestFactory
from django.utils import timezone

from common.observability import tracing as hooks
from common.webhooks import endpoints
from config.monitoring import tracing
from delivery.models import Delivery, WebhookEvent, WebhookQueueItem
from tests.common.webhooks.conftest import _send_due
from tests.config.monitoring.receivers import receiver
from tests.factories import BY, DeliveryFactory, payload

CALLERS = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def provider_of_this_process():
    assert tracing._tracer is not None
    return tracing._tracer.provider


@pytest.fixture
def collector(settings):
    """A collector that this process sends its spans to."""
    with receiver() as server:
        settings.OTEL_ENDPOINT = f"http://127.0.0.1:{server.server_port}"
        settings.MIDDLEWARE = [
            *settings.MIDDLEWARE[:1],
            "config.monitoring.tracing.TraceMiddleware",
            *settings.MIDDLEWARE[1:],
        ]
        tracing.start("web")
        provider = provider_of_this_process()
        yield server
        tracing.stop()
        provider.shutdown()


@pytest.fixture
def spans(collector):
    def do():
        provider_of_this_process().force_flush()
        return [span for _process, span in collector.spans()]

    return do


def attributes(span):
    return {each.key: each.value.string_value or each.value.int_value for each in span.attributes}


@pytest.mark.django_db
class TestRequest:
    def test_is_a_span_with_route_status_and_ids(self, api, token, spans):
        api.post("/api/request-delivery", payload(stops=1))

        (span,) = spans()
        assert span.name == "POST api/request-delivery"
        assert attributes(span) == {
            "http.request.method": "POST",
            "http.route": "api/request-delivery",
            "http.response.status_code": 201,
            "rota.account": str(token.integrator_id),
            "rota.delivery": str(Delivery.objects.get().pk),
        }
        assert not span.parent_span_id

    def test_links_the_callers_trace_and_does_not_continue_it(self, api, spans):
        api.get("/api/info-delivery/x", headers={"traceparent": CALLERS})

        (span,) = spans()
        assert [link.trace_id.hex() for link in span.links] == [CALLERS.split("-")[1]]
        assert span.trace_id.hex() != CALLERS.split("-")[1]

    @pytest.mark.parametrize("sent", ["", "x", "00-" + "0" * 32 + "-" + "0" * 16 + "-01", CALLERS * 100])
    def test_links_nothing_else(self, api, spans, sent):
        assert api.get("/api/info-delivery/x", headers={"traceparent": sent}).status_code == 404

        (span,) = spans()
        assert list(span.links) == []

    def test_of_an_unknown_path_does_not_name_it(self, client, spans):
        client.get("/nowhere/secret")

        (span,) = spans()
        assert span.name == "GET unknown"
        assert "secret" not in str(span)


@pytest.mark.django_db(transaction=True)
class TestWebhook:
    def test_is_a_span_in_the_trace_of_its_request_hours_later(self, api, token, spans):
        endpoint = token.integrator.endpoints.get(environment=token.environment)
        endpoints.set_url(endpoint=endpoint, url="http://127.0.0.1:9/hook", by=BY, at=timezone.now())
        api.post("/api/request-delivery", payload(stops=1))
        event = WebhookEvent.objects.get()

        for _ in range(2):
            WebhookQueueItem.objects.update(due_at=timezone.now() - timedelta(hours=3))
            asyncio.run(_send_due())

        request, *attempts = spans()
        assert event.trace_context[:-2] == f"00-{request.trace_id.hex()}-{request.span_id.hex()}-"
        assert [span.name for span in attempts] == ["webhook attempt"] * 2
        assert {(span.trace_id, span.parent_span_id) for span in attempts} == {(request.trace_id, request.span_id)}
        assert attributes(attempts[0]) == {
            "rota.event": str(event.pk), "rota.sequence": 1, "error.type": "connect"
        }  # fmt: skip  # a table
        assert attempts[0].status.code == 2
        assert attempts[0].start_time_unix_nano <= attempts[0].end_time_unix_nano
        made = event.attempts.get(number=1).at.timestamp()
        assert attempts[0].start_time_unix_nano / 1e9 == pytest.approx(made, abs=1)


def test_a_process_ends_although_its_collector_does_not_answer(settings, monkeypatch):
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "3600")
    monkeypatch.setattr(tracing, "_STOP_SECONDS", 0.1)
    with receiver() as silent:
        silent.may_answer.clear()
        settings.OTEL_ENDPOINT = f"http://127.0.0.1:{silent.server_port}"
        tracing.start("worker")
        provider = provider_of_this_process()
        now = timezone.now()
        hooks.record("x", parent="", started_at=now, ended_at=now, failed=False, attributes={})

        tracing.stop()  # would not return before the answer

        assert not hooks.is_on()
        silent.may_answer.set()
        provider.shutdown()
        assert [process for process, _span in silent.spans()] == ["worker"]


class TestSwitchedOff:
    def test_writes_no_context_and_records_nothing(self, db):
        delivery = DeliveryFactory.create()

        assert delivery.events.get().trace_context == ""
        assert not hooks.is_on()

    def test_middleware_without_a_tracer_answers(self):
        answered = tracing.TraceMiddleware(lambda request: HttpResponse(request.path))(RequestFactory().get("/x"))

        assert answered.content == b"/x"
