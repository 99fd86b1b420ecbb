"""Which address a request is counted for."""

import pytest

from common.http_requests import client_address

PEER = "10.0.0.1"


class TestClientAddress:
    @pytest.mark.parametrize("forwarded", ["6.6.6.6", "6.6.6.6, 7.7.7.7", "malformed", ""])
    def test_is_the_peer_without_proxies(self, forwarded):
        assert client_address({"REMOTE_ADDR": PEER, "HTTP_X_FORWARDED_FOR": forwarded}, proxies=0) == PEER

    @pytest.mark.parametrize(
        ("proxies", "forwarded", "expected"),
        [
            (1, "1.1.1.1", "1.1.1.1"),
            (1, "6.6.6.6, 1.1.1.1", "1.1.1.1"),
            (1, "6.6.6.6,,1.1.1.1 ", "1.1.1.1"),
            (1, "1.1.1.1:5678", "1.1.1.1"),
            (1, "[2001:db8:0:1::5]:5678", "2001:db8:0:1::/64"),
            (2, "6.6.6.6, 1.1.1.1, 10.0.0.2", "1.1.1.1"),
            (2, "1.1.1.1, 10.0.0.2", "1.1.1.1"),
            (3, "6.6.6.6, 1.1.1.1, 10.0.0.2, 10.0.0.3", "1.1.1.1"),
        ],
    )
    def test_is_the_entry_that_the_outermost_proxy_wrote(self, proxies, forwarded, expected):
        environ = {"REMOTE_ADDR": PEER, "HTTP_X_FORWARDED_FOR": forwarded}

        assert client_address(environ, proxies=proxies) == expected

    @pytest.mark.parametrize(
        ("proxies", "forwarded"),
        [
            (1, ""),
            (1, "unknown"),
            (1, "6.6.6.6,"),
            (1, "6.6.6.6, 1.1.1"),
            (1, "1.1.1.1 2.2.2.2"),
            (1, "["),
            (1, "[]"),
            (1, "1" * 100_000),
            (1, "１.1.1.1"),
            (2, "6.6.6.6"),
        ],
    )
    def test_is_the_peer_when_the_proxies_wrote_none(self, proxies, forwarded):
        environ = {"REMOTE_ADDR": PEER, "HTTP_X_FORWARDED_FOR": forwarded}

        assert client_address(environ, proxies=proxies) == PEER

    @pytest.mark.parametrize(
        ("address", "expected"),
        [
            ("2001:db8:0:1::5", "2001:db8:0:1::/64"),
            ("2001:db8:0:1:ffff:ffff:ffff:ffff", "2001:db8:0:1::/64"),
            ("2001:db8:0:2::5", "2001:db8:0:2::/64"),
            ("fe80::1%eth0", "fe80::/64"),
            ("::ffff:1.1.1.1", "1.1.1.1"),
            ("", "unknown"),
        ],
    )
    def test_of_a_peer(self, address, expected):
        assert client_address({"REMOTE_ADDR": address}, proxies=0) == expected

    def test_of_a_server_that_names_no_peer(self):
        assert client_address({}, proxies=0) == "unknown"
