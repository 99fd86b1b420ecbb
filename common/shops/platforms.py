"""The platforms: their signatures, and the reading of their orders. Pure.

A body is parsed by `json_body.read_object` with MOST_LEVELS and a `parse_float` that makes Decimals: of a float nothing
is read.
"""

import base64
import hashlib
import hmac
from collections.abc import Callable, Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from common.shops import shopify, woocommerce, yampi
from common.shops.order import ShopOrder, UnknownForm

MOST_LEVELS = 100  # Yampi's orders have 11; plug-ins of WooCommerce keep trees of their own in meta data
_PING = b"webhook_id="
_LONGEST_PING = 40


class Platform(StrEnum):
    WOOCOMMERCE = "WOOCOMMERCE"
    SHOPIFY = "SHOPIFY"
    YAMPI = "YAMPI"


# The base64 of HMAC-SHA256 of the raw body. Sources: WooCommerce REST API documentation, "Webhooks"; Shopify, "Verify
# webhook deliveries"; Yampi, "Webhooks, Segurança".
SIGNATURE_HEADERS: Mapping[Platform, str] = MappingProxyType(
    {
        Platform.WOOCOMMERCE: "X-WC-Webhook-Signature",
        Platform.SHOPIFY: "X-Shopify-Hmac-Sha256",
        Platform.YAMPI: "X-Yampi-Hmac-SHA256",
    }
)
TOPIC_HEADER = "X-WC-Webhook-Topic"  # `order.updated`; by WooCommerce 10.5.2
_READERS: Mapping[Platform, Callable[[Mapping[str, Any]], ShopOrder]] = MappingProxyType(
    {
        Platform.WOOCOMMERCE: woocommerce.read,
        Platform.SHOPIFY: shopify.read,
        Platform.YAMPI: yampi.read,
    }
)


def sign(*, secret: str, body: bytes) -> str:
    return base64.b64encode(hmac.digest(secret.encode(), body, hashlib.sha256)).decode()


def is_signed(*, secret: str, body: bytes, signature: str) -> bool:
    """Whether `signature`, the value of the platform's header, is that of `body`. Takes the same time for each."""
    return hmac.compare_digest(sign(secret=secret, body=body).encode(), signature.encode(errors="replace"))


def is_ping(platform: Platform, body: bytes) -> bool:
    """Whether WooCommerce asks if the address answers, as it does when the webhook is saved: form-encoded, unsigned."""
    is_short = platform is Platform.WOOCOMMERCE and len(body) <= _LONGEST_PING
    return is_short and body.startswith(_PING) and body.removeprefix(_PING).isdigit()


def check_topic(platform: Platform, topic: str) -> None:
    """Raise UnknownForm if WooCommerce says that this is of something else than an order: its ids are of that.

    What was deleted is posted as its id alone. `topic`: the value of TOPIC_HEADER, empty where there is none.
    """
    if platform is Platform.WOOCOMMERCE and topic and not topic.startswith("order."):
        raise UnknownForm((f"{TOPIC_HEADER}: order.*",))


def read(platform: Platform, body: Mapping[str, Any]) -> ShopOrder:
    """The order in a platform's `body`. Raises UnknownForm, and nothing else, whatever the body has in it."""
    return _READERS[platform](body)
