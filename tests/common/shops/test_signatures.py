import base64
import hashlib
import hmac

import pytest

from common.shops import platforms
from common.shops.platforms import Platform

BODY = '{"id": 1, "note": "São João"}'.encode()
SECRET = "segredo çom acento"  # pragma: allowlist secret


def signature_of(body: bytes, secret: str = SECRET) -> str:
    return base64.b64encode(hmac.new(secret.encode(), body, hashlib.sha256).digest()).decode()


class TestASignature:
    def test_is_base64_of_hmac_sha256_of_the_raw_body(self):
        assert platforms.is_signed(secret=SECRET, body=BODY, signature=signature_of(BODY))

    @pytest.mark.parametrize(
        "signature",
        [
            "",
            signature_of(BODY, "another"),
            signature_of(BODY + b"\n"),
            signature_of(BODY).rstrip("="),
            hmac.new(SECRET.encode(), BODY, hashlib.sha256).hexdigest(),
            signature_of(BODY) + " ",
            "não é ASCII \ud800",
        ],
    )
    def test_of_another_secret_body_or_notation_is_refused(self, signature):
        assert not platforms.is_signed(secret=SECRET, body=BODY, signature=signature)

    def test_has_a_header_of_its_own_on_each_platform(self):
        assert dict(platforms.SIGNATURE_HEADERS) == {
            "WOOCOMMERCE": "X-WC-Webhook-Signature",
            "SHOPIFY": "X-Shopify-Hmac-Sha256",
            "YAMPI": "X-Yampi-Hmac-SHA256",
        }


class TestThePing:
    # WooCommerce sends `webhook_id` and the id, form-encoded, when a webhook is saved: `WC_Webhook::deliver_ping`.
    def test_of_woocommerce_is_recognised(self):
        assert platforms.is_ping(Platform.WOOCOMMERCE, b"webhook_id=17")

    @pytest.mark.parametrize("body", [b"", b"webhook_id=", b"webhook_id=1&a=2", b"webhook_id=1\n", b'{"id": 1}'])
    def test_is_nothing_else(self, body):
        assert not platforms.is_ping(Platform.WOOCOMMERCE, body)

    @pytest.mark.parametrize("platform", [Platform.SHOPIFY, Platform.YAMPI])
    def test_is_known_of_no_other_platform(self, platform):
        assert not platforms.is_ping(platform, b"webhook_id=17")
