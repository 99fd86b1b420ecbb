"""Pages of links that work without a log-in: the token in the address is the right to see them."""

import hashlib
from datetime import datetime
from typing import Any, Generic, TypeVar

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.loader import render_to_string
from django.views.decorators.debug import sensitive_variables
from django.views.generic import View

from common import clock
from common.api.rate_limit import Limits, limiter
from common.http_requests import client_address

# Tokens of one client address that no link has. Tokens that a link has are never refused: behind one address of a
# mobile network there are thousands of people.
_UNKNOWN_TOKENS = Limits(per_second=50, per_hour=600)
_HEADERS = {"X-Robots-Tag": "noindex, nofollow", "Referrer-Policy": "no-referrer"}

Found = TypeVar("Found")


class LinkView(View, Generic[Found]):
    """404 for every token that no link has, `status_of_end` for a link that has ended.

    Pages are rendered without the request, because they need neither a session nor a user.
    """

    http_method_names = ["get", "head"]
    template_of_end: str
    status_of_end: int
    token: str
    found: Found

    def find(self, token: str) -> Found | None:
        """What the link with this token leads to, or None."""
        raise NotImplementedError

    def has_ended(self, found: Found, *, at: datetime) -> bool:
        raise NotImplementedError

    @sensitive_variables()
    def dispatch(self, request: HttpRequest, *args: Any, token: str, **kwargs: Any) -> HttpResponseBase:
        self.token = token.removesuffix("/")
        found = self.find(self.token)
        response: HttpResponseBase
        if found is None:
            response = _unknown(request)
        elif self.has_ended(found, at=clock.now()):
            response = HttpResponse(render_to_string(self.template_of_end), status=self.status_of_end)
        else:
            self.found = found
            response = super().dispatch(request, *args, **kwargs)
        for name, value in _HEADERS.items():
            response.headers[name] = value
        return response


def _unknown(request: HttpRequest) -> HttpResponse:
    """404; 429 without a page for an address that tries many tokens."""
    address = client_address(request.META, proxies=settings.TRUSTED_PROXIES)
    digest = hashlib.sha256(f"tracking {address}".encode()).digest()
    refusal = limiter().refused_lately(digest)
    standing = refusal.standing if refusal else limiter().count(digest, _UNKNOWN_TOKENS, caller=None)
    if standing is not None and standing.retry_after:
        return HttpResponse(status=429, headers={"Retry-After": str(standing.retry_after)})
    return HttpResponse(render_to_string("tracking/unknown.html"), status=404)
