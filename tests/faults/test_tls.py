"""Certificates of endpoints that a worker refuses or accepts, whose environment names a proxy and other passwords."""

import netrc
import os
import subprocess
import sys

import pytest

from delivery.models import EventState, WebhookAttempt
from tests.factories import DeliveryFactory
from tests.faults.certificates import Authority
from tests.faults.endpoint import ConnectionCounter
from tests.faults.waiting import until


@pytest.fixture(scope="module")
def proxy():
    counter = ConnectionCounter()
    yield counter
    counter.close()


@pytest.fixture(scope="module")
def misleading(proxy, tmp_path_factory):
    """Variables that name a proxy, and a file with passwords for this machine."""
    folder = tmp_path_factory.mktemp("home")
    path = folder / ".netrc"
    path.write_text("".join(f"machine {host} login thief password thief\n" for host in ("127.0.0.1", "localhost")))
    path.chmod(0o600)
    names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
    return {"HOME": str(folder), "NETRC": str(path), **dict.fromkeys(names, f"http://127.0.0.1:{proxy.port}")}


@pytest.fixture(scope="module")
def authority(module_processes, misleading, tmp_path_factory):
    """One that the worker trusts."""
    authority = Authority(tmp_path_factory.mktemp("certificates"))
    module_processes.start("beat")
    module_processes.start("worker", SSL_CERT_FILE=str(authority.path), **misleading)
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
def test_an_invalid_certificate_is_refused(authority, new_endpoint, shop_at, certificate):
    endpoint = new_endpoint(context=authority.context(**certificate))

    attempt = first_attempt(DeliveryFactory.create(token=shop_at(endpoint.url)))

    assert (attempt.error, attempt.status_code, attempt.event.state) == ("tls", None, EventState.PENDING)
    assert endpoint.receipts == []


@pytest.mark.parametrize("is_encrypted", [True, False])
def test_a_webhook_is_sent_with_its_token_and_not_by_a_proxy(
    authority, new_endpoint, shop_at, proxy, misleading, is_encrypted
):
    endpoint = new_endpoint(context=authority.context() if is_encrypted else None)
    shop, before = shop_at(endpoint.url), proxy.connections
    # A client that uses these variables connects to the proxy and reads the password.
    client = [sys.executable, "-c", f"import requests; requests.get('{endpoint.url}')"]
    subprocess.run(client, env={**os.environ, **misleading}, stderr=subprocess.DEVNULL, check=False)
    assert proxy.connections == before + 1
    assert netrc.netrc(misleading["NETRC"]).authenticators("127.0.0.1") == ("thief", "", "thief")

    attempt = first_attempt(DeliveryFactory.create(token=shop))

    assert (attempt.error, attempt.status_code, attempt.event.state) == ("", 204, EventState.SENT)
    assert [receipt.headers["authorization"] for receipt in endpoint.receipts] == [f"Bearer {shop.clear_text}"]
    assert proxy.connections == before + 1
