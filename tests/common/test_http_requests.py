"""What a request says of its client: address, browser, length of its body."""

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import RequestFactory

from common.http_requests import browser_name, client_address, content_length, is_cut_short
from tests.cases import in_turn

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

    @in_turn(
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


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/120.0 Safari/537.36 Edg/120.0", "Edge, Windows"),
        ("Mozilla/5.0 (Linux; Android 14) SamsungBrowser/23.0 Chrome/115.0 Safari/537.36", "Samsung Internet, Android"),
        ("Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) CriOS/120.0 Safari/604.1", "Chrome, iPhone"),
        ("Mozilla/5.0 (Macintosh; Intel Mac OS X 14_1) Version/17.1 Safari/605.1.15", "Safari, macOS"),
        ("Mozilla/5.0 (X11; Linux x86_64; rv:121.0) Gecko/20100101 Firefox/121.0", "Firefox, Linux"),
        ("Mozilla/5.0 (X11; Linux x86_64) Unknown/1", "Linux"),
        ("curl/8.5", ""),
    ],
)
def test_a_browser_is_named_as_people_call_it_though_it_claims_to_be_others_too(agent, name):
    assert browser_name(agent) == name


@in_turn(
    ("text", "length"), [("", 0), ("0", 0), ("7", 7), ("9" * 20, int("9" * 20)), ("9" * 21, None), ("-1", None),
                         ("1_0", None), ("1.0", None), ("\u0661", None), ("\xb2", None)]
)  # fmt: skip  # a table
def test_the_length_of_a_body_is_a_number_of_ascii_digits(text, length):
    assert content_length(RequestFactory().post("/", CONTENT_LENGTH=text)) == length


@pytest.mark.parametrize(
    ("length", "field", "is_cut"), [(100, "file", False), (101, "file", True), (101, "sent", False)]
)
def test_a_file_is_cut_short_if_it_is_missing_from_what_is_longer_than_it_may_be(length, field, is_cut):
    request = RequestFactory().post("/", {"sent": SimpleUploadedFile("a.csv", b"x")})
    assert request.FILES
    request.META["CONTENT_LENGTH"] = str(length)

    assert is_cut_short(request, field=field, most=100) is is_cut
