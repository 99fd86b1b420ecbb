import socket

import pytest

from delivery.errors import InvalidWebhookUrl
from delivery.webhooks import address_guard
from delivery.webhooks.address_guard import AddressRefused

PRIVATE = [
    "0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.255.255.254", "168.63.129.16", "169.254.169.254",
    "172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.1",
    "203.0.113.1", "224.0.0.1", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::7f00:1",
    "64:ff9b::a9fe:a9fe", "64:ff9b:1::1", "100::1", "2001::1", "2001:db8::1", "2002:7f00:1::", "fc00::1", "fd00::1",
    "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::1", "200::1", "4000::1", "100:0:0:1::1", "e000::1",
]  # fmt: skip
PUBLIC = ["8.8.8.8", "172.32.0.1", "100.128.0.1", "2600:1f18::1", "::ffff:8.8.8.8"]


class TestIsPublic:
    @pytest.mark.parametrize("address", PRIVATE)
    def test_refuses_every_range_that_is_not_public(self, address):
        assert not address_guard.is_public(address)

    @pytest.mark.parametrize("address", PUBLIC)
    def test_accepts_public_addresses_of_both_versions(self, address):
        assert address_guard.is_public(address)


class TestCheckUrl:
    @pytest.mark.parametrize(
        ("url", "why"),
        [
            ("http://example.com/hook", "https"),
            ("ftp://example.com/hook", "https"),
            ("example.com/hook", "https"),
            ("https:///hook", "names no host"),
            ("https://example.com:8080/hook", "443 and 8443"),
            ("https://example.com:99999/hook", "not a URL"),
            ("https://user:secret@example.com/hook", "user name"),  # pragma: allowlist secret  # of a test
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
        ],
    )
    def test_refuses_with_the_reason(self, url, why):
        with pytest.raises(InvalidWebhookUrl, match=why):
            address_guard.check_url(url, allow_loopback=False)

    @pytest.mark.parametrize("url", ["https://example.com/hook", "https://EXAMPLE.com:8443/a?b=c", "https://a.example"])
    def test_returns_the_host_name_to_look_up(self, url):
        assert address_guard.check_url(url, allow_loopback=False) in {"example.com", "a.example"}

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
    @pytest.mark.parametrize("address", [a for a in PRIVATE if "%" not in a])
    def test_refuses_to_make_a_socket_to_a_private_address(self, address):
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        with pytest.raises(AddressRefused):
            address_guard.guarded_socket((family, socket.SOCK_STREAM, 6, "", (address, 443)), allow_loopback=False)

    def test_makes_one_to_a_public_address(self):
        info = (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("8.8.8.8", 443))

        address_guard.guarded_socket(info, allow_loopback=False).close()
