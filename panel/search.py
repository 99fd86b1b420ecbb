"""What the search of the panel finds, for one person: only what that person may open, each with its address.

Whole ids, external ids, codes, keys and documents are found by their indexes, whatever their age. Parts of them, the
receivers' names and the ends of their phones are looked for among the newest rows.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.contrib import admin
from django.contrib.auth.models import User
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import CharField, Q, QuerySet, Value
from django.db.models.functions import Cast
from django.http import HttpRequest
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

from access import teams
from access.rights import Account, accounts_of, is_account_staff, sellers_of
from common.brazil import phones
from common.fields import any_of, folded
from delivery.models import Delivery, Driver, Environment, Integrator, PickupPoint, Stop, parse_id
from integration.invoices.models import Invoice
from integration.models import Order, SearchCode, Seller, compact_document
from panel.base import user_of
from panel.filters import has_receiver
from panel.pages import pages_for
from panel.templatetags.orders import order_status
from panel.templatetags.panel import first_line, order_names, state_badge

LONGEST = 100  # characters
_SHORTEST = 2
# Results of each kind that are shown. One more is looked for, which tells whether there are further ones.
_MOST = 6
_LOOKED_FOR = _MOST + 1
# Rows that are looked at for a part of a text, which a member's accounts share.
_NEWEST = 5_000
# Accounts and sellers of a member in which parts are looked for.
_MOST_OWN = 10


@dataclass(frozen=True)
class Result:
    """`text` is what it is called, `detail` what tells it from others of that name, `status` a badge.

    `environment`: of a delivery, order or invoice.
    """

    text: str
    address: str
    detail: str = ""
    environment: str = ""
    status: SafeString | str = ""

    def rank(self, text: str) -> int:
        """How well it is named by the text, in lower case and without accents: 0 is the best."""
        name = folded(self.text)
        return 0 if name == text else 1 if name.startswith(text) else 2


@dataclass(frozen=True)
class Group:
    """`has_more`: whether there are further results, which are not shown."""

    title: str
    results: list[Result]
    has_more: bool = False

    def first(self, most: int, text: str) -> "Group":
        """At most so many of its results: what the text names best comes first, of these what is live."""
        ranked = sorted(self.results, key=lambda each: (each.rank(text), each.environment == Environment.SANDBOX))
        return Group(self.title, ranked[:most], len(ranked) > most)


class Search:
    """One search. `groups` has what was found, without empty groups; nothing for less than two characters.

    What the text names comes first, of the groups and in them, then what is live; else they keep their order, of rows
    the newest first.
    """

    def __init__(self, request: HttpRequest, text: str) -> None:
        self._request, self._user = request, user_of(request)
        self._text = text.strip()[:LONGEST]

    @cached_property
    def groups(self) -> list[Group]:
        if len(self._text) < _SHORTEST:
            return []
        found = [
            Group(_("Deliveries"), self._deliveries()),
            Group(_("Orders"), self._orders()),
            Group(_("Invoices"), self._invoices()),
            Group(_("Drivers"), self._drivers()),
            Group(_("Accounts"), [*self._accounts()]),
            Group(_("Sellers"), [*self._sellers()]),
            Group(_("Pickup points"), [*self._pickup_points()]),
            Group(_("Pages"), self._pages()),
        ]
        text = folded(self._text)
        shown = [group.first(_MOST, text) for group in found if group.results]
        return sorted(shown, key=lambda group: group.results[0].rank(text))

    @cached_property
    def _own_accounts(self) -> list[Integrator]:
        return list(accounts_of(self._user)[: _MOST_OWN + 1])

    @cached_property
    def _own_sellers(self) -> list[int]:
        """The keys of all of them."""
        return list(sellers_of(self._user).values_list("pk", flat=True))

    def _may_view_in_admin(self, model: Any) -> bool:
        return self._user.is_staff and self._user.has_perm(f"{model._meta.app_label}.view_{model._meta.model_name}")

    def _address(self, row: Any, page: str, *arguments: Any, is_own: bool) -> str:
        """Its page in the panel; in the admin for those who see it only there."""
        if is_own:
            return reverse(f"panel:{page}", args=arguments)
        return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])

    def _deliveries(self) -> list[Result]:
        sees_all = is_account_staff(self._user, Integrator)
        in_admin = self._may_view_in_admin(Delivery)
        deliveries = Delivery.objects.all()
        if sees_all or in_admin:
            newest: QuerySet[Any] = deliveries.order_by("-created_at").values("pk")[:_NEWEST]
        elif self._own_accounts:
            deliveries = deliveries.filter(integrator__in=accounts_of(self._user))
            newest = _newest_of_each(self._own_accounts[:_MOST_OWN])
        else:
            return []
        key = parse_id(self._text)
        found = deliveries.filter(Q(pk=key) if key else Stop.refers_to("pk", external_id=self._text))
        shown = list(_with_names(found))
        if len(shown) < _LOOKED_FOR and key is None:
            word = self._text.lower()
            recent = deliveries.filter(any_of("pk", ArraySubquery(newest))).alias(id_text=Cast("pk", CharField()))
            of_stops = Stop.of_some_with(ArraySubquery(newest), text=self._text)
            either = Q(id_text__startswith=word) | Q(id_text__endswith=word.lstrip("…")) | of_stops
            known = {delivery.pk for delivery in shown}
            shown += [each for each in _with_names(recent.filter(either)) if each.pk not in known]
        # Without the admin, those found are of the person's own accounts.
        visible = {account.pk for account in self._own_accounts} if in_admin and not sees_all else None
        return [
            Result(
                order_names(each),
                self._address(
                    each,
                    "delivery",
                    each.integrator_id,
                    each.environment,
                    each.pk,
                    is_own=visible is None or each.integrator_id in visible,
                ),
                " · ".join([*_receivers(each), each.integrator.name]),
                each.environment,
                state_badge(each),
            )
            for each in shown[:_LOOKED_FOR]
        ]

    def _orders(self) -> list[Result]:
        orders, newest = self._of_sellers(Order)
        if orders is None:
            return []
        sees_all = is_account_staff(self._user, Seller) or self._may_view_in_admin(Order)
        sellers: Any = Seller.objects.order_by().values("pk") if sees_all else self._own_sellers
        scope = {"seller__in": sellers, "environment__in": Environment.values}  # the indexes begin with them
        keys: list[int] = []
        codes = SearchCode.objects.filter(**scope).alike(Value(self._text))
        keys += codes.values_list("order", flat=True)[:_LOOKED_FOR]
        if document := compact_document(self._text):
            by_document = Order.objects.filter(**scope, receiver_document=document)
            keys += by_document.values_list("pk", flat=True).order_by("environment", "-pk")[:_LOOKED_FOR]
        whole = list(orders.filter(pk__in=keys).select_related("seller").order_by("environment", "-pk"))
        contains = (
            has_receiver(self._text)
            | Q(code__composed__icontains=self._text)
            | Q(tracking_code__composed__icontains=self._text)
        )
        if len(whole) < _LOOKED_FOR:
            known = {order.pk for order in whole}
            recent = orders.filter(contains, any_of("pk", ArraySubquery(newest))).select_related("seller")
            first = recent.order_by("environment", "-pk")[:_LOOKED_FOR]
            whole += [order for order in first if order.pk not in known]
        return [
            Result(
                order.code,
                self._address(
                    order,
                    "seller_order",
                    order.seller_id,
                    order.environment,
                    order.pk,
                    is_own=self._owns(order.seller_id),
                ),
                " · ".join(filter(None, [*_receiver(order), order.seller.name])),
                order.environment,
                order_status(order.status),
            )
            for order in whole[:_LOOKED_FOR]
        ]

    def _invoices(self) -> list[Result]:
        invoices, _newest = self._of_sellers(Invoice)
        if invoices is None:
            return []
        key = "".join(self._text.split()).upper()
        sellers = Seller.objects if is_account_staff(self._user, Seller) else sellers_of(self._user)
        if self._may_view_in_admin(Invoice):
            sellers = Seller.objects
        by_key = Q(seller__in=sellers.order_by().values("pk"), environment__in=Environment.values, access_key=key)
        found = (
            invoices.filter(by_key | Q(number=self._text))
            .select_related("seller")
            .defer("raw")
            .order_by("environment", "-pk")[:_LOOKED_FOR]
        )
        return [
            Result(
                str(invoice),
                self._address(
                    invoice,
                    "seller_invoice",
                    invoice.seller_id,
                    invoice.environment,
                    invoice.pk,
                    is_own=self._owns(invoice.seller_id),
                ),
                f"{invoice.seller.name} · {invoice.access_key}",
                invoice.environment,
            )
            for invoice in found
        ]

    def _owns(self, seller: int) -> bool:
        """Whether the seller's pages are open to the person."""
        return is_account_staff(self._user, Seller) or seller in self._own_sellers

    def _of_sellers(self, model: Any) -> tuple[QuerySet[Any] | None, QuerySet[Any]]:
        """The rows of orders or invoices that the person may see, and the keys of the newest of them."""
        rows = model._default_manager.all()
        if is_account_staff(self._user, Seller) or self._may_view_in_admin(model):
            return rows, rows.order_by("-pk").values("pk")[:_NEWEST]
        if not self._own_sellers:
            return None, rows.none()
        rows, own = rows.filter(seller__in=self._own_sellers), self._own_sellers[:_MOST_OWN]
        moment = "created_at" if model is Order else "received_at"
        parts: list[QuerySet[Any]] = [
            rows.filter(seller=each, environment=environment).order_by(f"-{moment}", "-pk").values("pk")[: _share(own)]
            for each in own
            for environment in Environment.values
        ]
        return rows, parts[0].union(*parts[1:], all=True)

    def _drivers(self) -> list[Result]:
        if not self._user.has_perm("delivery.dispatch_delivery"):
            return []
        found = Driver.objects.filter(active=True, simulated_for=None).matching(self._text)[:_LOOKED_FOR]
        return [
            Result(
                driver.name,
                reverse("panel:driver", args=[driver.pk]),
                " · ".join(filter(None, [str(driver.get_vehicle_type_display()), phones.shown(driver.phone)])),
                driver.environment,
            )
            for driver in found
        ]

    def _accounts(self) -> Iterable[Result]:
        for account in accounts_of(self._user).filter(name__composed__icontains=self._text)[:_LOOKED_FOR]:
            address = reverse("panel:overview", args=[account.pk, Environment.LIVE])
            yield Result(account.name, address, _("Account"))

    def _sellers(self) -> Iterable[Result]:
        named = Q(name__composed__icontains=self._text) | Q(reference__iexact=self._text)
        for seller in sellers_of(self._user).filter(named)[:_LOOKED_FOR]:
            address = reverse("panel:seller_orders", args=[seller.pk, Environment.LIVE])
            yield Result(seller.name, address, f"{_('Seller')} · {seller.reference}")

    def _pickup_points(self) -> Iterable[Result]:
        own = PickupPoint.objects.active().filter(
            integrator__in=accounts_of(self._user), name__composed__icontains=self._text
        )
        for point in own.select_related("integrator")[:_LOOKED_FOR]:
            address = reverse("panel:overview", args=[point.integrator_id, Environment.LIVE])
            yield Result(point.name, f"{address}#pickups", f"{_('Pickup point')} · {point.integrator.name}")

    def _pages(self) -> list[Result]:
        """The pages that the person may open: of the service, of their accounts and sellers, and of the admin."""
        found = list(_named(self._text, self._user))
        for account in accounts_of(self._user)[:2]:
            found += _named(self._text, self._user, account, may_request=teams.may_request(self._user, account))
        for seller in sellers_of(self._user)[:2]:
            found += _named(self._text, self._user, seller)
        if self._user.is_staff:
            found += _named_in_admin(self._text, self._request)
        return found


