"""Authentication of sellers by API key, independent of Django's users."""

import base64
import binascii
from collections.abc import Iterable
from typing import Any

from django.contrib.auth.models import AnonymousUser
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import get_authorization_header
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from common import clock, credentials
from common.api.authentication import LimitedAuthentication
from integration.accounts import keys
from integration.carriers import actions as carriers
from integration.errors import (
    AccountSuspended,
    CarrierInactive,
    CarrierKeySent,
    IntegrationError,
    InvalidKey,
    KeyMissing,
    RateLimited,
    SellerKeySent,
    WrongKey,
)
from integration.models import ApiKey, CarrierKey


class KeyAuthentication(LimitedAuthentication):
    """`Authorization: Basic <key>`; `request.auth` is the ApiKey.

    AccountSuspended is raised for a valid key of a suspended seller, WrongKey for one of a carrier.
    """

    errors: tuple[type[IntegrationError], ...] = (KeyMissing, InvalidKey, WrongKey, AccountSuspended, RateLimited)
    over_limit = RateLimited
    # The kind of key that is accepted, and what is said about the other one.
    kind: type[ApiKey | CarrierKey] = ApiKey
    of_other_kind: type[WrongKey] = CarrierKeySent

    def authenticate(self, request: Request) -> tuple[AnonymousUser, ApiKey | CarrierKey]:
        header = get_authorization_header(request)
        clear_text = key_in(header)
        if not clear_text:
            raise KeyMissing(_other_credential(header))
        self.check_lately_refused(request, clear_text)

        def check_found(key: ApiKey | CarrierKey) -> None:
            self.check_limits(request, key, key.rate_limits)
            if not isinstance(key, self.kind):
                raise self.of_other_kind

        authenticate = carriers.authenticate if clear_text.startswith(credentials.CARRIER_KEY) else keys.authenticate
        return AnonymousUser(), authenticate(clear_text, at=clock.now(), on_found=check_found)

    def authenticate_header(self, request: Request) -> str:
        return 'Basic realm="rota"'


class CarrierKeyAuthentication(KeyAuthentication):
    """`Authorization: Basic <key>`; `request.auth` is the CarrierKey. WrongKey is raised for a seller's key."""

    errors = (KeyMissing, InvalidKey, WrongKey, CarrierInactive, RateLimited)
    kind = CarrierKey
    of_other_kind = SellerKeySent


def key_in(header: bytes) -> str:
    """The key in an Authorization header, or an empty string.

    Accepts `Basic <key>` as specified, and the base64 form of RFC 7617, with the key as user name or as password, which
    is what HTTP clients send.
    """
    scheme, texts = _parts(header)
    return _beginning_with(credentials.KEYS, texts) if scheme == b"basic" else ""


def _other_credential(header: bytes) -> str:
    """What to do about a header without a key that holds another credential, or one with another scheme."""
    _scheme, texts = _parts(header)
    if _beginning_with(credentials.KEYS, texts):
        return "Envie a chave com o esquema Basic: Authorization: Basic <API_KEY>"
    if _beginning_with((credentials.LIVE_TOKEN, credentials.SANDBOX_TOKEN), texts):
        return (
            "Isto é um token da entrega imediata (/api/). A integração de pedidos recebe uma chave, que começa com "
            "rota_key_ ou rota_testkey_: Authorization: Basic <API_KEY>"
        )
    return ""


def _parts(header: bytes) -> tuple[bytes, list[str]]:
    """The scheme in lower case, and the texts that can be a credential: as it is sent, and the two of base64."""
    scheme, _space, rest = header.strip().partition(b" ")
    sent = rest.strip()
    return scheme.lower(), [sent.decode(), *_decoded(sent)] if sent.isascii() else []


def _beginning_with(prefixes: tuple[str, ...], texts: Iterable[str]) -> str:
    return next((text for text in texts if text.startswith(prefixes) and text.isascii()), "")


def _decoded(sent: bytes) -> list[str]:
    try:
        user, _colon, password = base64.b64decode(sent, validate=True).decode().partition(":")
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


class CarrierKeyScheme(OpenApiAuthenticationExtension):
    target_class = CarrierKeyAuthentication
    name = "carrierKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "basic",
            "description": "A carrier's key, rota_carrierkey_…, as user name or bare after `Basic`.",
        }


class HasKey(BasePermission):
    """Allows callers that `KeyAuthentication` has authenticated."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return isinstance(request.auth, ApiKey)


class HasCarrierKey(BasePermission):
    """Allows callers that `CarrierKeyAuthentication` has authenticated."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return isinstance(request.auth, CarrierKey)
