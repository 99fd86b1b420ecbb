"""The whole URL map on one screen."""

from functools import partial

from allauth.account.decorators import secure_admin_login
from django.contrib import admin
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import include, path
from django.views import defaults
from django.views.generic import RedirectView
from django.views.i18n import set_language

from config.admin import allowing_eval
from delivery.api import problems
from integration.api import answers

_AREA_B = "/api/integration/"


def health(_request: HttpRequest) -> HttpResponse:
    """The process answers. Touches nothing else, so that a busy database restarts nobody."""
    return JsonResponse({"status": "ok"})


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer in the voice of whoever was asked: area B in its own shape, area A in problem details, pages in HTML."""
    if f"{request.path}/".startswith(_AREA_B):
        return answers.not_found(request)
    if f"{request.path}/".startswith("/api/"):
        return problems.not_found(request)
    return defaults.page_not_found(request, exception)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """What Django itself refuses, such as a Host header that ALLOWED_HOSTS does not know."""
    if request.path.startswith("/api/"):
        return problems.bad_request(request)
    return defaults.bad_request(request, exception)


def server_error(request: HttpRequest) -> HttpResponse:
    if request.path.startswith(_AREA_B):
        return answers.server_error(request)
    if request.path.startswith("/api/"):
        return problems.server_error(request)
    return defaults.server_error(request)


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

handler400 = bad_request
handler404 = not_found
handler500 = server_error
