"""The whole URL map on one screen."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView
from django.views.i18n import set_language

from config import errors, views
from integration.models.order import RECEIVERS_PAGES
from panel.guide.views import description, llms

urlpatterns = [
    path("", RedirectView.as_view(url="/panel/work/")),
    path("healthz", views.health),
    path("readyz", views.ready, name="ready"),
    path("metrics", views.metrics),
    path(".well-known/security.txt", views.security_txt),
    path("api", views.IndexView.as_view()),
    path("api/", views.IndexView.as_view()),
    path("api/openapi.json", description, {"name": "openapi.json"}, name="openapi-json"),
    path("api/openapi.yaml", description, {"name": "openapi.yaml"}, name="openapi-yaml"),
    path("api/postman.json", description, {"name": "postman.json"}, name="postman"),
    path("api/integration/", include("integration.urls")),
    path("api/", include("delivery.urls")),
    path("account/", include("access.urls")),
    path("language/", set_language, name="set_language"),
    path("docs/", include("panel.guide.urls")),
    path("llms.txt", llms),
    path("panel/", include("panel.urls")),
    path("driver/", include("delivery.drivers.urls")),
    path(RECEIVERS_PAGES, include("integration.receivers.urls")),
    path("t/", include("delivery.receivers.urls")),
    path("admin/", admin.site.urls),
]

handler400 = errors.bad_request
handler404 = errors.not_found
handler500 = errors.server_error
