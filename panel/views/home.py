"""Where people begin: the page of their work, or the accounts and sellers to choose from."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse

from access.rights import accounts_of, has_choice, is_of_depot, live_or_sandbox, only_one, sellers_of
from common import clock
from delivery.models import Delivery, Environment, Integrator, WebhookEndpoint
from delivery.models.delivery import NOT_DELIVERED
from delivery.streets import actions as streets
from integration.lifecycle import Status as OrderStatus
from integration.models import Order
from panel import maps
from panel.base import LoggedInView, user_of
from panel.filters import HomeFilter, shown

# With more accounts and sellers than this the page has a search field.
_SEARCHED_FROM = 10
# Accounts, and sellers, that are shown at once.
_MAX_SHOWN = 100
# Orders that are older than this are not counted as waiting or as not delivered.
_RECENT = timedelta(days=7)
# An account opens in the sandbox until it has its first live delivery, see `live_or_sandbox`.
_IS_LIVE = Exists(Delivery.objects.filter(integrator=OuterRef("pk"), environment=Environment.LIVE))


class Work(LoggedInView):
    """Leads people to their work after the log-in.

    Superusers first to the question where maps have their streets from, until one has answered it. Dispatchers to the
    board, members of a single account to its overview, members of a single seller to its orders, depot staff who are
    members of none to the page Scan, and all others to the choice of accounts.
    """

    def get(self, request: HttpRequest) -> HttpResponseBase:
        return redirect(_work_of(user_of(request)))


def _work_of(user: User) -> str:
    """The address of the page where somebody's work begins."""
    if user.has_perm("delivery.change_dispatchrules") and not maps.tiles()["url"] and streets.chosen() is None:
        return reverse("panel:streets")
    if user.has_perm("delivery.dispatch_delivery"):
        return reverse("panel:board")
    if owner := only_one(user):
        page = "overview" if isinstance(owner, Integrator) else "seller_orders"
        return reverse(f"panel:{page}", args=[owner.pk, live_or_sandbox(owner)])
    return reverse("panel:scan" if is_of_depot(user) and not has_choice(user) else "panel:home")


def _webhook_states() -> dict[str, Exists]:
    """Whether the account's live webhooks have a URL, are off, and fail."""
    of_account = WebhookEndpoint.objects.filter(integrator=OuterRef("pk"), environment=Environment.LIVE).exclude(url="")
    return {
        "has_webhook": Exists(of_account),
        "webhooks_off": Exists(of_account.filter(enabled=False)),
        "webhooks_fail": Exists(of_account.failing()),
    }


@dataclass(frozen=True)
class Row:
    """An account or a seller with its numbers; those of no deliveries or orders are 0.

    Of the live deliveries of an account: requested `today`, `failed` of these, `under_way` now, and `late` of these. Of
    the orders of a seller: created `today`, and of the last days `under_way`, those to be collected, and `failed`.
    """

    of: Any
    today: int = 0
    failed: int = 0
    under_way: int = 0
    late: int = 0


Numbers = dict[Any, dict[str, int]]  # by account or seller, and the name of the number


class Home(LoggedInView):
    """The accounts and sellers that the user may see, each with the numbers of today, by which they can be sorted.

    Leads who has no choice to their work.
    """

    def handle_no_permission(self) -> Any:
        """Who has to log in first is led to their work afterwards, not to the choice."""
        return redirect_to_login(reverse("panel:work"))

    def get(self, request: HttpRequest) -> HttpResponse:
        if not has_choice(request.user) and (work := _work_of(user_of(request))) != request.path:
            return redirect(work)
        now = clock.now()
        accounts, sellers = (
            HomeFilter(request.GET, queryset=rows) for rows in (accounts_of(request.user), sellers_of(request.user))
        )
        counts = [accounts.qs.count(), sellers.qs.count()]
        annotated = accounts.qs.annotate(is_live=_IS_LIVE, **_webhook_states())
        chosen = shown(accounts)
        return self.page(
            "panel/home.html",
            shops=_rows(annotated, partial(_of_accounts, at=now), order=accounts.order),
            stores=_rows(sellers.qs, partial(_of_sellers, at=now), order=sellers.order),
            is_short=not chosen["is_filtered"] and sum(counts) <= _SEARCHED_FROM,
            has_more=max(counts) > _MAX_SHOWN,
            most=_MAX_SHOWN,
            **chosen,
        )


def _rows(found: QuerySet[Any], numbers_of: Callable[[Any], Numbers], *, order: str) -> list[Row]:
    """The first accounts or sellers in this order of `HomeFilter`; those without the number that it names by name."""
    number = order.removeprefix("-")
    if number == "name":
        shown_ones = list(found.order_by(order)[:_MAX_SHOWN])
        numbers = numbers_of(shown_ones)
    else:
        numbers = numbers_of(found.values("pk"))
        with_number = {key: each[number] for key, each in numbers.items() if each.get(number)}
        first = sorted(with_number, key=lambda key: -with_number[key])[:_MAX_SHOWN]
        others = found.exclude(pk__in=first).order_by("name")
        shown_ones = [
            *sorted(found.filter(pk__in=first), key=lambda each: first.index(each.pk)),
            *others[: _MAX_SHOWN - len(first)],
        ]
    return [Row(each, **numbers.get(each.pk, {})) for each in shown_ones]


def _of_accounts(accounts: Any, *, at: datetime) -> Numbers:
    live = Delivery.objects.filter(integrator__in=accounts, environment=Environment.LIVE).order_by()
    failed, late = Count("pk", filter=NOT_DELIVERED), Count("pk", filter=Q(due_at__lt=at))
    requested = live.filter(created_at__gte=clock.midnight(at)).values_list("integrator")
    found: Numbers = defaultdict(dict)
    for key, count, not_delivered in requested.annotate(Count("pk"), failed=failed):
        found[key] |= {"today": count, "failed": not_delivered}
    for key, count, overdue in live.under_way().with_due().values_list("integrator").annotate(Count("pk"), late=late):
        found[key] |= {"under_way": count, "late": overdue}
    return found


def _of_sellers(sellers: Any, *, at: datetime) -> Numbers:
    own = Order.objects.filter(seller__in=sellers, environment=Environment.LIVE).order_by()
    found: Numbers = defaultdict(dict)
    for key, count in own.filter(created_at__gte=clock.midnight(at)).values_list("seller").annotate(Count("pk")):
        found[key]["today"] = count
    recent = own.filter(created_at__gte=at - _RECENT, status__in=(OrderStatus.PENDING, OrderStatus.DELIVERY_FAILED))
    for key, status, count in recent.values_list("seller", "status").annotate(Count("pk")):
        found[key]["under_way" if status == OrderStatus.PENDING else "failed"] = count
    return found
