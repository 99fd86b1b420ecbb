"""Authentication of sellers by API key, independent of Django's users."""

import base64
import binascii
from typing import Any

from django.contrib.auth.models import AnonymousUser
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import get_authorization_header
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from common import clock
from common.authentication import LimitedAuthentication
from integration.actions import keys
from integration.errors import AccountSuspended, InvalidKey, KeyMissing, RateLimited
from integration.models import ApiKey


class KeyAuthentication(LimitedAuthentication):
    """`Authorization: Basic <key>`; `request.auth` is the ApiKey.

    AccountSuspended is raised for a valid key of a suspended seller.
    """

    errors = (KeyMissing, InvalidKey, AccountSuspended, RateLimited)
    over_limit = RateLimited

    def authenticate(self, request: Request) -> tuple[AnonymousUser, ApiKey]:
        clear_text = _key_in(get_authorization_header(request))
        if not clear_text:
            raise KeyMissing
        self.check_lately_refused(request, clear_text)

        def check_limits(key: ApiKey) -> None:
            self.check_limits(request, key, key.seller.rate_limits)

        return AnonymousUser(), keys.authenticate(clear_text, at=clock.now(), on_found=check_limits)

    def authenticate_header(self, request: Request) -> str:
        return 'Basic realm="rota"'


def _key_in(header: bytes) -> str:
    """The key in an Authorization header, or an empty string.

    Accepts `Basic <key>` as specified, and the base64 form of RFC 7617, with the key as user name or as password, which
    is what HTTP clients send.
    """
    scheme, _space, rest = header.strip().partition(b" ")
    credentials = rest.strip()
    if scheme.lower() != b"basic" or not credentials.isascii():
        return ""
    texts = (credentials.decode(), *_decoded(credentials))
    return next((text for text in texts if text.startswith(keys.PREFIX) and text.isascii()), "")


def _decoded(credentials: bytes) -> list[str]:
    try:
        user, _colon, password = base64.b64decode(credentials, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return []
    return [user, password]


class KeyScheme(OpenApiAuthenticationExtension):
    target_class = KeyAuthentication
    name = "apiKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "basic",
            "description": "The API key as user name, without a password; or the bare key after `Basic`.",
        }


class HasKey(BasePermission):
    """Allows callers that `KeyAuthentication` has authenticated."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return isinstance(request.auth, ApiKey)
