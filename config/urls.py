"""The whole URL map on one screen."""

from functools import partial

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import include, path
from django.views.generic import RedirectView
from django.views.i18n import set_language

from config import errors
from config.admin import allowing_eval


def health(_request: HttpRequest) -> HttpResponse:
    """The process answers. Touches nothing else, so that a busy database restarts nobody."""
    return JsonResponse({"status": "ok"})


admin.site.login = secure_admin_login(admin.site.login)  # type: ignore[method-assign]  # one log-in for everything
# Alpine, of which Unfold is made, evaluates its expressions. Nothing outside the admin does. Replaced on the site
# itself, as allauth does with its log-in, because every admin registers with this one.
admin.site.admin_view = partial(allowing_eval, admin.site.admin_view)  # type: ignore[method-assign]

urlpatterns = [
    path("", RedirectView.as_view(url="/panel/")),
    path("healthz", health),
    path("api/integration/", include("integration.api.urls")),
    path("api/", include("delivery.api.urls")),
    path("account/", include("panel.session_urls")),
    path("language/", set_language, name="set_language"),
    path("panel/", include("panel.urls")),
    path("admin/", admin.site.urls),
]

handler400 = errors.bad_request
handler404 = errors.not_found
handler500 = errors.server_error
