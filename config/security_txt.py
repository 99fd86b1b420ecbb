"""`/.well-known/security.txt` (RFC 9116): where somebody who found a weakness reports it."""

from datetime import timedelta

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

# RFC 9116 wants less than a year. Counted from each request: whoever runs the service keeps the contact up to date.
_LIFETIME = timedelta(days=180)


@require_safe
def security_txt(request: HttpRequest) -> HttpResponse:
    """The contacts of SECURITY_CONTACT. Raises Http404 where there are none."""
    if not settings.SECURITY_CONTACT:
        raise Http404
    expires = (timezone.now() + _LIFETIME).strftime("%Y-%m-%dT%H:%M:%SZ")
    lines = [
        *(f"Contact: {contact}" for contact in settings.SECURITY_CONTACT),
        f"Expires: {expires}",
        "Preferred-Languages: pt-BR, en",
        f"Canonical: {request.build_absolute_uri(request.path)}",
    ]
    return HttpResponse("\n".join([*lines, ""]), content_type="text/plain; charset=utf-8")
