"""The receiver's page, and the file that its map is drawn from. The token of the link is the right to see them."""

import hashlib
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.views.decorators.debug import sensitive_variables
from django.views.generic import View

from common import clock, map_file
from common.http_requests import client_address
from common.rate_limit import Limits, limiter
from delivery.actions import receivers
from delivery.models import DispatchRules, Stop
from delivery.tracking import stop_state

# Tokens of one client address that no link has. Tokens that a link has are never refused: behind one address of a
# mobile network there are thousands of people.
_UNKNOWN_TOKENS = Limits(per_second=50, per_hour=600)
_HEADERS = {"X-Robots-Tag": "noindex, nofollow", "Referrer-Policy": "no-referrer"}


class _OfLink(View):
    """404 for every token that no link has, 410 for a link that has ended."""

    http_method_names = ["get", "head"]
    token: str
    stop: Stop

    @sensitive_variables()
    def dispatch(self, request: HttpRequest, *args: Any, token: str, **kwargs: Any) -> HttpResponseBase:
        self.token = token.removesuffix("/")
        stop = receivers.find(self.token)
        response: HttpResponseBase
        if stop is None:
            response = _unknown(request)
        elif receivers.has_ended(stop, at=clock.now()):
            response = HttpResponse(render_to_string("tracking/ended.html"), status=410)
        else:
            self.stop = stop
            response = super().dispatch(request, *args, **kwargs)
        for name, value in _HEADERS.items():
            response.headers[name] = value
        return response


class Page(_OfLink):
    """What happens now. Its script asks for the page again every ten seconds; 304 while nothing has changed."""

    def get(self, request: HttpRequest) -> HttpResponseBase:
        state = stop_state.read(self.stop, at=clock.now())
        context = {
            "state": state,
            "tiles": map_file.ground(
                lambda version: reverse("tracking:map_file", args=[self.token, version]),
                openstreetmap=DispatchRules.current().streets_from_openstreetmap,
            ),
        }
        # Without the request: the page needs neither a session nor a user.
        content = render_to_string("tracking/page.html", context).encode()
        etag = f'"{hashlib.blake2b(content, digest_size=16).hexdigest()}"'
        response = HttpResponse(content, headers={"ETag": etag})
        return get_conditional_response(request, etag=etag, response=response) or response


class MapFile(_OfLink):
    def get(self, request: HttpRequest, version: str) -> HttpResponse:
        return map_file.answer(request, version)


def _unknown(request: HttpRequest) -> HttpResponse:
    """404; 429 without a page for an address that tries many tokens."""
    address = client_address(request.META, proxies=settings.TRUSTED_PROXIES)
    digest = hashlib.sha256(f"tracking {address}".encode()).digest()
    refusal = limiter().refused_lately(digest)
    standing = refusal.standing if refusal else limiter().count(digest, _UNKNOWN_TOKENS, caller=None)
    if standing is not None and standing.retry_after:
        return HttpResponse(status=429, headers={"Retry-After": str(standing.retry_after)})
    return HttpResponse(render_to_string("tracking/unknown.html"), status=404)
