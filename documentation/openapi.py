"""Serves the OpenAPI description (written by `manage.py openapi`) and the Postman collection (by `make postman`)."""

from functools import cache
from hashlib import sha256
from pathlib import Path

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import condition, require_safe

_FOLDER = Path(__file__).parent
_MEDIA_TYPES = {
    "openapi.json": "application/json",
    "openapi.yaml": "application/yaml",
    "postman.json": "application/json",
}


@cache
def _content(name: str) -> bytes:
    return (_FOLDER / name).read_bytes()


@cache
def _digest(name: str) -> str:
    return f'"{sha256(_content(name)).hexdigest()[:32]}"'


@require_safe
@condition(etag_func=lambda _request, name: _digest(name))
def description(_request: HttpRequest, name: str) -> HttpResponse:
    """GET /api/openapi.json, /api/openapi.yaml and /api/postman.json, without credentials."""
    response = HttpResponse(_content(name), content_type=_MEDIA_TYPES[name])
    response["Cache-Control"] = "public, max-age=300"
    return response
