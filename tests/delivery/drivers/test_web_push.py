"""Encryption of Web Push messages, and identification of their sender."""

import json
import re
from datetime import UTC, datetime

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature

from delivery.drivers import web_push
from tests.delivery.drivers.browsers import decoded, encoded

# RFC 8291, Appendix A.
SENDER = "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw"  # pragma: allowlist secret
P256DH = (
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvT"  # pragma: allowlist secret
    "BHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"  # pragma: allowlist secret
)
AUTH = "BTBZMqHH6r4Tts7J_aSIgg"
SALT = "DGv6ra1nlYgDCS1FRnbzlw"
MESSAGE = (
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml"  # pragma: allowlist secret
    "mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT"  # pragma: allowlist secret
    "pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN"  # pragma: allowlist secret
)


class TestEncrypt:
    def test_makes_the_message_of_the_standard(self):
        recipient = web_push.Recipient.read(P256DH, AUTH)

        message = web_push.encrypt(
            b"When I grow up, I want to be a watermelon",
            recipient,
            sender=web_push.private_key(SENDER),
            salt=decoded(SALT),
        )

        assert encoded(message) == MESSAGE

    def test_takes_new_keys_for_each_message(self):
        recipient = web_push.Recipient.read(P256DH, AUTH)

        first, second = (web_push.encrypt(b"x", recipient) for _message in range(2))

        assert first[:16] != second[:16]
        assert first[21:86] != second[21:86]


def test_the_sender_is_named_by_a_signed_token_of_rfc_8292():
    key = web_push.private_key(SENDER)

    header = web_push.authorization(
        "https://push.example:8443/send/1?x",
        key=key,
        subject="mailto:a@example.com",
        at=datetime(2026, 3, 1, tzinfo=UTC),
    )

    parts = re.fullmatch(r"vapid t=(.+), k=(.+)", header)
    assert parts
    token, shown = parts.groups()
    about, claims, signature = map(decoded, token.split("."))
    assert json.loads(about) == {"typ": "JWT", "alg": "ES256"}
    assert json.loads(claims).items() >= {"aud": "https://push.example:8443", "sub": "mailto:a@example.com"}.items()
    numbers = (int.from_bytes(signature[part], "big") for part in (slice(32), slice(32, 64)))
    signed = token.rpartition(".")[0].encode()
    key.public_key().verify(encode_dss_signature(*numbers), signed, ec.ECDSA(hashes.SHA256()))
    assert shown == web_push.public_key(key)


class TestKeys:
    def test_made_are_read_again(self):
        text = web_push.new_key()

        key = web_push.private_key(text)

        assert isinstance(key, ec.EllipticCurvePrivateKey)
        assert len(decoded(web_push.public_key(key))) == 65

    @pytest.mark.parametrize("text", ["", "x", "é", "A" * 43, SENDER + "AA", "_" * 43, P256DH])
    def test_of_another_form_are_refused(self, text):
        with pytest.raises(web_push.InvalidKey):
            web_push.private_key(text)

    @pytest.mark.parametrize(
        ("p256dh", "auth"),
        [("", AUTH), (P256DH, ""), (P256DH[:-4], AUTH), (P256DH, AUTH + "AAAA"), (encoded(b"\4" + bytes(64)), AUTH)],
    )
    def test_of_browsers_that_are_wrong_are_refused(self, p256dh, auth):
        with pytest.raises(web_push.InvalidKey):
            web_push.Recipient.read(p256dh, auth)
