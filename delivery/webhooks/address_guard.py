"""Where webhooks may go: never into a private network. Pure but for making the socket.

Checked twice: when a URL is saved, so that a person reads why it is refused; and on the socket about to connect, so
that no redirect, rebinding name or odd spelling gets past.
"""

import ipaddress
import re
import socket
from collections.abc import Iterable
from urllib.parse import SplitResult, urlsplit

from delivery.errors import InvalidWebhookUrl

_PORTS = {443, 8443}
_LOOPBACK_HOSTS = {"localhost", "127.0.0.1", "::1"}
_LONGEST_URL = 2000
# All of the IPv6 internet lies in it; the rest is private, reserved, or not given out.
_UNICAST = ipaddress.ip_network("2000::/3")
_REFUSED_NETWORKS = tuple(
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",  # carrier-grade NAT
        "127.0.0.0/8",
        "168.63.129.16/32",  # Azure's host service, a public address that is not on the internet
        "169.254.0.0/16",  # link-local, where clouds keep their metadata
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


class AddressRefused(OSError):
    """The socket was about to connect to an address that is not public."""


def is_public(address: str) -> bool:
    """Whether an IP address lies on the public internet. IPv4-mapped IPv6 addresses are judged as IPv4."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address) and ip.ipv4_mapped is not None:
        ip = ip.ipv4_mapped
    if isinstance(ip, ipaddress.IPv6Address) and ip not in _UNICAST:
        return False
    return not any(ip in network for network in _REFUSED_NETWORKS if network.version == ip.version)


def check_url(url: str, *, allow_loopback: bool) -> str | None:
    """Raise InvalidWebhookUrl, saying why, unless `url` may be sent to as far as its text tells.

    Returns the host name to look up, whose addresses `check_addresses` judges; None where there is nothing to look up.
    `allow_loopback` lets http, any port and this machine's own address through, for a newcomer's first webhooks.
    """
    parts = _split(url)
    host = (parts.hostname or "").rstrip(".")
    if parts.username is not None or parts.password is not None:
        raise InvalidWebhookUrl("Leave user name and password out of the URL; the Bearer token identifies us.")
    if parts.scheme in {"http", "https"} and allow_loopback and host in _LOOPBACK_HOSTS:
        return None
    if parts.scheme != "https":
        raise InvalidWebhookUrl("The URL must begin with https://.")
    if not host:
        raise InvalidWebhookUrl("The URL names no host.")
    if parts.port is not None and parts.port not in _PORTS:
        raise InvalidWebhookUrl("Only ports 443 and 8443 are allowed.")
    if _is_ip_literal(host):
        raise InvalidWebhookUrl("Name a host, not an IP address.")
    return host


def check_addresses(host: str, addresses: Iterable[str]) -> None:
    """Raise InvalidWebhookUrl unless every address that `host` leads to is public."""
    if not all(is_public(address) for address in addresses):
        raise InvalidWebhookUrl("%(host)s leads to an address that is not on the public internet.", host=host)


def guarded_socket(
    address_info: tuple[int, int, int, str, tuple[object, ...]], *, allow_loopback: bool
) -> socket.socket:
    """A socket for aiohttp to connect with. Raises AddressRefused when the address is not public."""
    family, kind, protocol, _name, address = address_info
    host = str(address[0])
    is_own = allow_loopback and ipaddress.ip_address(host.partition("%")[0]).is_loopback
    if not is_own and not is_public(host):
        raise AddressRefused(f"{host} is not on the public internet")
    return socket.socket(family, kind, protocol)


def _split(url: str) -> SplitResult:
    if len(url) > _LONGEST_URL:
        raise InvalidWebhookUrl("The URL is longer than %(most)s characters.", most=_LONGEST_URL)
    # Control characters and spaces are dropped or read differently by different parsers; backslashes too.
    if re.search(r"[\x00-\x20\x7f-\x9f\\]", url):
        raise InvalidWebhookUrl("The URL contains a space, a backslash or a control character.")
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018  # reading it raises when it is not a number up to 65535
    except ValueError as error:
        raise InvalidWebhookUrl("This is not a URL.") from error
    return parts


def _is_ip_literal(host: str) -> bool:
    """An address in any spelling that resolvers take: dotted, short (127.1), decimal, octal, hexadecimal, IPv6."""
    last = host.rpartition(".")[2]
    return ":" in host or bool(re.fullmatch(r"[0-9]+|0[xX][0-9a-fA-F]*", last))
