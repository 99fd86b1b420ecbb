"""The pages below /docs/, for everybody, logged in or not."""

import json

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import get_language, gettext_lazy
from django.views import View

from panel.guide import examples, pages
from panel.guide.catalogue import CODES, A, B

_APIS = {A: gettext_lazy("Immediate delivery"), B: gettext_lazy("Order integration")}


class PageView(View):
    """A page of the guide."""

    def get(self, request: HttpRequest, page: str) -> HttpResponse:
        if page not in pages.NAMES:
            raise Http404
        return _page(
            request, "documentation/page.html", page=pages.page(page, get_language() or settings.LANGUAGE_CODE)
        )


class ReferenceView(View):
    """Every operation of both APIs, with a form that sends it."""

    def get(self, request: HttpRequest) -> HttpResponse:
        return _page(request, "documentation/reference.html")


class ErrorView(View):
    """What one error code means, with the body of each API that has it. `type` of a problem leads here."""

    def get(self, request: HttpRequest, code: str) -> HttpResponse:
        if code not in CODES:
            raise Http404
        entry = CODES[code]
        bodies = [
            (_APIS[api], json.dumps(examples.answers_of(api)[code].body, ensure_ascii=False, indent=2))
            for api in entry.apis
        ]
        return _page(request, "documentation/error.html", entry=entry, bodies=bodies)


def _page(request: HttpRequest, template: str, **context: object) -> HttpResponse:
    return render(request, template, {"menu": pages.menu(get_language() or settings.LANGUAGE_CODE), **context})
