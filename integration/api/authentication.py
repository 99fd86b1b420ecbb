"""Authentication of sellers by API key, independent of Django's users."""

from django.contrib.auth.models import AnonymousUser
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView

from integration.actions import keys
from integration.models import ApiKey


class KeyAuthentication(BaseAuthentication):
    """`Authorization: Basic <key>`; `request.auth` is the ApiKey."""

    def authenticate(self, request: Request) -> tuple[AnonymousUser, ApiKey]:
        return AnonymousUser(), keys.authenticate(get_authorization_header(request), at=timezone.now())

    def authenticate_header(self, request: Request) -> str:
        return 'Basic realm="rota"'


class HasKey(BasePermission):
    """Allows callers that `KeyAuthentication` has authenticated."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return isinstance(request.auth, ApiKey)
