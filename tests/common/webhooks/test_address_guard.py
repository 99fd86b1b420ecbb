"""The check of URLs and addresses. The stand-in is for the C library's resolver."""

import socket
import threading

import pytest

from common.webhooks import address_guard
from common.webhooks.address_guard import AddressRefused, InvalidWebhookUrl, LookUpsBusy, WebhookHostUnresolved
from common.workers.deadlines import BoundedCalls
from config.server import rsgi
from tests.cases import in_turn

PRIVATE = [
    "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "168.63.129.16", "169.254.169.254",
    "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.1",
    "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "fc00::1", "fd00::1",
    "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "200::1", "4000::1", "100:0:0:1::1", "e000::1",
    "192.88.99.1", "198.19.255.255", "239.255.255.255", "3fff::1", "5f00::1", "::ffff:0:127.0.0.1", "2002:a01:203::",
]  # fmt: skip
PUBLIC = ["8.8.8.8", "172.32.0.1", "100.128.0.1", "2600:1f18::1", "::ffff:8.8.8.8"]


class TestIsPublic:
    @in_turn("address", PRIVATE)
    def test_refuses_every_range_that_is_not_public(self, address):
        assert not address_guard.is_public(address)

    @pytest.mark.parametrize("address", PUBLIC)
    def test_accepts_public_addresses_of_both_versions(self, address):
        assert address_guard.is_public(address)


class TestCheckUrl:
    @in_turn(
        ("url", "why"),
        [
            ("http://example.com/hook", "https"),
            ("ftp://example.com/hook", "https"),
            ("example.com/hook", "https"),
            ("https:///hook", "names no host"),
            ("https://example.com:8080/hook", "443 and 8443"),
            ("https://example.com:99999/hook", "not a URL"),
            ("https://user:secret@example.com/hook", r"out of the URL\.$"),  # pragma: allowlist secret  # of a test
            ("https://@example.com/hook", "user name"),
            ("https://8.8.8.8/hook", "not an IP address"),
            ("https://[2600:1f18::1]/hook", "not an IP address"),
            ("https://127.1/hook", "not an IP address"),
            ("https://2130706433/hook", "not an IP address"),
            ("https://0x7f000001/hook", "not an IP address"),
            ("https://0177.0.0.1/hook", "not an IP address"),
            ("https://127.0.0.1./hook", "not an IP address"),
            ("https://exa mple.com/hook", "space"),
            ("https://example.com\\@evil.com/", "backslash"),
            ("https://example.com/\r\nX: y", "control"),
            ("https://example.com/" + "a" * 2000, "longer than"),
            ("https://[::1", "not a URL"),
            ("https://example.com:0/", "Only ports"),
            ("https://\uff11\uff12\uff17.0.0.1/hook", "not an IP address"),  # full-width digits
            ("https://shop\N{ACCOUNT OF}.example/", "not a URL"),  # is "a/c" in another normal form
        ],
    )
    def test_refuses_with_the_reason(self, url, why):
        with pytest.raises(InvalidWebhookUrl, match=why):
            address_guard.check_url(url, allow_loopback=False)

    @pytest.mark.parametrize("url", ["https://example.com/hook", "https://EXAMPLE.com:8443/a?b=c", "https://a.example"])
    def test_returns_the_host_name_to_look_up(self, url):
        assert address_guard.check_url(url, allow_loopback=False) in {"example.com", "a.example"}

    def test_returns_the_name_that_will_be_called(self):
        url = "https://lojaação.example/x"

        host = address_guard.check_url(url, allow_loopback=False)

        assert host == address_guard.called_url(url).raw_host == "xn--lojaao-7ta5a.example"

    @pytest.mark.parametrize("url", ["http://127.0.0.1:9000/x", "http://localhost:9000/x", "https://[::1]:1/x"])
    def test_accepts_loopback_where_it_is_allowed(self, url):
        assert address_guard.check_url(url, allow_loopback=True) is None

    @pytest.mark.parametrize("url", ["http://10.0.0.1/x", "http://127.0.0.2/x", "http://example.com/x"])
    def test_accepts_no_other_host_without_https(self, url):
        with pytest.raises(InvalidWebhookUrl):
            address_guard.check_url(url, allow_loopback=True)


class TestCheckAddresses:
    def test_refuses_a_name_with_one_private_address(self):
        with pytest.raises(InvalidWebhookUrl, match=r"rebind\.example leads to an address that is not on the public"):
            address_guard.check_addresses("rebind.example", ["93.184.216.34", "169.254.169.254"])

    def test_accepts_public_addresses(self):
        address_guard.check_addresses("shop.example", ["93.184.216.34", "2600:1f18::1"])


class TestGuardedSocket:
    @pytest.mark.parametrize("address", ["10.1.2.3", "169.254.169.254", "::1", "::ffff:127.0.0.1"])
    def test_refuses_to_make_a_socket_to_a_private_address(self, address):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with pytest.raises(AddressRefused):
            address_guard.guarded_socket((family, socket.SOCK_STREAM, 6, "", (address, 443)), allow_loopback=False)

    def test_makes_one_to_a_public_address(self):
        info = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("8.8.8.8", 443))

        address_guard.guarded_socket(info, allow_loopback=False).close()


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
    monkeypatch.setattr(address_guard, "_calls", BoundedCalls(most=2, seconds=0.05))
    yield
    release.set()


class TestAddresses:
    def test_are_all_of_the_host_name(self, monkeypatch):
        found = ["93.184.216.34", "2600:1f18::1"]
        resolver(monkeypatch, lambda: [(0, socket.SOCK_STREAM, 6, "", (address, 0)) for address in found])

        assert address_guard.addresses("shop.example") == found

    def test_of_a_real_name(self):
        assert set(address_guard.addresses("localhost")) <= {"127.0.0.1", "::1"}

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
            address_guard.addresses("shop.example")

    def test_raise_for_a_name_that_dns_does_not_allow(self):
        with pytest.raises(WebhookHostUnresolved, match="does not resolve"):
            address_guard.addresses(f"{'a' * 64}.example")

    def test_raise_after_the_deadline(self, hung):
        with pytest.raises(WebhookHostUnresolved, match=r"shop.example took more than 0.05 seconds"):
            address_guard.addresses("shop.example")

    def test_of_one_account_are_looked_up_one_at_a_time(self, hung, monkeypatch):
        with pytest.raises(WebhookHostUnresolved):
            address_guard.addresses("silent.example", account="a")
        resolver(monkeypatch, lambda: [(0, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 0))])

        with pytest.raises(LookUpsBusy):
            address_guard.addresses("other.example", account="a")

        assert address_guard.addresses("shop.example", account="b") == ["93.184.216.34"]

    def test_leave_a_thread_of_a_web_process_for_other_requests(self):
        assert address_guard.MOST_LOOK_UPS < rsgi._THREADS

    def test_raise_at_once_while_too_many_look_ups_hang(self, hung):
        for _number in range(2):
            with pytest.raises(WebhookHostUnresolved):
                address_guard.addresses("shop.example")

        with pytest.raises(LookUpsBusy, match="try again in a minute"):
            address_guard.addresses("shop.example")
