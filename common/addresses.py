"""The client's address, by which failed log-ins are counted."""

import ipaddress
from collections.abc import Mapping
from typing import Any

# The longest textual IPv6 address has 45 characters; brackets and a port add 8.
_MAX_LENGTH = 64
_IPV6_PREFIX = 64  # a provider assigns at least a /64 to each customer
UNKNOWN = "unknown"


def client_address(environ: Mapping[str, Any], *, proxies: int) -> str:
    """The address that a request came from: an IPv4 address, or the /64 network of an IPv6 address.

    Without `proxies` that is the peer's address and no header is read. Behind N proxies it is the N-th entry of
    X-Forwarded-For from the right, which the outermost of them wrote; entries further left come from the client.
    Requests whose header is missing, too short or malformed at that place count for the peer's address together.
    """
    forwarded = str(environ.get("HTTP_X_FORWARDED_FOR", "")).rsplit(",", proxies) if proxies else []
    named = forwarded[-proxies] if len(forwarded) >= proxies > 0 else ""
    return _network(named) or _network(str(environ.get("REMOTE_ADDR", ""))) or UNKNOWN


def _network(text: str) -> str:
    """The address or network that `text` names, with or without a port; empty when it names none."""
    if len(text) > _MAX_LENGTH:
        return ""
    text = text.strip()
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return ""
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(address), _IPV6_PREFIX), strict=False))
