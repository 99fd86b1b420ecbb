"""Certificates that must be refused, and one that must be accepted."""

import pytest

from delivery.models import EventState, WebhookAttempt
from tests.factories import DeliveryFactory
from tests.faults.certificates import Authority
from tests.faults.report import print_figures
from tests.faults.waiting import until


@pytest.fixture(scope="module")
def authority(module_processes, tmp_path_factory):
    """One that the worker trusts."""
    authority = Authority(tmp_path_factory.mktemp("certificates"))
    module_processes.start("beat")
    module_processes.start("worker", SSL_CERT_FILE=str(authority.path))
    return authority


def first_attempt(delivery):
    attempts = WebhookAttempt.objects.filter(event__delivery=delivery)
    until(attempts.exists, what="an attempt")
    return attempts.select_related("event").earliest("pk")


@pytest.mark.parametrize(
    "certificate",
    [{"expired": True}, {"self_signed": True}, {"host": "elsewhere.example"}],
    ids=["expired", "self-signed", "of another host"],
)
def test_an_invalid_certificate_is_refused(authority, new_endpoint, shop_at, certificate, request):
    endpoint = new_endpoint(context=authority.context(**certificate))

    attempt = first_attempt(DeliveryFactory.create(token=shop_at(endpoint.url)))

    print_figures(
        f"Certificate {request.node.callspec.id}", sent=1, received=len(endpoint.receipts), error=attempt.error
    )
    assert (attempt.error, attempt.status_code, attempt.event.state) == ("tls", None, EventState.PENDING)
    assert endpoint.receipts == []


def test_a_valid_certificate_is_accepted(authority, new_endpoint, shop_at):
    endpoint = new_endpoint(context=authority.context())

    attempt = first_attempt(DeliveryFactory.create(token=shop_at(endpoint.url)))

    print_figures(
        "Certificate of a trusted authority", sent=1, received=len(endpoint.receipts), status=attempt.status_code
    )
    assert (attempt.error, attempt.status_code, attempt.event.state) == ("", 204, EventState.SENT)
    assert len(endpoint.receipts) == 1
