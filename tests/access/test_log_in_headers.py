"""Failed log-ins are limited whatever headers a client sends."""

from collections import Counter

import pytest

from tests.access.conftest import CHECKED, HERE, PASSWORD, REFUSED, log_in

# Headers that a client controls, with a different value for each attempt `n`.
HEADERS = {
    "nothing": lambda n: {},
    "Forwarded": lambda n: {"Forwarded": f"for=198.51.100.{n}"},
    "X-Real-IP": lambda n: {"X-Real-IP": f"198.51.100.{n}"},
    "X-Client-IP": lambda n: {"X-Client-IP": f"198.51.100.{n}"},
    "True-Client-IP": lambda n: {"True-Client-IP": f"198.51.100.{n}"},
    "CF-Connecting-IP": lambda n: {"CF-Connecting-IP": f"198.51.100.{n}"},
    "Fastly-Client-IP": lambda n: {"Fastly-Client-IP": f"198.51.100.{n}"},
    "X-Cluster-Client-IP": lambda n: {"X-Cluster-Client-IP": f"198.51.100.{n}"},
    "X-Forwarded": lambda n: {"X-Forwarded": f"198.51.100.{n}"},
    "Via": lambda n: {"Via": f"1.1 proxy-{n}"},
    "Host": lambda n: {"Host": f"localhost:{1000 + n}"},
    "another Host": lambda n: {"Host": ["localhost", "127.0.0.1", "[::1]"][n % 3]},
    "X-Forwarded-Host": lambda n: {"X-Forwarded-Host": f"host-{n}.example"},
    "X-Forwarded-Port": lambda n: {"X-Forwarded-Port": str(n)},
    "X-Forwarded-Proto": lambda n: {"X-Forwarded-Proto": ["http", "https"][n % 2]},
    "User-Agent": lambda n: {"User-Agent": f"browser {n}"},
    "Accept-Language": lambda n: {"Accept-Language": f"en-{n}, en"},
    "Cookie": lambda n: {"Cookie": f"sessionid=session-{n:032}; known_device_1=device-{n}"},
    "Authorization": lambda n: {"Authorization": f"Basic {n}"},
    "X-Request-Id": lambda n: {"X-Request-Id": f"request-{n:08}"},
}  # fmt: skip  # a table
# Values of X-Forwarded-For sent by the client. Proxies append their own entry; without a proxy this is all of it.
FORWARDED = {
    "an address": lambda n: f"198.51.100.{n}",
    "two addresses": lambda n: f"198.51.100.{n}, 198.51.101.{n}",
    "IPv6": lambda n: f"2001:db8:{n}::1",
    "a port": lambda n: f"198.51.100.{n}:80",
    "this machine": lambda n: "127.0.0.1",
    "a name": lambda n: f"host-{n}",
    "an empty entry": lambda n: ",",
    "a break": lambda n: f"198.51.100.{n}\r\n",
    "a long list": lambda n: ", ".join(f"198.51.{n}.{each}" for each in range(256)),
}
TRIES = 7


def wrong_passwords(headers_of):
    """Log in with TRIES wrong passwords, each without cookies, then with the right one.

    Returns the number of checked and of refused wrong passwords, and the outcome of the right one.
    """
    outcomes = Counter(log_in(f"wrong-{n}", **headers_of(n)) for n in range(TRIES))
    return outcomes[CHECKED], outcomes[REFUSED], log_in(PASSWORD, **headers_of(TRIES))


@pytest.mark.parametrize("proxies", [0, 1])
class TestFailedLogIns:
    """Five wrong passwords for one name from one address are checked. Then even the right password is refused."""

    @pytest.mark.parametrize("header", HEADERS)
    def test_are_limited_whatever_the_header(self, maria, settings, proxies, header):
        settings.TRUSTED_PROXIES = proxies
        settings.ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", "testserver"]

        sent = wrong_passwords(lambda n: {"headers": HEADERS[header](n), "HTTP_X_FORWARDED_FOR": HERE})

        assert sent == (5, 2, REFUSED)

    @pytest.mark.parametrize("forwarded", FORWARDED)
    def test_are_limited_whatever_was_forwarded(self, maria, settings, proxies, forwarded):
        """A proxy appends its own entry, or a line of its own, which the server joins with a comma.

        WSGI has one key for X-Forwarded-For and its spellings with underscores, which `config.rsgi` drops.
        """
        settings.TRUSTED_PROXIES = proxies
        own = [HERE] if proxies else []

        sent = wrong_passwords(lambda n: {"HTTP_X_FORWARDED_FOR": ",".join([FORWARDED[forwarded](n), *own])})

        assert sent == (5, 2, REFUSED)
