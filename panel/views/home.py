"""Where people begin: the page of their work, or the accounts and sellers to choose from."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.db.models import Count, Exists, OuterRef, Q
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from access.rights import accounts_of, sellers_of
from common import clock
from delivery.lifecycle import Status
from delivery.models import Delivery, Environment, Integrator, WebhookEndpoint
from integration.lifecycle import Status as OrderStatus
from integration.models import Order, Seller
from panel.views.base import LoggedInView, user_of

# With more accounts and sellers than this the page has a search field.
_SEARCHED_FROM = 10
# Accounts, and sellers, that are shown at once.
_MAX_SHOWN = 100
# Orders that are older than this are not counted as waiting or as not delivered.
_RECENT = timedelta(days=7)
# An account opens in the sandbox until it has its first live delivery.
_IS_LIVE = Exists(Delivery.objects.filter(integrator=OuterRef("pk"), environment=Environment.LIVE))


class Work(LoggedInView):
    """Leads people to their work after the log-in.

    Dispatchers to the board, members of a single account to its overview, members of a single seller to its orders, and
    all others to the choice of accounts.
    """

    def get(self, request: HttpRequest) -> HttpResponseBase:
        user = user_of(request)
        if user.has_perm("delivery.dispatch_delivery"):
            return redirect("panel:board")
        accounts, sellers = accounts_of(user).annotate(is_live=_IS_LIVE)[:2], sellers_of(user)[:2]
        if len(accounts) == 1 and not sellers:
            environment = Environment.LIVE if accounts[0].is_live else Environment.SANDBOX
            return redirect("panel:overview", accounts[0].pk, environment)
        if len(sellers) == 1 and not accounts:
            return redirect("panel:seller_orders", sellers[0].pk, Environment.LIVE)
        return redirect("panel:home")


def _webhook_states() -> dict[str, Exists]:
    """Whether the account's live webhooks have a URL, are off, and fail."""
    of_account = WebhookEndpoint.objects.filter(integrator=OuterRef("pk"), environment=Environment.LIVE).exclude(url="")
    return {
        "has_webhook": Exists(of_account),
        "webhooks_off": Exists(of_account.filter(enabled=False)),
        "webhooks_fail": Exists(of_account.failing()),
    }


@dataclass(frozen=True)
class Shop:
    """An account with the numbers of its live deliveries: requested today, not delivered of these, now, and late."""

    account: Integrator
    today: int = 0
    failed: int = 0
    under_way: int = 0
    late: int = 0


@dataclass(frozen=True)
class Store:
    """A seller with the numbers of its orders: created today; of the last days to be collected, and not delivered."""

    seller: Seller
    today: int = 0
    waiting: int = 0
    failed: int = 0


class Home(LoggedInView):
    """The accounts and sellers that the user may see, narrowed by name with `q`, each with the numbers of today."""

    def handle_no_permission(self) -> Any:
        """Who has to log in first is led to their work afterwards, not to the choice."""
        return redirect_to_login(reverse("panel:work"))

    def get(self, request: HttpRequest) -> HttpResponse:
        words = request.GET.get("q", "").strip()
        now = clock.now()
        found = accounts_of(request.user).filter(name__icontains=words)
        accounts = list(found.annotate(is_live=_IS_LIVE, **_webhook_states())[: _MAX_SHOWN + 1])
        sellers = list(sellers_of(request.user).filter(name__icontains=words)[: _MAX_SHOWN + 1])
        return self.page(
            "panel/home.html",
            shops=_shops(accounts[:_MAX_SHOWN], at=now),
            stores=_stores(sellers[:_MAX_SHOWN], at=now),
            words=words,
            has_search=bool(words) or len(accounts) + len(sellers) > _SEARCHED_FROM,
            has_more=max(len(accounts), len(sellers)) > _MAX_SHOWN,
            most=_MAX_SHOWN,
        )


def _shops(accounts: Sequence[Integrator], *, at: datetime) -> list[Shop]:
    live = Delivery.objects.filter(integrator__in=accounts, environment=Environment.LIVE).order_by()
    failed, late = Count("pk", filter=Q(status=Status.FAILED)), Count("pk", filter=Q(due_at__lt=at))
    requested = live.filter(created_at__gte=clock.midnight(at)).values_list("integrator")
    today = {key: numbers for key, *numbers in requested.annotate(Count("pk"), failed=failed)}
    open_now = live.under_way().with_due().values_list("integrator")
    progress = {key: numbers for key, *numbers in open_now.annotate(Count("pk"), late=late)}
    none: list[Any] = [0, 0]
    return [Shop(each, *today.get(each.pk, none), *progress.get(each.pk, none)) for each in accounts]


def _stores(sellers: Sequence[Seller], *, at: datetime) -> list[Store]:
    own = Order.objects.filter(seller__in=sellers, environment=Environment.LIVE).order_by()
    created = own.filter(created_at__gte=clock.midnight(at)).values_list("seller")
    today = dict(created.annotate(Count("pk")))
    recent = own.filter(created_at__gte=at - _RECENT, status__in=(OrderStatus.PENDING, OrderStatus.DELIVERY_FAILED))
    by_status = recent.values_list("seller", "status").annotate(Count("pk"))
    numbers = {(seller, status): count for seller, status, count in by_status}
    return [
        Store(
            each,
            today.get(each.pk, 0),
            numbers.get((each.pk, OrderStatus.PENDING), 0),
            numbers.get((each.pk, OrderStatus.DELIVERY_FAILED), 0),
        )
        for each in sellers
    ]
