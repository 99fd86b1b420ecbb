"""Links between the page of an object in the panel and its page in the admin, for those who may open them."""

from collections.abc import Callable
from typing import Any

from django import template
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Model, QuerySet
from django.urls import reverse

from access.rights import accounts_of, sellers_of
from delivery.models import Delivery, Driver, Integrator, Token, WebhookEndpoint, WebhookEvent
from integration.invoices.models import Invoice
from integration.models import ApiKey, Order, Seller
from integration.models import WebhookEndpoint as EndpointOfSeller
from integration.models import WebhookEvent as EventOfOrder

register = template.Library()

# The page of each model, and the arguments of its URL. The first one is the account or the seller.
_OF_ACCOUNTS: dict[type[Model], tuple[str, Callable[[Any], list[Any]]]] = {
    Integrator: ("overview", lambda row: [row.pk, "live"]),
    Delivery: ("delivery", lambda row: [row.integrator_id, row.environment, row.pk]),
    Token: ("token", lambda row: [row.integrator_id, row.environment, row.pk]),
    WebhookEndpoint: ("webhook", lambda row: row.url_arguments),
    WebhookEvent: ("event", lambda row: [*row.endpoint.url_arguments, row.pk]),
}
_OF_SELLERS: dict[type[Model], tuple[str, Callable[[Any], list[Any]]]] = {
    Seller: ("seller", lambda row: [row.pk, "live"]),
    ApiKey: ("seller", lambda row: [row.seller_id, row.environment]),
    Order: ("seller_order", lambda row: [row.seller_id, row.environment, row.pk]),
    Invoice: ("seller_invoice", lambda row: [row.seller_id, row.environment, row.pk]),
    EndpointOfSeller: ("seller_webhook", lambda row: row.url_arguments),
    EventOfOrder: ("seller_event", lambda row: [*row.endpoint.url_arguments, row.pk]),
}


@register.simple_tag
def panel_page(user: User | AnonymousUser, row: Model) -> str:
    """The URL of the row's page in the panel; empty if it has none or the user may not open it."""
    if isinstance(row, Driver):
        may_open = row.active and not row.simulated_for_id and user.has_perm("delivery.dispatch_delivery")
        return reverse("panel:driver", args=[row.pk]) if may_open else ""
    is_of_account = type(row) in _OF_ACCOUNTS
    page = (_OF_ACCOUNTS if is_of_account else _OF_SELLERS).get(type(row))
    if page is None:
        return ""
    name, arguments = page[0], page[1](row)
    visible: QuerySet[Any] = accounts_of(user) if is_of_account else sellers_of(user)
    return reverse(f"panel:{name}", args=arguments) if visible.filter(pk=arguments[0]).exists() else ""


@register.inclusion_tag("panel/admin_link.html")
def admin_link(user: User | AnonymousUser, row: Model) -> dict[str, str]:
    """A link to the row's page in the admin, for staff who may view it."""
    opts = row._meta
    may_open = getattr(user, "is_staff", False) and user.has_perm(f"{opts.app_label}.view_{opts.model_name}")
    return {"url": reverse(f"admin:{opts.app_label}_{opts.model_name}_change", args=[row.pk]) if may_open else ""}
