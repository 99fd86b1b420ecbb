"""The admin's sidebar, grouped by task. Unfold calls `sidebar` for every page."""

from collections.abc import Iterable
from typing import Any

from allauth.mfa.models import Authenticator
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.db.models import Model
from django.http import HttpRequest
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from common.mail.models import Message
from delivery.models import (
    AuditEntry,
    Delivery,
    DispatchRules,
    DispatchRulesChange,
    Driver,
    DriverPosition,
    Integrator,
    Tariff,
    TariffChange,
    Token,
    Transition,
    WebhookEndpoint,
    WebhookEvent,
)
from integration.models import (
    ApiKey,
    Company,
    FreightParameters,
    FreightParametersChange,
    FreightPriceChange,
    FreightRate,
    Invoice,
    Order,
    Seller,
)

# Each group's entries: a symbol of Material Symbols, and what is listed.
_GROUPS: list[tuple[Any, list[tuple[str, type[Model]]]]] = [
    (
        _("Deliveries"),
        [
            ("local_shipping", Delivery), ("history", Transition), ("tune", DispatchRules),
            ("history", DispatchRulesChange),
        ],
    ),
    (_("Drivers"), [("two_wheeler", Driver), ("pin_drop", DriverPosition)]),
    (_("Accounts & tokens"), [("storefront", Integrator), ("key", Token), ("fact_check", AuditEntry)]),
    (_("Webhooks"), [("webhook", WebhookEndpoint), ("send", WebhookEvent)]),
    (
        _("Sellers & orders"),
        [
            ("shopping_cart", Order), ("receipt_long", Invoice), ("store", Seller), ("apartment", Company),
            ("vpn_key", ApiKey),
        ],
    ),
    (
        _("Prices"),
        [
            ("payments", Tariff), ("history", TariffChange), ("table_chart", FreightRate), ("tune", FreightParameters),
            ("history", FreightPriceChange), ("history", FreightParametersChange),
        ],
    ),
    (_("People"), [("person", User), ("group", Group), ("phonelink_lock", Authenticator), ("mail", Message)]),
]  # fmt: skip  # a table reads as one


# Where the model's own name is not the one for people.
_NAMES: dict[type[Model], Any] = {
    Authenticator: _("Two-step verification"),
    AuditEntry: _("Activity"),
    Transition: _("Movements"),
    WebhookEndpoint: _("Webhooks"),
    WebhookEvent: _("Events"),
}


def sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    """Groups with the entries that this user may view; empty groups are left out."""
    panel = {"title": gettext("To the panel"), "icon": "arrow_back", "link": reverse("panel:home"), "active": False}
    groups = [{"title": title, "items": list(_entries(request, models))} for title, models in _GROUPS]
    return [{"title": None, "items": [panel]}, *(group for group in groups if group["items"])]


def _entries(request: HttpRequest, models: list[tuple[str, type[Model]]]) -> Iterable[dict[str, Any]]:
    for symbol, model in models:
        if admin.site.get_model_admin(model).has_view_permission(request):
            opts = model._meta  # its public name
            link = reverse(f"admin:{opts.app_label}_{opts.model_name}_changelist")
            name = _NAMES.get(model, opts.verbose_name_plural)
            yield {"title": capfirst(str(name)), "icon": symbol, "link": link}