def _newest_of_each(accounts: Sequence[Integrator]) -> QuerySet[Any]:
    """Keys of the newest deliveries of each of these accounts in each environment, each part by its index."""
    parts: list[QuerySet[Any]] = [
        Delivery.objects.within(account, environment).order_by("-created_at", "-pk").values("pk")[: _share(accounts)]
        for account in accounts
        for environment in Environment.values
    ]
    return parts[0].union(*parts[1:], all=True)


def _share(owners: Sequence[Any]) -> int:
    """The rows of each environment of an account or a seller that are looked at."""
    return _NEWEST // (len(owners) * len(Environment))


def _receivers(delivery: Delivery) -> list[str]:
    """Whom a delivery is for and where; nothing of one that was anonymised."""
    names = ", ".join(stop.contact_name for stop in delivery.ordered_stops if stop.contact_name)
    streets = [first_line(stop) for stop in delivery.ordered_stops if stop.address.get("street")]
    return [*filter(None, [names]), *streets[:1]]


def _receiver(order: Order) -> list[str]:
    """Whom an order is for and in which city, and its tracking code."""
    return [order.receiver_name, (order.receiver.get("address") or {}).get("city") or "", order.tracking_code]


def _with_names(deliveries: QuerySet[Delivery]) -> QuerySet[Delivery]:
    return (
        deliveries.select_related("integrator")
        .prefetch_related("stops")
        .order_by("environment", "-created_at")[:_LOOKED_FOR]
    )


def _named(text: str, user: User, owner: Account | None = None, *, may_request: bool = False) -> Iterable[Result]:
    """The pages of the account or seller, or those of neither, that are called so and that the user may open."""
    for page in pages_for(user, owner, may_request=may_request):
        if page.title and folded(text) in folded(" ".join(map(str, (page.title, page.entry, page.tab, page.keywords)))):
            detail = owner.name if owner else str(page.keywords)
            yield Result(str(page.title), page.address(owner, Environment.LIVE), detail)


def _named_in_admin(text: str, request: HttpRequest) -> Iterable[Result]:
    """The lists of the admin that the person works with."""
    site: Any = admin.site
    for group in site.groups(request):
        for entry in group["entries"]:
            if folded(text) in folded(f"{entry['title']} {group['title']}"):
                yield Result(entry["title"], entry["link"], f"{_('Admin')} · {group['title']}")
