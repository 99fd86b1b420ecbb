"""`/.well-known/security.txt` (RFC 9116): contacts for reports of vulnerabilities."""

from datetime import timedelta

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from common import clock

# RFC 9116 recommends less than a year. Counted from each request: the operator keeps the contact up to date.
_LIFETIME = timedelta(days=180)


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
