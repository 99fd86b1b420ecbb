"""The pages below /docs/, and the files that describe the APIs, for everybody, logged in or not."""

import json
from functools import cache
from hashlib import sha256

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import get_language, gettext, gettext_lazy, gettext_noop, pgettext
from django.views import View
from django.views.decorators.cache import cache_control
from django.views.decorators.gzip import gzip_page
from django.views.decorators.http import condition, require_safe
from django.views.decorators.vary import vary_on_headers

from panel.base import origin
from panel.guide import description as translations
from panel.guide import examples, pages, postman
from panel.guide.catalogue import CODES, A, B

_APIS = {A: gettext_lazy("Immediate delivery"), B: gettext_lazy("Order integration")}
_MEDIA_TYPES = {
    "openapi.json": "application/json",
    "openapi.yaml": "application/yaml",
    "postman.json": "application/json",
}
# In the collection, where the address that it is read from belongs.
_PLACEHOLDER = "ORIGIN"


class PageView(View):
    """A page of the guide."""

    def get(self, request: HttpRequest, page: str) -> HttpResponse:
        if page not in pages.NAMES:
            raise Http404
        return _page(request, "documentation/page.html", name=page)


class SearchView(View):
    """What the documentation says about some words: as a page, or for htmx as its list alone."""

    def get(self, request: HttpRequest) -> HttpResponse:
        from panel.guide import search  # as in `_page`

        query = request.GET.get("q", "")[: search.LONGEST_QUERY]
        results = search.find(query, get_language() or settings.LANGUAGE_CODE)
        if request.headers.get("HX-Request"):
            return render(request, "documentation/results.html", {"query": query, "results": results})
        return _page(request, "documentation/search.html", query=query, results=results)


class MarkdownView(View):
    """The English page of the guide as it is written. Links between the files lead to the others."""

    def get(self, _request: HttpRequest, file: str) -> HttpResponse:
        name = "" if f"{file}.md" == pages.FIRST_FILE else file
        if name not in pages.NAMES:
            raise Http404
        return HttpResponse(pages.text(name, pages.ENGLISH), content_type="text/markdown; charset=utf-8")


class ProgramView(View):
    """A program of the guide, one of `pages.PROGRAMS`."""

    def get(self, _request: HttpRequest, program: str) -> HttpResponse:
        return HttpResponse(pages.PROGRAMS[program].read_bytes(), content_type="text/plain; charset=utf-8")


# What Swagger UI writes itself. It has no translations; `reference.js` puts these in place of its words.
_WORDS_OF_REFERENCE = [
    gettext_noop("Servers"), gettext_noop("Authorize"), gettext_noop("Available authorizations"),
    gettext_noop("Value:"), gettext_noop("Close"), gettext_noop("Logout"), gettext_noop("Parameters"),
    gettext_noop("No parameters"), gettext_noop("Request body"), gettext_noop("Responses"), gettext_noop("Response"),
    gettext_noop("Server response"), gettext_noop("Response body"), gettext_noop("Response headers"),
    gettext_noop("Request URL"), gettext_noop("Request duration"), gettext_noop("Execute"), gettext_noop("Clear"),
    gettext_noop("Cancel"), gettext_noop("Try it out"), gettext_noop("Reset"), gettext_noop("Code"),
    gettext_noop("Details"), gettext_noop("Description"), gettext_noop("Name"), gettext_noop("Links"),
    gettext_noop("No links"), gettext_noop("Media type"), gettext_noop("Example Value"), gettext_noop("Schema"),
    gettext_noop("Schemas"), gettext_noop("Examples"), gettext_noop("Download"),
    gettext_noop("Snippets"), gettext_noop("Webhooks"), gettext_noop("Edit Value"), gettext_noop("Examples:"),
    gettext_noop("Headers:"), gettext_noop("Type"),
    # Tags of the description, which has them in English in each language: generators make names of them.
    gettext_noop("Immediate delivery"), gettext_noop("Find and read"), gettext_noop("Sandbox"),
    gettext_noop("Order integration"), gettext_noop("Tracking by carriers"), gettext_noop("Connected shops"),
]  # fmt: skip  # a list of words


class ReferenceView(View):
    """Every operation of both APIs, with a form that sends it."""

    def get(self, request: HttpRequest) -> HttpResponse:
        words = {word: gettext(word) for word in _WORDS_OF_REFERENCE}
        words["required"] = pgettext("of a parameter", "required")
        return _page(request, "documentation/reference.html", words=json.dumps(words, ensure_ascii=False))


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


def _page(request: HttpRequest, template: str, *, name: str | None = None, **context: object) -> HttpResponse:
    """`name`: of the page of the guide that is shown."""
    from panel.guide import markdown  # its packages occupy 2 MB in processes that serve the APIs alone

    language = get_language() or settings.LANGUAGE_CODE
    if name is not None:
        context["page"] = markdown.page(name, language)
    return render(request, template, {"menu": markdown.menu(language), **context})


@require_safe
def llms(request: HttpRequest) -> HttpResponse:
    """GET /llms.txt: what language models read first."""
    return HttpResponse(pages.for_language_models(origin(request)), content_type="text/plain; charset=utf-8")


@cache
def _content(name: str, language: str) -> bytes:
    """Made at the first request of a process, in a tenth of a second, and kept: 2 MB if all are asked for."""
    if name == "openapi.json" and language == pages.ENGLISH:
        return translations.FILE.read_bytes()
    described = translations.translated(language)
    if name == "openapi.yaml":
        import yaml  # as in `_page`

        # That of libyaml, in a quarter of the time.
        return yaml.dump(
            described, Dumper=yaml.CSafeDumper, allow_unicode=True, sort_keys=False, width=120, encoding="utf-8"
        )
    if name == "postman.json":
        described = postman.collection(described, _PLACEHOLDER)
    return json.dumps(described, ensure_ascii=False).encode()


@cache
def _digest(name: str, language: str) -> str:
    return sha256(_content(name, language)).hexdigest()[:32]


def _language(request: HttpRequest, name: str) -> str:
    """What `?lang=` asks for. Without it English, whatever the reader's language: programs read these files."""
    asked = request.GET.get("lang", "")
    return asked if name == "openapi.json" and asked in dict(settings.LANGUAGES) else pages.ENGLISH


def _etag(request: HttpRequest, name: str) -> str:
    """Weak, because the compressed content has other bytes."""
    digest = _digest(name, _language(request, name))
    return f'W/"{digest}-{sha256(origin(request).encode()).hexdigest()[:8]}"'


@require_safe
@cache_control(public=True, max_age=300)  # above `condition`, so that a 304 has both headers too
@vary_on_headers("Accept-Encoding")
@gzip_page  # nothing in it is secret, so that its compressed length betrays nothing (BREACH)
@condition(etag_func=_etag)
def description(request: HttpRequest, name: str) -> HttpResponse:
    """GET /api/openapi.json, /api/openapi.yaml and /api/postman.json, without credentials.

    The addresses in the description are relative. The collection has the one that it is read from.
    """
    language = _language(request, name)
    content = _content(name, language)
    if name == "postman.json":
        content = content.replace(json.dumps(_PLACEHOLDER).encode(), json.dumps(origin(request)).encode())
    return HttpResponse(content, content_type=_MEDIA_TYPES[name], headers={"Content-Language": language})
