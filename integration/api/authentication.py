"""Authentication of sellers by API key, independent of Django's users."""

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
        header = get_authorization_header(request)
        self.check_lately_refused(request, keys.find(header))

        def check_limits(key: ApiKey) -> None:
            self.check_limits(request, key, key.seller.rate_limits)

        return AnonymousUser(), keys.authenticate(header, at=clock.now(), on_found=check_limits)

    def authenticate_header(self, request: Request) -> str:
        return 'Basic realm="rota"'


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
