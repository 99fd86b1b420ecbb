"""The receiver's page, and the file that its map is drawn from. The token of the link is the right to see them."""

import hashlib
from datetime import timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.cache import get_conditional_response
from django.utils.decorators import method_decorator
from django.utils.translation import gettext_lazy as _
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_variables
from django.views.generic import View

from common import attempts, clock, map_file
from common.attempts import Limit, TooManyAttempts
from common.http_requests import client_address
from common.rate_limit import Limits, limiter
from delivery.actions import receivers
from delivery.errors import StopNotOpen
from delivery.models import DispatchRules, Stop
from delivery.models.stop import LONGEST_HINT, LONGEST_RECEIVES
from delivery.tracking import stop_state

# Tokens of one client address that no link has. Tokens that a link has are never refused: behind one address of a
# mobile network there are thousands of people.
_UNKNOWN_TOKENS = Limits(per_second=50, per_hour=600)
_NOTES = Limit("notes of a receiver and stop", 10, timedelta(hours=1))
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


class NoteForm(forms.Form):
    """What the receiver tells the driver."""

    receives = forms.CharField(
        label=_("Who receives it?"),
        max_length=LONGEST_RECEIVES,
        required=False,
        widget=forms.TextInput({"autocomplete": "off"}),
    )
    hint = forms.CharField(
        label=_("A hint for the driver"),
        max_length=LONGEST_HINT,
        required=False,
        widget=forms.TextInput({"autocomplete": "off"}),
        help_text=_("For example: leave it at the front desk."),
    )


# The token in the address is the right to write, and no cookie is read, so there is nothing that a page of somebody
# else could make a browser add to its request.
@method_decorator(csrf_exempt, name="dispatch")
class Page(_OfLink):
    """What happens now. Its script asks for the page again every ten seconds; 304 while nothing has changed.

    POST keeps what the receiver tells the driver.
    """

    http_method_names = ["get", "head", "post"]

    def get(self, request: HttpRequest) -> HttpResponseBase:
        return self._page(request)

    def post(self, request: HttpRequest) -> HttpResponseBase:
        form = NoteForm(request.POST)
        if not form.is_valid():
            return self._page(request, form, status=422)
        try:
            attempts.count(_NOTES, str(self.stop.pk))
            receivers.note(stop=self.stop, **form.cleaned_data, at=clock.now())
        except TooManyAttempts:
            form.add_error(None, _("You have changed this many times. Try again in an hour, or call the driver."))
            return self._page(request, form, status=429)
        except StopNotOpen:
            pass  # the page says how it ended
        return redirect("tracking:page", self.token)

    def _page(self, request: HttpRequest, form: NoteForm | None = None, *, status: int = 200) -> HttpResponseBase:
        state = stop_state.read(self.stop, at=clock.now())
        note = state.details.note
        context = {
            "state": state,
            "form": form or NoteForm({"receives": note.receives, "hint": note.hint} if note else None),
            "tiles": map_file.ground(
                lambda version: reverse("tracking:map_file", args=[self.token, version]),
                openstreetmap=DispatchRules.current().streets_from_openstreetmap,
            ),
        }
        # Without the request: the page needs neither a session nor a user.
        content = render_to_string("tracking/page.html", context).encode()
        etag = f'"{hashlib.blake2b(content, digest_size=16).hexdigest()}"'
        response = HttpResponse(content, status=status, headers={"ETag": etag})
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
