"""Which headers a seller may choose."""

import pytest
from django.db import IntegrityError
from django.utils import timezone

from common.webhooks.errors import InvalidAuthentication
from integration.accounts import sellers
from integration.actions import webhooks
from integration.errors import AccountSuspended
from integration.models import Authentication, AuthenticationKind, EndpointChange, WebhookEndpoint
from tests.cases import in_turn
from tests.integration.factories import BY

BAD = {
    "another scheme": "digest:a:b",
    "without a password's colon": "basic:ana",
    "without a user": "basic::secret",
    "an empty token": "bearer:",
    "a token with a blank": "bearer:a b",
    "a password with a blank at its end": "basic:ana:secret ",
    "a value with a blank before it": "header:X-Api-Key: a",
    "a token with a line break": "bearer:a\r\nX-Other: 1",
    "a token that is too long": f"bearer:{'a' * 1001}",
    "a header without a value": "header:X-Api-Key:",
    "a header without a name": "header::a",
    "a name with a blank": "header:X Api:a",
    "a name with a line break": "header:X-A\n:a",
    "a name that is too long": f"header:{'a' * 65}:a",
    "a value with a line break": "header:X-Api-Key:a\nb",
    "a value of other characters": "header:X-Api-Key:ação",
    "a header of ours": "header:Webhook-Id:a",
    "a header of our own": "header:Rota-Failure:a",
    "a header of the request": "header:content-length:1",
    "a header of the connection": "header:Transfer-Encoding:chunked",
}


class TestParse:
    @in_turn("text", BAD.values())
    def test_refuses(self, text):
        with pytest.raises(InvalidAuthentication):
            Authentication.parse(text)

    @pytest.mark.parametrize(
        "text",
        [
            "none", "basic:ana:a:b", "bearer:a", f"bearer:{'a' * 1000}", "header:Authorization:Token a",
            f"header:{'X' * 64}:a",
        ],
    )  # fmt: skip  # a list
    def test_takes(self, text):
        assert Authentication.parse(text).kind == text.partition(":")[0]


class TestHint:
    @pytest.mark.parametrize(
        ("text", "hint"),
        [
            ("none", ""), ("bearer:eleven-char", "Authorization: Bearer …"),
            ("bearer:twelve-chars", "Authorization: Bearer twel…"), ("header:X-Api-Key:eleven-char", "X-Api-Key: …"),
            ("header:X-Api-Key:twelve-chars", "X-Api-Key: twel…"),
            ("basic:ana:a-long-password", "Authorization: Basic …"),
        ],
    )  # fmt: skip  # a table
    def test_is_the_header_with_the_beginning_of_a_long_secret_alone(self, text, hint):
        assert Authentication.parse(text).header().hint == hint


@pytest.mark.django_db
class TestSetAuthentication:
    def test_is_recorded_without_the_secret(self, endpoint):
        chosen = Authentication.parse("header:X-Api-Key:open-sesame-2026")

        webhooks.set_authentication(endpoint=endpoint, authentication=chosen, by=BY, at=timezone.now())

        assert WebhookEndpoint.objects.get().authentication == chosen
        assert EndpointChange.objects.get().subject == "X-Api-Key: open…"
        assert "sesame" not in WebhookEndpoint.objects.get().authentication_ciphertext

    def test_is_refused_for_a_suspended_seller(self, endpoint):
        sellers.suspend(seller=endpoint.seller, reason="Unpaid", by=BY, at=timezone.now())

        with pytest.raises(AccountSuspended):
            webhooks.set_authentication(
                endpoint=endpoint, authentication=Authentication.parse("bearer:a"), by=BY, at=timezone.now()
            )

        assert WebhookEndpoint.objects.get().authentication_kind == AuthenticationKind.NONE

    def test_is_whole(self, endpoint):
        with pytest.raises(IntegrityError, match="endpoint_authentication_is_whole"):
            WebhookEndpoint.objects.update(authentication_kind="header", authentication_ciphertext="x")
