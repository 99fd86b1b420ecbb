"""What a request says of its client and its upload besides the fields."""

import ipaddress
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from django.http import HttpRequest

# The longest textual IPv6 address has 45 characters; brackets and a port add 8.
_MAX_LENGTH = 64
_IPV6_PREFIX = 64  # a provider assigns at least a /64 to each customer
UNKNOWN = "unknown"
# What people call their browsers and systems, by a part of the User-Agent header; the first that fits.
_BROWSERS = {
    "Edg": "Edge",
    "SamsungBrowser": "Samsung Internet",
    "Firefox": "Firefox",
    "Chrome": "Chrome",
    "CriOS": "Chrome",
    "Safari": "Safari",
}
_SYSTEMS = {
    "Android": "Android",
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Windows": "Windows",
    "Mac OS": "macOS",
    "Linux": "Linux",
}


def browser_name(agent: str) -> str:
    """Browser and system as people call them, such as "Chrome, Android"; empty when neither is known.

    `agent`: a User-Agent header.
    """
    found = (next((name for part, name in names.items() if part in agent), "") for names in (_BROWSERS, _SYSTEMS))
    return ", ".join(filter(None, found))


def client_address(environ: Mapping[str, Any], *, proxies: int) -> str:
    """The address that a request came from: an IPv4 address, or the /64 network of an IPv6 address.

    Without `proxies` that is the peer's address and no header is read. Behind N proxies it is the N-th entry of
    X-Forwarded-For from the right, which the outermost of them wrote; entries further left come from the client.
    Requests whose header is missing, too short or malformed at that place count for the peer's address together.
    """
    forwarded = str(environ.get("HTTP_X_FORWARDED_FOR", "")).rsplit(",", proxies) if proxies else []
    named = forwarded[-proxies] if len(forwarded) >= proxies > 0 else ""
    return _network(named) or _network(str(environ.get("REMOTE_ADDR", ""))) or UNKNOWN


@lru_cache(maxsize=1024)  # callers come again and again
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


_MOST_DIGITS = 20  # int() raises ValueError for more than 4,300


def content_length(request: HttpRequest) -> int | None:
    """The bytes that the body has according to Content-Length, 0 without the header; None if that is no number."""
    text = request.META.get("CONTENT_LENGTH") or "0"
    return int(text) if len(text) <= _MOST_DIGITS and text.isascii() and text.isdigit() else None


def is_empty(request: HttpRequest) -> bool:
    """Whether the request has no body; one whose length is not said beforehand has one."""
    return content_length(request) == 0 and "Transfer-Encoding" not in request.headers


def is_cut_short(request: HttpRequest, *, field: str, most: int) -> bool:
    """Whether the file `field` is missing from a request of more than `most` bytes.

    The web server reads the first megabytes of a body (`config.server.rsgi.MAX_BODY_BYTES`), and Django drops a file
    whose end is missing, so that a file that is far too large looks like none.
    """
    return field not in request.FILES and (content_length(request) or 0) > most
