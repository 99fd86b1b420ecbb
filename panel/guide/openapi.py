"""Serves the OpenAPI description (written by `manage.py openapi`) and the Postman collection (by `make postman`)."""

import json
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
# In the collection the value of the variable baseUrl.
_PLACEHOLDER = b'"http://127.0.0.1:8000"'


@cache
def _content(name: str) -> bytes:
    return (_FOLDER / name).read_bytes()


@cache
def _digest(name: str) -> str:
    return sha256(_content(name)).hexdigest()[:32]


def _base(request: HttpRequest) -> str:
    """The address that this service is called at."""
    return request.build_absolute_uri("/").rstrip("/")


@require_safe
@condition(etag_func=lambda request, name: f'"{_digest(name)}-{sha256(_base(request).encode()).hexdigest()[:8]}"')
def description(request: HttpRequest, name: str) -> HttpResponse:
    """GET /api/openapi.json, /api/openapi.yaml and /api/postman.json, without credentials.

    The addresses in the description are relative. The collection has the one that it is read from.
    """
    content = _content(name)
    if name == "postman.json":
        content = content.replace(_PLACEHOLDER, json.dumps(_base(request)).encode())
    response = HttpResponse(content, content_type=_MEDIA_TYPES[name])
    response["Cache-Control"] = "public, max-age=300"
    return response
