"""The receiver's page, and the file that its map is drawn from. The token of the link is the right to see them."""

import hashlib
from datetime import datetime, timedelta

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import get_conditional_response
from django.utils.decorators import method_decorator
from django.utils.translation import gettext_lazy as _
from django.views.decorators.csrf import csrf_exempt

from common import clock
from common.pages import attempts, map_file
from common.pages.attempts import Limit, TooManyAttempts
from common.pages.link_pages import LinkView
from delivery import looks
from delivery.errors import StopNotOpen
from delivery.models import DispatchRules, Stop
from delivery.models.stop import LONGEST_HINT, LONGEST_RECEIVES
from delivery.receivers import actions as receivers
from delivery.receivers import stop_state

_NOTES = Limit("notes of a receiver and stop", 10, timedelta(hours=1))


class _OfLink(LinkView[Stop]):
    template_of_end, status_of_end = "tracking/ended.html", 410

    def find(self, token: str) -> Stop | None:
        return receivers.find(token)

    def has_ended(self, found: Stop, *, at: datetime) -> bool:
        return receivers.has_ended(found, at=at)


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

    def for_pickup(self) -> "NoteForm":
        """The form of the page of a sender, from whom the driver collects."""
        self.fields["receives"].label = _("Who hands it over?")
        self.fields["hint"].help_text = ""
        return self


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
            attempts.count(_NOTES, str(self.found.pk))
            receivers.note(stop=self.found, **form.cleaned_data, at=clock.now())
        except TooManyAttempts:
            form.add_error(None, _("You have changed this many times. Try again in an hour, or call the driver."))
            return self._page(request, form, status=429)
        except StopNotOpen:
            pass  # the page says how it ended
        return redirect("tracking:page", self.token)

    def _page(self, request: HttpRequest, form: NoteForm | None = None, *, status: int = 200) -> HttpResponseBase:
        with timezone.override(self.found.zone):
            content = self._content(form)
        etag = f'"{hashlib.blake2b(content, digest_size=16).hexdigest()}"'
        response = HttpResponse(content, status=status, headers={"ETag": etag})
        return get_conditional_response(request, etag=etag, response=response) or response

    def _content(self, form: NoteForm | None) -> bytes:
        state = stop_state.read(self.found, at=clock.now())
        if state.driver and state.position:
            looks.note(state.driver.pk)
        note = state.details.note
        form = form or NoteForm({"receives": note.receives, "hint": note.hint} if note else None)
        context = {
            "state": state,
            "form": form.for_pickup() if state.is_reverse else form,
            "tiles": map_file.ground(
                lambda version: reverse("tracking:map_file", args=[self.token, version]),
                openstreetmap=DispatchRules.current().streets_from_openstreetmap,
            ),
        }
        return render_to_string("tracking/page.html", context).encode()


class MapFile(_OfLink):
    def get(self, request: HttpRequest, version: str) -> HttpResponse:
        return map_file.answer(request, version)
