"""Links between the page of an object in the panel and its page in the admin, for those who may open them."""

from collections.abc import Callable
from typing import Any

from django import template
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Model
from django.urls import reverse

from access.rights import accounts_of, sellers_of
from delivery.models import Delivery, Driver, Integrator, Token, WebhookEndpoint, WebhookEvent
from integration.models import ApiKey, Invoice, Order, Seller

register = template.Library()

# The page of each model: its name, its account or seller, and what else its URL names.
_OF_ACCOUNTS: dict[type[Model], Callable[[Any], tuple[str, Any, str, list[Any]]]] = {
    Integrator: lambda row: ("overview", row.pk, "live", []),
    Delivery: lambda row: ("delivery", row.integrator_id, row.environment, [row.pk]),
    Token: lambda row: ("token", row.integrator_id, row.environment, [row.pk]),
    WebhookEndpoint: lambda row: ("webhook", row.integrator_id, row.environment, []),
    WebhookEvent: lambda row: ("event", row.endpoint.integrator_id, row.endpoint.environment, [row.pk]),
}
_OF_SELLERS: dict[type[Model], Callable[[Any], tuple[str, int, list[Any]]]] = {
    Seller: lambda row: ("seller", row.pk, []),
    ApiKey: lambda row: ("seller", row.seller_id, []),
    Order: lambda row: ("seller_order", row.seller_id, [row.pk]),
    Invoice: lambda row: ("seller_invoice", row.seller_id, [row.pk]),
}


@register.simple_tag
def panel_page(user: User | AnonymousUser, row: Model) -> str:
    """The URL of the row's page in the panel; empty if it has none or the user may not open it."""
    if find := _OF_ACCOUNTS.get(type(row)):
        name, account, environment, rest = find(row)
        return _url(name, account, environment, *rest) if accounts_of(user).filter(pk=account).exists() else ""
    if find_of_seller := _OF_SELLERS.get(type(row)):
        name, seller, rest = find_of_seller(row)
        return _url(name, seller, *rest) if sellers_of(user).filter(pk=seller).exists() else ""
    if (
        isinstance(row, Driver)
        and row.active
        and not row.simulated_for_id
        and user.has_perm("delivery.dispatch_delivery")
    ):
        return _url("driver", row.pk)
    return ""


@register.inclusion_tag("panel/admin_link.html")
def admin_link(user: User | AnonymousUser, row: Model) -> dict[str, str]:
    """A link to the row's page in the admin, for staff who may view it."""
    opts = row._meta
    may_open = getattr(user, "is_staff", False) and user.has_perm(f"{opts.app_label}.view_{opts.model_name}")
    return {"url": reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=[row.pk]) if may_open else ""}


def _url(name: str, *arguments: Any) -> str:
    return reverse(f"panel:{name}", args=list(arguments))
