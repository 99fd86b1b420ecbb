"""The admin site: Unfold's, with the product's log-in and without unused URLs."""

import logging
from collections.abc import Callable
from functools import wraps
from traceback import walk_tb
from typing import Any

from allauth.account.decorators import secure_admin_login
from csp.constants import UNSAFE_EVAL
from csp.decorators import csp_update
from django.core.exceptions import BadRequest, ValidationError
from django.core.paginator import InvalidPage
from django.db import DataError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import SimpleTemplateResponse
from django.urls import URLPattern
from django.utils.decorators import method_decorator
from django.utils.html import format_html
from django.utils.translation import gettext_lazy
from unfold.sites import UnfoldAdminSite

from common import replica
from config.env import BASE_DIR

_log = logging.getLogger(__name__)
# "View on site" loads any object without checking a permission, and no model here has such a page. Passwords are
# changed on the account pages, which limit attempts.
_NOT_SERVED = {"view_on_site", "password_change_done"}

# The names of the views that show lists and the overview. They read nothing but what they show, and who may see it
# (`settings.REPLICA_APPS`).
_MAY_BE_OLD = {"changelist_view", "index"}

# What Django's admin, its widgets and Unfold raise for malformed ids, page numbers and texts, which they convert
# without a check, some while the page is rendered.
_CONVERSION_ERRORS = (ValidationError, ValueError, OverflowError, DataError, InvalidPage)
_OWN_PACKAGES = {path.parent.name for path in BASE_DIR.glob("*/__init__.py")}


def _refuse_malformed_input(view: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap an admin view: 400 where the packages fail to convert the request's input. The traceback is logged.

    An error that passed through code of this project is a defect of it, and stays a 500.
    """

    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
        try:
            return _rendered(view, request, *args, **kwargs)
        except _CONVERSION_ERRORS as error:
            if _passed_own_code(error):
                raise
            _log.exception("The admin could not convert its input")
            raise BadRequest("An id, a number or a text is not what the admin's pages send.") from error

    return wrapped


def _rendered(view: Callable[..., Any], request: HttpRequest, *args: Any, **kwargs: Any) -> Any:
    def respond() -> Any:
        response = view(request, *args, **kwargs)
        return response.render() if isinstance(response, SimpleTemplateResponse) else response

    return replica.answered(request, respond) if getattr(view, "__name__", "") in _MAY_BE_OLD else respond()


def _passed_own_code(error: Exception) -> bool:
    """Whether a function of this project other than the wrappers was running."""
    modules = (frame.f_globals.get("__name__", "") for frame, _line in walk_tb(error.__traceback__))
    return any(name.partition(".")[0] in _OWN_PACKAGES for name in modules if name not in {__name__, replica.__name__})


class Site(UnfoldAdminSite):
    """The default admin site (`config.apps.AdminConfig`)."""

    index_title = gettext_lazy("Overview")
    # As in the panel. The element lets style sheets hide what is empty.
    empty_value_display = format_html('<span class="rota-none">{}</span>', "\N{EN DASH}")

    def get_urls(self) -> list[URLPattern]:
        return [url for url in super().get_urls() if getattr(url, "name", None) not in _NOT_SERVED]

    def admin_view(self, view: Callable[..., Any], cacheable: bool = False) -> Any:
        """Allow 'unsafe-eval', which Unfold's Alpine needs, on pages of the admin only."""
        return csp_update({"script-src": [UNSAFE_EVAL]})(super().admin_view(_refuse_malformed_input(view), cacheable))

    @method_decorator(secure_admin_login)
    def login(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Redirects anonymous users to the log-in page of the product."""
        return super().login(request, extra_context)

    def password_change(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return redirect("account_change_password")
