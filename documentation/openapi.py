"""Serves the OpenAPI description, which `manage.py openapi` has written."""

from functools import cache
from hashlib import sha256
from pathlib import Path

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import condition, require_safe

_FOLDER = Path(__file__).parent
_MEDIA_TYPES = {"json": "application/json", "yaml": "application/yaml"}


@cache
def _content(kind: str) -> bytes:
    return (_FOLDER / f"openapi.{kind}").read_bytes()


@cache
def _digest(kind: str) -> str:
    return f'"{sha256(_content(kind)).hexdigest()[:32]}"'


@require_safe
@condition(etag_func=lambda _request, kind: _digest(kind))
def openapi(_request: HttpRequest, kind: str) -> HttpResponse:
    """GET /api/openapi.json and /api/openapi.yaml, without credentials."""
    response = HttpResponse(_content(kind), content_type=_MEDIA_TYPES[kind])
    response["Cache-Control"] = "public, max-age=300"
    return response
