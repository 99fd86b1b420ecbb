"""Bearer authentication of integrators. Not tied to Django's users."""

from typing import Any

from django.contrib.auth.models import AnonymousUser
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import get_authorization_header
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from common import clock
from common.api.authentication import LimitedAuthentication
from delivery.accounts import tokens
from delivery.errors import AccountSuspended, InvalidToken, RateLimited
from delivery.models import Token

_PARTS = 2
_MISSING = "Send the header 'Authorization: Bearer <token>'."
_SEVERAL_WORDS = "Send one token after one 'Bearer', in one header: 'Authorization: Bearer <token>'."
_OF_BASIC = (
    "This is Basic authentication, with which order integration takes its API keys. Immediate delivery takes "
    "'Authorization: Bearer <token>'; a token begins with rota_live_ or rota_test_."
)


class BearerAuthentication(LimitedAuthentication):
    """Reads `Authorization: Bearer <token>`; `request.auth` is the Token.

    AccountSuspended is raised for a valid token of a suspended account.
    """

    errors = (InvalidToken, AccountSuspended, RateLimited)
    over_limit = RateLimited

    def authenticate(self, request: Request) -> tuple[AnonymousUser, Token]:
        parts = get_authorization_header(request).split()
        scheme = parts[0].lower() if parts else b""
        if len(parts) != _PARTS or scheme != b"bearer":
            raise InvalidToken(_what_to_send(scheme, len(parts)))
        try:
            clear_text = parts[1].decode("ascii")
        except UnicodeDecodeError as error:
            raise InvalidToken("A token consists of ASCII characters only.") from error
        self.check_lately_refused(request, clear_text)

        def check_limits(token: Token) -> None:
            self.check_limits(request, token, token.integrator.rate_limits)

        return AnonymousUser(), tokens.authenticate(clear_text, at=clock.now(), on_found=check_limits)

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="rota"'


def _what_to_send(scheme: bytes, parts: int) -> str:
    if scheme == b"basic":
        return _OF_BASIC
    return _SEVERAL_WORDS if scheme == b"bearer" and parts > _PARTS else _MISSING


class BearerScheme(OpenApiAuthenticationExtension):
    target_class = BearerAuthentication
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "A token of the panel: rota_live_… or rota_test_…"}


class HasToken(BasePermission):
    """Allows requests that `BearerAuthentication` has authenticated."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return isinstance(request.auth, Token)
