"""Looking up the host of a URL that is to be saved. The stand-in is for the C library's resolver."""

import socket
import threading

import pytest

from common.deadlines import BoundedCalls
from delivery.errors import LookUpsBusy, WebhookHostUnresolved
from delivery.webhooks import look_ups


def resolver(monkeypatch, answer):
    monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: answer())


def failing(error):
    def fails():
        raise error

    return fails


@pytest.fixture
def hung(monkeypatch):
    """A resolver that gives no answer while the test runs, and a short deadline."""
    release = threading.Event()
    resolver(monkeypatch, release.wait)
    monkeypatch.setattr(look_ups, "_calls", BoundedCalls(most=2, seconds=0.05))
    yield
    release.set()


class TestAddresses:
    def test_are_all_of_the_host_name(self, monkeypatch):
        found = ["93.184.216.34", "2600:1f18::1"]
        resolver(monkeypatch, lambda: [(0, socket.SOCK_STREAM, 6, "", (address, 0)) for address in found])

        assert look_ups.addresses("shop.example") == found

    def test_of_a_real_name(self):
        assert set(look_ups.addresses("localhost")) <= {"127.0.0.1", "::1"}

    @pytest.mark.parametrize(
        ("error", "why"),
        [
            (socket.gaierror(socket.EAI_NONAME, "Name or service not known"), "does not resolve to an address"),
            (socket.gaierror(socket.EAI_AGAIN, "Temporary failure"), "No DNS server gave an answer"),
            (OSError("no file handles left"), "does not resolve"),
        ],
    )
    def test_raise_the_reason_when_the_resolver_fails(self, monkeypatch, error, why):
        resolver(monkeypatch, failing(error))

        with pytest.raises(WebhookHostUnresolved, match=why):
            look_ups.addresses("shop.example")

    def test_raise_for_a_name_that_dns_does_not_allow(self):
        with pytest.raises(WebhookHostUnresolved, match="does not resolve"):
            look_ups.addresses(f"{'a' * 64}.example")

    def test_raise_after_the_deadline(self, hung):
        with pytest.raises(WebhookHostUnresolved, match=r"shop.example took more than 0.05 seconds"):
            look_ups.addresses("shop.example")

    def test_raise_at_once_while_too_many_look_ups_hang(self, hung):
        for _number in range(2):
            with pytest.raises(WebhookHostUnresolved):
                look_ups.addresses("shop.example")

        with pytest.raises(LookUpsBusy, match="try again in a minute"):
            look_ups.addresses("shop.example")
