"""The admin site: Unfold's, with the product's log-in and without unused URLs, and the groups of its lists."""

import logging
from collections.abc import Callable, Iterable
from functools import wraps
from traceback import walk_tb
from typing import Any

from allauth.account.decorators import secure_admin_login
from allauth.mfa.models import Authenticator
from csp.constants import UNSAFE_EVAL
from csp.decorators import csp_update
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.core.exceptions import BadRequest, ValidationError
from django.core.paginator import InvalidPage
from django.db import DataError
from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import SimpleTemplateResponse
from django.urls import URLPattern, reverse
from django.utils.decorators import method_decorator
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from pghistory.models import Events
from unfold.sites import UnfoldAdminSite

from common.admin.base import NOTHING
from common.mail.models import Message
from common.postgresql import replica
from config.env import PACKAGES
from delivery.hours.models import ServiceHours
from delivery.models import (
    AuditEntry,
    Delivery,
    DispatchRules,
    Driver,
    DriverPosition,
    Integrator,
    Tariff,
    Token,
    Transition,
    WebhookEndpoint,
    WebhookEvent,
)
from integration.freight.models import FreightParameters, FreightRate
from integration.invoices.models import Invoice
from integration.models import (
    ApiKey,
    Carrier,
    CarrierKey,
    CarrierRule,
    Company,
    Manifest,
    Order,
    RefusedCarrierCall,
    Seller,
)
from integration.models import WebhookEndpoint as EndpointOfSeller
from integration.models import WebhookEvent as EventOfOrder

_log = logging.getLogger(__name__)
# "View on site" loads any object without checking a permission, and no model here has such a page. Passwords are
# changed on the account pages, which limit attempts.
_NOT_SERVED = {"view_on_site", "password_change_done"}

# The names of the views that show lists and the overview. They read nothing but what they show, and who may see it
# (`settings.REPLICA_APPS`).
_LIST = "changelist_view"
_MAY_BE_OLD = {_LIST, "index"}

# What Django's admin, its widgets and Unfold raise for malformed ids, page numbers and texts, which they convert
# without a check, some while the page is rendered.
_CONVERSION_ERRORS = (ValidationError, ValueError, OverflowError, DataError, InvalidPage)
_OWN_PACKAGES = {folder.name for folder in PACKAGES}


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
    """The answer: a list without the indentation of its templates, a third of it that has no meaning."""

    def respond() -> Any:
        response = view(request, *args, **kwargs)
        if isinstance(response, SimpleTemplateResponse):
            response.render()
            if name == _LIST:
                response.content = b"\n".join(filter(None, map(bytes.strip, response.content.split(b"\n"))))
        return response

    name = getattr(view, "__name__", "")
    return replica.answered(request, respond) if name in _MAY_BE_OLD else respond()


def _passed_own_code(error: Exception) -> bool:
    """Whether a function of this project other than the wrappers was running."""
    modules = (frame.f_globals.get("__name__", "") for frame, _line in walk_tb(error.__traceback__))
    return any(name.partition(".")[0] in _OWN_PACKAGES for name in modules if name not in {__name__, replica.__name__})


class Site(UnfoldAdminSite):
    """The default admin site (`config.apps.AdminConfig`)."""

    index_title = _("Admin")
    empty_value_display = NOTHING

    def groups(self, request: HttpRequest) -> list[dict[str, Any]]:
        """The groups of lists, for the first page of the admin and the search of the panel."""
        return groups(request)

    def name_of(self, opts: Any) -> str:
        """What pages call the list of a model."""
        return name_of(opts)

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


# Rows of a delivery, driver, account or seller, whose pages lead to them: whole lists are for those who look into the
# database.
_RAW: set[type[Model]] = {Transition, DriverPosition, WebhookEndpoint, WebhookEvent, EndpointOfSeller}
_GROUPS: list[tuple[Any, list[type[Model]]]] = [
    (_("Prices"), [Tariff, FreightRate, FreightParameters, Events]),
    (_("Deliveries"), [Delivery, DispatchRules, ServiceHours, Transition]),
    (_("Drivers"), [Driver, DriverPosition]),
    (_("Accounts & tokens"), [Integrator, Token, AuditEntry]),
    (_("Webhooks"), [WebhookEndpoint, WebhookEvent, EndpointOfSeller, EventOfOrder]),
    (_("Sellers & orders"), [Order, Manifest, Invoice, Seller, Company, ApiKey]),
    (_("Carriers"), [Carrier, CarrierRule, CarrierKey, RefusedCarrierCall]),
    (_("People"), [User, Group, Authenticator, Message]),
]
# Where the model's own name is not the one for people.
_NAMES: dict[type[Model], Any] = {
    Integrator: _("Accounts"),
    Authenticator: _("Two-step verification"),
    AuditEntry: _("Activity"),
    Transition: _("Movements"),
    WebhookEndpoint: _("Webhooks"),
    WebhookEvent: _("Events"),
    EndpointOfSeller: _("Webhooks of sellers"),
    EventOfOrder: _("Events of sellers"),
}


def name_of(opts: Any) -> str:
    """What pages call the list of a model. `opts`: those of its ModelAdmin."""
    return capfirst(str(_NAMES.get(opts.model, opts.verbose_name_plural)))


def groups(request: HttpRequest) -> list[dict[str, Any]]:
    """The groups of the admin's lists that this user works with, each entry with its name and address."""
    found = [{"title": title, "entries": list(_entries(request, models))} for title, models in _GROUPS]
    return [group for group in found if group["entries"]]


def _entries(request: HttpRequest, models: list[type[Model]]) -> Iterable[dict[str, Any]]:
    sees_raw = getattr(request.user, "is_superuser", False)
    for model in models:
        screen = admin.site.get_model_admin(model)
        if screen.has_view_permission(request) and (sees_raw or model not in _RAW):
            link = reverse(f"admin:{screen.opts.app_label}_{screen.opts.model_name}_changelist")
            yield {"title": name_of(screen.opts), "link": link}
