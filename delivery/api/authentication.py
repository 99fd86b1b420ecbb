"""Bearer authentication of integrators. Not tied to Django's users."""

from django.contrib.auth.models import AnonymousUser
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from delivery.actions import tokens
from delivery.errors import InvalidToken
from delivery.models import Token

_PARTS = 2


class BearerAuthentication(BaseAuthentication):
    """Reads `Authorization: Bearer <token>`; `request.auth` is the Token.

    Raises InvalidToken, and AccountSuspended for a valid token of a suspended account.
    """

    def authenticate(self, request: Request) -> tuple[AnonymousUser, Token]:
        parts = get_authorization_header(request).split()
        if len(parts) != _PARTS or parts[0].lower() != b"bearer":
            raise InvalidToken("Send the header 'Authorization: Bearer <token>'.")
        try:
            clear_text = parts[1].decode("ascii")
        except UnicodeDecodeError as error:
            raise InvalidToken("A token consists of ASCII characters only.") from error
        return AnonymousUser(), tokens.authenticate(clear_text, at=timezone.now())

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="rota"'


class HasToken(BasePermission):
    """Allows requests that `BearerAuthentication` has authenticated."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return isinstance(request.auth, Token)
