"""The pages of the panel: what each is called, who sees it, and where it stands in the menus.

The menu, which the admin has too, tabs, the pages that the search finds, the table of rights of the tests and the
browser's walk over the pages are made from this list. The views decide who may open a page; tests compare the two.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import TextChoices
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy
from django_stubs_ext import StrPromise

from access.rights import Account, has_choice
from delivery.models import Integrator
from integration.models import Seller

_DISPATCH = "delivery.dispatch_delivery"
_DOCUMENTATION = "documentation:first"
_SELLER = "panel:seller"  # the page of the keys; the names of all other URLs of sellers begin with it


class Menu(TextChoices):
    """A part of the menu, without headings: of an account or a seller, of the whole service, and of the own log-in."""

    OWN = "own"
    ALL = "all"
    LOG_IN = "log_in"


@dataclass(frozen=True)
class Page:
    """`name`: of its URL. `title`: what menus and the search call it; the search finds no page without one.

    `of`: what its address names besides the environment. `menu`: where its entry stands. The tabs of an entry are its
    page, with a tab for each of the `views` (a name, and the status that its list is filtered by), the pages that are a
    `tab_of` it, and the page `beside` them, which is of the whole service. A page of neither kind is reached from the
    page `within`, whose entry is the current one. `entry` and `tab`: what the menu and the tabs call it, if not by its
    title. `permission`: what people need to open it; `for_requesters`: for those who request deliveries of the account;
    `for_choice`: for those who choose among accounts (`access.rights.has_choice`); else for all. `keywords`: what the
    search finds it by too, and shows. `icon`: a file of templates/panel/icons, if it is not named as the page.
    """

    name: str
    title: StrPromise | str = ""
    of: type[Account] | None = None
    menu: Menu | None = None
    tab_of: str = ""
    within: str = ""
    entry: StrPromise | str = ""
    tab: StrPromise | str = ""
    views: tuple[tuple[StrPromise, str], ...] = ()
    beside: str = ""
    permission: str = ""
    for_requesters: bool = False
    for_choice: bool = False
    keywords: StrPromise | str = ""
    icon: str = ""

    @property
    def drawing(self) -> str:
        """The template of its icon."""
        return f"panel/icons/{self.icon or self.name.partition(':')[2].removeprefix('seller_')}.svg"

    def is_for(self, user: User | AnonymousUser, *, may_request: bool = False) -> bool:
        """Whether the user may open it; of a page of an account or a seller, among those who see the account or seller.

        `may_request`: whether the user requests deliveries of the account (`teams.may_request`).
        """
        if self.permission:
            return user.has_perm(self.permission)
        if self.for_requesters:
            return may_request
        return not self.for_choice or has_choice(user)

    def address(self, owner: Account | None = None, environment: str = "") -> str:
        """`owner`: the account or seller of the page, with the environment."""
        return reverse(self.name, args=[owner.pk, environment] if owner else [])


PAGES: tuple[Page, ...] = (
    # Of an account.
    Page("panel:overview", _("Overview"), Integrator, Menu.OWN),
    Page(
        "panel:deliveries",
        _("Deliveries"),
        Integrator,
        Menu.OWN,
        views=(
            (pgettext_lazy("deliveries", "All"), ""),
            (_("Under way"), "under-way"),
            (pgettext_lazy("deliveries", "Late"), "late"),
        ),
    ),
    Page(
        "panel:report_deliveries",
        _("Ended deliveries"),
        Integrator,
        tab_of="panel:deliveries",
        tab=_("Ended, with amounts"),
    ),
    Page("panel:delivery", of=Integrator, within="panel:deliveries"),
    Page(
        "panel:request",
        pgettext_lazy("page", "Request a delivery"),
        Integrator,
        within="panel:deliveries",
        for_requesters=True,
    ),
    Page("panel:upload", of=Integrator, within="panel:deliveries", for_requesters=True),
    Page("panel:upload_draft", of=Integrator, within="panel:deliveries", for_requesters=True),
    Page("panel:cancel", of=Integrator, within="panel:deliveries", for_requesters=True),
    Page("panel:receipt", of=Integrator, within="panel:deliveries"),
    Page("panel:stop", of=Integrator, within="panel:deliveries", for_requesters=True),
    Page("panel:drafts", _("Orders of the shop"), Integrator, Menu.OWN, for_requesters=True),
    Page("panel:draft", of=Integrator, within="panel:drafts", for_requesters=True),
    Page(
        "panel:connections",
        _("Connect a shop"),
        Integrator,
        tab_of="panel:drafts",
        for_requesters=True,
        keywords="WooCommerce, Shopify, Yampi",
    ),
    Page("panel:connection", of=Integrator, within="panel:connections", for_requesters=True),
    Page("panel:pickup_points", _("Pickup points"), Integrator, Menu.OWN, for_requesters=True),
    Page("panel:pickup_point", of=Integrator, within="panel:pickup_points", for_requesters=True),
    Page("panel:report", _("Report"), Integrator, Menu.OWN),
    Page(
        "panel:tokens",
        _("Tokens"),
        Integrator,
        Menu.OWN,
        entry=pgettext_lazy("menu", "Integration"),
        beside=_DOCUMENTATION,
    ),
    Page("panel:token", of=Integrator, within="panel:tokens"),
    Page("panel:refused_calls", _("Refused calls"), Integrator, tab_of="panel:tokens"),
    Page("panel:refused_call", of=Integrator, within="panel:refused_calls"),
    Page("panel:webhook", _("Webhook"), Integrator, tab_of="panel:tokens"),
    Page("panel:webhook_add", of=Integrator, within="panel:webhook", for_requesters=True),
    Page("panel:events", _("Events"), Integrator, tab_of="panel:tokens"),
    Page("panel:event", of=Integrator, within="panel:events"),
    Page("panel:team", _("Team"), Integrator, Menu.OWN, entry=_("Team and alerts")),
    Page("panel:alerts", _("Alerts"), Integrator, tab_of="panel:team"),
    Page("panel:activity", _("Activity"), Integrator, tab_of="panel:team"),
    Page("panel:setup_sheet", of=Integrator, within="panel:overview", permission="delivery.change_integrator"),
    # Of a seller.
    Page("panel:seller_orders", _("Orders"), Seller, Menu.OWN, icon="deliveries"),
    Page("panel:seller_order", of=Seller, within="panel:seller_orders"),
    Page("panel:seller_order_new", pgettext_lazy("page", "New order"), Seller, within="panel:seller_orders"),
    Page("panel:seller_order_correct", of=Seller, within="panel:seller_orders"),
    Page("panel:seller_import", pgettext_lazy("page", "Import orders"), Seller, within="panel:seller_orders"),
    Page("panel:seller_import_draft", of=Seller, within="panel:seller_orders"),
    Page("panel:seller_simulator", _("Freight simulator"), Seller, tab_of="panel:seller_orders"),
    Page("panel:seller_drafts", _("Orders of the shop"), Seller, Menu.OWN),
    Page("panel:seller_draft", of=Seller, within="panel:seller_drafts"),
    Page(
        "panel:seller_connections",
        _("Connect a shop"),
        Seller,
        tab_of="panel:seller_drafts",
        keywords="WooCommerce, Shopify, Yampi",
    ),
    Page("panel:seller_connection", of=Seller, within="panel:seller_connections"),
    Page("panel:seller_manifests", _("Manifests"), Seller, Menu.OWN),
    Page("panel:seller_manifest", of=Seller, within="panel:seller_manifests"),
    Page("panel:seller_invoices", _("Invoices"), Seller, Menu.OWN),
    Page("panel:seller_invoice", of=Seller, within="panel:seller_invoices"),
    Page("panel:seller_report", _("Report"), Seller, Menu.OWN),
    Page(
        _SELLER,
        _("API keys"),
        Seller,
        Menu.OWN,
        entry=pgettext_lazy("menu", "Integration"),
        beside=_DOCUMENTATION,
        icon="tokens",
    ),
    Page("panel:seller_refused_calls", _("Refused calls"), Seller, tab_of=_SELLER),
    Page("panel:seller_refused_call", of=Seller, within="panel:seller_refused_calls"),
    Page("panel:seller_webhook", _("Webhook"), Seller, tab_of=_SELLER),
    Page("panel:seller_webhook_add", of=Seller, within="panel:seller_webhook"),
    Page("panel:seller_events", _("Events"), Seller, tab_of=_SELLER),
    Page("panel:seller_event", of=Seller, within="panel:seller_events"),
    Page(
        "panel:seller_team",
        _("Team"),
        Seller,
        Menu.OWN,
        entry=_("Team and e-mails"),
        keywords=_("E-mails to receivers"),
    ),
    Page("panel:seller_sheet", of=Seller, within=_SELLER, permission="integration.change_seller"),
    # Of the whole service.
    Page("panel:board", _("Dispatch board"), menu=Menu.ALL, permission=_DISPATCH),
    Page("panel:drivers", _("Drivers"), menu=Menu.ALL, permission=_DISPATCH),
    Page("panel:driver", within="panel:drivers", permission=_DISPATCH),
    Page("panel:scan", pgettext_lazy("page", "Scan"), menu=Menu.ALL, permission="integration.scan_order"),
    Page("panel:home", _("Accounts"), menu=Menu.ALL, for_choice=True, icon="accounts"),
    Page("panel:setup_new", _("Add an account"), within="panel:home", permission="delivery.add_integrator"),
    Page("panel:seller_new", _("Add a seller"), within="panel:home", permission="integration.add_seller"),
    Page(
        "panel:all_alerts",
        _("Alerts"),
        tab_of="panel:home",
        permission="delivery.change_integrator",
        keywords=_("Alerts of all accounts"),
    ),
    Page("panel:personal_data", _("Personal data"), tab_of="panel:home", permission="access.add_personrequest"),
    Page("panel:streets", _("Streets on maps"), tab_of="panel:home", permission="delivery.change_dispatchrules"),
    Page(
        "panel:reports",
        _("Report of all accounts"),
        menu=Menu.ALL,
        entry=_("Reports"),
        tab=_("Accounts"),
        permission="delivery.change_integrator",
        icon="report",
    ),
    Page(
        "panel:seller_reports",
        _("Report of all sellers"),
        tab_of="panel:reports",
        tab=_("Sellers"),
        permission="integration.change_seller",
    ),
    Page("panel:search"),
    Page(_DOCUMENTATION, _("Documentation")),
    # Of the person's own log-in.
    Page(
        "account_own",
        _("My account"),
        menu=Menu.LOG_IN,
        tab=_("Language and colours"),
        keywords=_("Language and colours"),
        icon="security",
    ),
    Page("mfa_index", _("Two-step verification"), tab_of="account_own", keywords=_("Second factor, recovery codes")),
    Page("account_change_password", _("Password"), tab_of="account_own"),
    Page("usersessions_list", _("Sessions"), tab_of="account_own"),
    Page("mfa_activate_totp", within="mfa_index"),
    Page("mfa_deactivate_totp", within="mfa_index"),
    Page("mfa_view_recovery_codes", within="mfa_index"),
    Page("mfa_generate_recovery_codes", within="mfa_index"),
)
BY_NAME = {page.name: page for page in PAGES}


def pages_for(user: User | AnonymousUser, owner: Account | None = None, *, may_request: bool = False) -> Iterable[Page]:
    """The pages of an account or a seller, or those of neither, that the user may open. As `Page.is_for`."""
    kind = type(owner) if owner else None
    return (page for page in PAGES if page.of is kind and page.is_for(user, may_request=may_request))


@dataclass(frozen=True)
class Entry:
    """An entry of a menu: its `page`, and its `tabs`, see `tabs_of`. It leads to the first one."""

    page: Page
    tabs: tuple[Page, ...]

    @property
    def title(self) -> StrPromise | str:
        return self.page.entry or self.page.title

    def address(self, owner: Account | None = None, environment: str = "") -> str:
        """As `Page.address`."""
        return self.tabs[0].address(owner, environment)


def tabs_of(entry: Page, user: User | AnonymousUser, *, may_request: bool = False) -> tuple[Page, ...]:
    """The pages with a tab of this entry's page that the user may open. As `Page.is_for`."""
    found = (page for page in PAGES if entry.name in (page.name, page.tab_of))
    return tuple(page for page in found if page.is_for(user, may_request=may_request))


def entries_for(
    user: User | AnonymousUser, owner: Account | None = None, *, may_request: bool = False
) -> Iterator[Entry]:
    """The entries of the menu for the pages of an account or a seller, or for those of neither. As `Page.is_for`."""
    kind = type(owner) if owner else None
    for page in PAGES:
        if page.menu and page.of is kind and (tabs := tabs_of(page, user, may_request=may_request)):
            yield Entry(page, tabs)


@cache
def page_of(url_name: str) -> Page | None:
    """The page of a URL. That of no page, such as that of a form, is of the page whose name its own begins with."""
    if page := BY_NAME.get(url_name):
        return page
    owners = [page for page in PAGES if page.name != _SELLER and url_name.startswith(f"{page.name}_")]
    return max(owners, key=lambda owner: len(owner.name), default=None)


@cache
def entry_of(url_name: str) -> Page | None:
    """The page that is marked in the menu on the page of a URL."""
    page = page_of(url_name)
    while page and not page.menu:
        page = BY_NAME.get(page.tab_of or page.within)
    return page
