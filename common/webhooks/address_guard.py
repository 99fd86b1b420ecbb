"""Refuses webhook URLs and addresses inside private networks (server-side request forgery). Pure.

Checked twice: when a URL is saved, so that the person who sets it is told why it is refused; and for the socket that is
about to connect, because the addresses of a name can change after the URL was checked (DNS rebinding). When a webhook
is sent, aiohttp looks the name up, within the deadline of the request; see `http_client`.
"""

import ipaddress
import re
import socket
from collections.abc import Hashable, Iterable
from functools import lru_cache
from urllib.parse import SplitResult, quote, urlsplit

from yarl import URL

from common.errors import DomainError
from common.workers.deadlines import BoundedCalls, DeadlinePassed, TooManyCalls

_PORTS = {443, 8443}
LOOPBACK_HOSTS = {"localhost", "127.0.0.1", "::1"}
_MAX_URL_LENGTH = 2000
_PRINTABLE_ASCII = "".join(map(chr, range(0x21, 0x7F)))
# Global unicast: every public IPv6 address is in it. The rest is private, reserved or unassigned.
_UNICAST = ipaddress.ip_network("2000::/3")
_REFUSED_NETWORKS = tuple(
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT
        "127.0.0.0/8",
        "168.63.129.16/32",  # Azure's virtual host service, not reachable from the internet
        "169.254.0.0/16",  # link-local, with the metadata services of clouds
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",  # 6to4 relays
        "192.168.0.0/16",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",  # multicast, reserved, broadcast
        "2001::/23",  # Teredo, ORCHID, benchmarking
        "2001:db8::/32",
        "2002::/16",  # 6to4
        "3fff::/20",
    )
)


# Fewer look-ups than a web process has threads, so that those which hang leave threads for other requests.
MOST_LOOK_UPS = 2
_calls = BoundedCalls(most=MOST_LOOK_UPS, seconds=3)


class InvalidWebhookUrl(DomainError):
    """Saving a webhook URL that is malformed, not https, or leads to a forbidden port or address."""

    code = "invalid_webhook_url"
    title = "This address cannot receive webhooks"
    meaning = "The webhook URL is malformed, not https, or leads to a port or an address that is not allowed."
    remedy = "Correct what the answer names: https, a public host, port 443 or 8443. An empty text removes the URL."
    example = "The URL must begin with https://."
    fields: tuple[str, ...] = ("url",)


class WebhookHostUnresolved(InvalidWebhookUrl):
    """Saving a webhook URL whose host name has no address, or none within the time limit."""

    code = "webhook_host_unresolved"
    title = "The host name of this address cannot be resolved"
    retryable = True
    meaning = "The host of the webhook URL has no address, or its DNS servers did not answer within three seconds."
    remedy = "Check the spelling and the DNS records, then repeat the call."


class LookUpsBusy(InvalidWebhookUrl):
    """Saving a webhook URL while a look-up for the account, or as many as this process allows, have not returned."""

    code = "look_ups_busy"
    title = "Too many host names are being looked up"
    status = 503
    fields = ()
    retryable = True
    retry_after = 60
    meaning = "A host name is still being looked up for your account, or too many are in all."
    remedy = "Repeat the call after the seconds in Retry-After."
    example = "Too many host names are being looked up at the moment. Nothing was changed; try again in a minute."


class MalformedUrl(ValueError):
    """A URL that cannot be called."""


class AddressRefused(OSError):
    """A socket was requested for an address that is not public."""


