"""Views of no package: what monitoring asks, the index of the APIs, and `/.well-known/security.txt` (RFC 9116)."""

from dataclasses import asdict
from datetime import timedelta
from http import HTTPStatus

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

from common import clock
from config.monitoring import exposition, readiness
from delivery.api.views import IntegratorView

# RFC 9116 recommends less than a year. Counted from each request: the operator keeps the contact up to date.
_LIFETIME = timedelta(days=180)


@require_safe
def health(_request: HttpRequest) -> HttpResponse:
    """Liveness probe. Uses neither PostgreSQL nor Redis, so that their failure does not cause restarts."""
    return JsonResponse({"status": "ok"})


@require_safe
def ready(_request: HttpRequest) -> HttpResponse:
    """Readiness probe: 503 if this process cannot serve, 200 with `degraded` if only something else is missing."""
    results = readiness.results()
    failed = {name for name, result in results.items() if not result.ok}
    status = "unready" if failed & readiness.REQUIRED else "degraded" if failed else "ready"
    checks = {name: asdict(result) for name, result in results.items()}
    code = HTTPStatus.SERVICE_UNAVAILABLE if status == "unready" else HTTPStatus.OK
    response = JsonResponse({"status": status, "checks": checks}, status=code)
    response._has_been_logged = True  # type: ignore[attr-defined]  # noqa: SLF001  # Django would log an error at every probe
    return response


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Metrics for Prometheus, with METRICS_TOKEN as Bearer token; without that setting there is no such page."""
    if not settings.METRICS_TOKEN:
        raise Http404
    scheme, _space, given = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not constant_time_compare(given.strip(), settings.METRICS_TOKEN):
        return HttpResponse(status=HTTPStatus.UNAUTHORIZED, headers={"WWW-Authenticate": "Bearer"})
    return HttpResponse(exposition.exposition(), content_type=CONTENT_TYPE_LATEST)


class IndexView(IntegratorView):
    """What is at the address of the APIs: where to read on. Without credentials. The description does not have it."""

    authentication_classes = []
    permission_classes = [AllowAny]
    schema = None

    _PAGES = {
        "docs": "documentation:first",
        "reference": "documentation:reference",
        "openapi": "openapi-json",
        "postman": "postman",
        "status": "ready",
    }

    def get(self, request: Request) -> Response:
        return Response({name: request.build_absolute_uri(reverse(page)) for name, page in self._PAGES.items()})


@require_safe
def security_txt(request: HttpRequest) -> HttpResponse:
    """The contacts of SECURITY_CONTACT. Raises Http404 if there are none."""
    if not settings.SECURITY_CONTACT:
        raise Http404
    expires = (clock.now() + _LIFETIME).strftime("%Y-%m-%dT%H:%M:%SZ")
    lines = [
        *(f"Contact: {contact}" for contact in settings.SECURITY_CONTACT),
        f"Expires: {expires}",
        "Preferred-Languages: pt-BR, en",
        f"Canonical: {request.build_absolute_uri(request.path)}",
    ]
    return HttpResponse("\n".join([*lines, ""]), content_type="text/plain; charset=utf-8")
