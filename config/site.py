"""The admin site: Unfold's, with the product's log-in and without the URLs that the product does not use."""

from collections.abc import Callable
from typing import Any

from allauth.account.decorators import secure_admin_login
from csp.constants import UNSAFE_EVAL
from csp.decorators import csp_update
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import URLPattern
from django.utils.decorators import method_decorator
from unfold.sites import UnfoldAdminSite

# "View on site" loads any object of any model without asking for a permission, and no model here has such a page.
# Passwords are changed on the account pages, which limit the rate of wrong ones; so are they confirmed there.
_NOT_SERVED = {"view_on_site", "password_change_done"}


class Site(UnfoldAdminSite):
    """Every admin registers with this site (`config.apps.AdminConfig`)."""

    def get_urls(self) -> list[URLPattern]:
        return [url for url in super().get_urls() if getattr(url, "name", None) not in _NOT_SERVED]

    def admin_view(self, view: Callable[..., Any], cacheable: bool = False) -> Any:
        """Unfold's Alpine evaluates its expressions, which the content security policy allows nowhere else."""
        return csp_update({"script-src": [UNSAFE_EVAL]})(super().admin_view(view, cacheable))

    @method_decorator(secure_admin_login)
    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Nobody logs in here: who is not logged in is sent to the one log-in page."""
        return super().login(request, extra_context)

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return redirect("account_change_password")