def is_public(address: str) -> bool:
    """Whether an IP address is on the public internet. An IPv4-mapped IPv6 address is treated as the IPv4 address."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    if isinstance(ip, ipaddress.IPv6Address) and ip not in _UNICAST:
        return False
    return not any(ip in network for network in _REFUSED_NETWORKS if network.version == ip.version)


# Cached, because a URL works out once what aiohttp asks of it. With a new one a request takes 8 % longer.
@lru_cache(maxsize=1024)
def called_url(url: str) -> URL:
    """The URL as it is called, without its fragment: from the path on each character as in `url`.

    A signature can cover escapes and dots that are not necessary. Only what no request can have is replaced: characters
    beyond ASCII, by IDNA in the host and by the escapes of UTF-8 behind it. Raises MalformedUrl.
    """
    try:
        parts = URL(url)
        behind_host = url.partition("#")[0].partition("://")[2].removeprefix(urlsplit(url).netloc)
        target = quote(behind_host, safe=_PRINTABLE_ASCII)
    except ValueError as error:
        raise MalformedUrl(str(error)) from error
    # As a path alone, because yarl leaves out the question mark of an empty query.
    path = target if target.startswith("/") else f"/{target}"
    return URL.build(scheme=parts.scheme, authority=parts.raw_authority, path=path, encoded=True)


def check_url(url: str, *, allow_loopback: bool) -> str | None:
    """Check everything about `url` that needs no name look-up. Raises InvalidWebhookUrl with the reason.

    Returns the host name, whose addresses `check_addresses` is to check, or None for a loopback URL.
    `allow_loopback` accepts URLs of this machine, with http and any port, so that webhooks can be tried locally.
    """
    parts, called = _split(url), _called(url)
    host = (called.raw_host or "").rstrip(".")
    if parts.username is not None or parts.password is not None:
        raise InvalidWebhookUrl("Leave user name and password out of the URL.")
    if allow_loopback and host in LOOPBACK_HOSTS and parts.scheme in {"http", "https"}:
        return None
    if parts.scheme != "https":
        raise InvalidWebhookUrl("The URL must begin with https://.")
    if not host:
        raise InvalidWebhookUrl("The URL names no host.")
    # Resolvers read these as addresses: dotted, short (127.1), decimal, octal, hexadecimal and IPv6.
    if ":" in host or re.fullmatch(r"[0-9]+|0[xX][0-9a-fA-F]*", host.rpartition(".")[2]):
        raise InvalidWebhookUrl("Name a host, not an IP address.")
    if called.explicit_port is not None and called.explicit_port not in _PORTS:
        raise InvalidWebhookUrl("Only ports 443 and 8443 are allowed.")
    return host


def addresses(host: str, *, account: Hashable = None) -> list[str]:
    """The IP addresses of a host name, at least one. Takes up to 3 s, so it must not be called in a transaction.

    Raises WebhookHostUnresolved, or LookUpsBusy while an earlier look-up for the account in this process, or as many as
    it allows for all, have not returned. So name servers of one account that do not answer delay no other.
    """
    try:
        found = _calls.run(lambda: socket.getaddrinfo(host, None, type=socket.SOCK_STREAM), account=account)
    except TooManyCalls as error:
        raise LookUpsBusy(
            "Too many host names are being looked up at the moment. Nothing was changed; try again in a minute."
        ) from error
    except DeadlinePassed as error:
        raise WebhookHostUnresolved(
            "Looking up %(host)s took more than %(seconds)s seconds. Check its DNS servers, or try again later.",
            host=host,
            seconds=_calls.seconds,
        ) from error
    except (OSError, UnicodeError) as error:  # UnicodeError: not a valid DNS name
        if isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN:
            raise WebhookHostUnresolved(
                "No DNS server gave an answer for %(host)s. Check its DNS servers, or try again later.", host=host
            ) from error
        raise WebhookHostUnresolved(
            "%(host)s does not resolve to an address. Check its spelling and its DNS records.", host=host
        ) from error
    return [str(entry[4][0]) for entry in found]


def check_addresses(host: str, addresses: Iterable[str]) -> None:
    """Raise InvalidWebhookUrl unless every one of the addresses of `host` is public."""
    if not all(is_public(address) for address in addresses):
        raise InvalidWebhookUrl("%(host)s leads to an address that is not on the public internet.", host=host)


def guarded_socket(
    address_info: tuple[int, int, int, str, tuple[object, ...]], *, allow_loopback: bool
) -> socket.socket:
    """A socket for aiohttp, not connected yet. Raises AddressRefused when the address is not public.

    `address_info` is an entry of `socket.getaddrinfo`.
    """
    family, kind, protocol, _name, address = address_info
    host = str(address[0])
    is_allowed_loopback = allow_loopback and ipaddress.ip_address(host.partition("%")[0]).is_loopback
    if not is_allowed_loopback and not is_public(host):
        raise AddressRefused(f"{host} is not on the public internet")
    return socket.socket(family, kind, protocol)


def _split(url: str) -> SplitResult:
    """The parts of `url`. Raises InvalidWebhookUrl unless every parser splits it in the same way."""
    if len(url) > _MAX_URL_LENGTH:
        raise InvalidWebhookUrl("The URL is longer than %(most)s characters.", most=_MAX_URL_LENGTH)
    # Parsers differ in how they treat control characters, spaces and backslashes.
    if re.search(r"[\x00-\x20\x7f-\x9f\\]", url):
        raise InvalidWebhookUrl("The URL contains a space, a backslash or a control character.")
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  # the property raises ValueError unless it is a number up to 65535
    except ValueError as error:
        raise InvalidWebhookUrl("This is not a URL.") from error
    return parts


def _called(url: str) -> URL:
    try:
        return called_url(url)
    except MalformedUrl as error:
        raise InvalidWebhookUrl("This is not a URL.") from error
