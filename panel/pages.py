"""The pages of the panel: what each is called, who sees it, and where it stands in the menus.

The menus of the panel and of the admin, the pages that the search finds, the table of rights of the tests and the
browser's walk over the pages are made from this list. The views decide who may open a page; tests compare the two.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import TextChoices
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy
from django_stubs_ext import StrPromise

from access.rights import Account, is_of_depot
from delivery.models import Integrator
from integration.models import Seller

_DISPATCH = "delivery.dispatch_delivery"


class Menu(TextChoices):
    """A part of the menu, with its heading. The first three are of an account or a seller."""

    OPERATIONS = "operations", pgettext_lazy("menu", "Operations")
    INTEGRATION = "integration", pgettext_lazy("menu", "Integration")
    ACCOUNT = "account", _("Account")
    ALL = "all", pgettext_lazy("menu", "All accounts")
    # On the pages of an account or a seller they are unfolded first.
    MORE = "more", pgettext_lazy("menu", "More")
    LOG_IN = "log_in", _("Your log-in")


@dataclass(frozen=True)
class Page:
    """`name`: of its URL. `title`: what menus and the search call it; the search finds no page without one.

    `of`: what its address names besides the environment. `menu`: where it stands; None for a page that is reached from
    the page `within`, whose entry is the current one. `permission`: what people need to open it; `for_requesters`: for
    those who request deliveries of the account; else for all, for those of the depot as `for_depot` says. `keywords`:
    what the search finds it by too, and shows. `icon`: a file of templates/panel/icons, if it is not named as the page.
    """

    name: str
    title: StrPromise | str = ""
    of: type[Account] | None = None
    menu: Menu | None = None
    within: str = ""
    permission: str = ""
    for_requesters: bool = False
    for_depot: bool = True
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
        return self.for_depot or not is_of_depot(user)

    def address(self, owner: Account | None = None, environment: str = "") -> str:
        """`owner`: the account or seller of the page, with the environment."""
        return reverse(self.name, args=[owner.pk, environment] if owner else [])


PAGES: tuple[Page, ...] = (
    # Of an account.
    Page("panel:overview", _("Overview"), Integrator, Menu.OPERATIONS),
    Page("panel:deliveries", _("Deliveries"), Integrator, Menu.OPERATIONS),
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
    Page("panel:pickup_points", _("Pickup points"), Integrator, Menu.OPERATIONS, for_requesters=True),
    Page("panel:pickup_point", of=Integrator, within="panel:pickup_points", for_requesters=True),
    Page("panel:drafts", _("Orders of the shop"), Integrator, Menu.OPERATIONS, for_requesters=True),
    Page("panel:draft", of=Integrator, within="panel:drafts", for_requesters=True),
    Page("panel:report", _("Report"), Integrator, Menu.OPERATIONS),
    Page("panel:report_deliveries", of=Integrator, within="panel:report"),
    Page("panel:events", _("Events"), Integrator, Menu.INTEGRATION),
    Page("panel:event", of=Integrator, within="panel:events"),
    Page("panel:webhook", _("Webhook"), Integrator, Menu.INTEGRATION),
    Page("panel:webhook_add", of=Integrator, within="panel:webhook", for_requesters=True),
    Page("panel:tokens", _("Tokens"), Integrator, Menu.INTEGRATION),
    Page("panel:token", of=Integrator, within="panel:tokens"),
    Page(
        "panel:connections",
        _("Connect a shop"),
        Integrator,
        Menu.INTEGRATION,
        for_requesters=True,
        keywords="WooCommerce, Shopify, Yampi",
    ),
    Page("panel:connection", of=Integrator, within="panel:connections", for_requesters=True),
    Page("panel:refused_calls", _("Refused calls"), Integrator, Menu.INTEGRATION),
    Page("panel:refused_call", of=Integrator, within="panel:refused_calls"),
    Page("panel:alerts", _("Alerts"), Integrator, Menu.ACCOUNT),
    Page("panel:team", _("Team"), Integrator, Menu.ACCOUNT),
    Page("panel:activity", _("Activity"), Integrator, Menu.ACCOUNT),
    Page("panel:setup_sheet", of=Integrator, within="panel:overview", permission="delivery.change_integrator"),
    # Of a seller.
    Page("panel:seller_orders", _("Orders"), Seller, Menu.OPERATIONS, icon="deliveries"),
    Page("panel:seller_order", of=Seller, within="panel:seller_orders"),
    Page("panel:seller_order_new", pgettext_lazy("page", "New order"), Seller, within="panel:seller_orders"),
    Page("panel:seller_order_correct", of=Seller, within="panel:seller_orders"),
    Page("panel:seller_import", pgettext_lazy("page", "Import orders"), Seller, within="panel:seller_orders"),
    Page("panel:seller_import_draft", of=Seller, within="panel:seller_orders"),
    Page("panel:seller_drafts", _("Orders of the shop"), Seller, Menu.OPERATIONS, icon="drafts"),
    Page("panel:seller_draft", of=Seller, within="panel:seller_drafts"),
    Page("panel:seller_manifests", _("Manifests"), Seller, Menu.OPERATIONS),
    Page("panel:seller_manifest", of=Seller, within="panel:seller_manifests"),
    Page("panel:seller_invoices", _("Invoices"), Seller, Menu.OPERATIONS),
    Page("panel:seller_invoice", of=Seller, within="panel:seller_invoices"),
    Page("panel:seller_report", _("Report"), Seller, Menu.OPERATIONS),
    Page("panel:seller_simulator", _("Freight simulator"), Seller, Menu.OPERATIONS),
    Page("panel:seller", _("API keys"), Seller, Menu.INTEGRATION, icon="tokens"),
    Page("panel:seller_events", _("Events"), Seller, Menu.INTEGRATION),
    Page("panel:seller_event", of=Seller, within="panel:seller_events"),
    Page("panel:seller_webhook", _("Webhook"), Seller, Menu.INTEGRATION),
    Page("panel:seller_webhook_add", of=Seller, within="panel:seller_webhook"),
    Page(
        "panel:seller_connections",
        _("Connect a shop"),
        Seller,
        Menu.INTEGRATION,
        icon="connections",
        keywords="WooCommerce, Shopify, Yampi",
    ),
    Page("panel:seller_connection", of=Seller, within="panel:seller_connections"),
    Page("panel:seller_refused_calls", _("Refused calls"), Seller, Menu.INTEGRATION),
    Page("panel:seller_refused_call", of=Seller, within="panel:seller_refused_calls"),
    Page("panel:seller_team", _("Team"), Seller, Menu.ACCOUNT),
    Page("panel:seller_settings", _("Settings"), Seller, Menu.ACCOUNT),
    Page("panel:seller_sheet", of=Seller, within="panel:seller", permission="integration.change_seller"),
    # Of the whole service.
    Page("panel:board", _("Dispatch board"), menu=Menu.ALL, permission=_DISPATCH),
    Page("panel:drivers", _("Drivers"), menu=Menu.ALL, permission=_DISPATCH),
    Page("panel:driver", within="panel:drivers", permission=_DISPATCH),
    Page("panel:scan", pgettext_lazy("page", "Scan"), menu=Menu.ALL, permission="integration.scan_order"),
    Page("panel:home", _("Accounts"), menu=Menu.ALL, for_depot=False, icon="accounts"),
    Page("panel:setup_new", _("Bring in an integrator"), within="panel:home", permission="delivery.add_integrator"),
    Page("panel:seller_new", _("Bring in a seller"), within="panel:home", permission="integration.add_seller"),
    Page(
        "panel:all_alerts",
        _("Alerts"),
        menu=Menu.ALL,
        permission="delivery.change_integrator",
        keywords=_("Alerts of all accounts"),
        icon="alerts",
    ),
    Page(
        "panel:reports",
        _("Report of all accounts"),
        menu=Menu.MORE,
        permission="delivery.change_integrator",
        icon="report",
    ),
    Page(
        "panel:seller_reports",
        _("Report of all sellers"),
        menu=Menu.MORE,
        permission="integration.change_seller",
        icon="report",
    ),
    Page("panel:personal_data", _("Personal data"), menu=Menu.MORE, permission="access.add_personrequest"),
    Page("panel:streets", _("Streets on maps"), menu=Menu.MORE, permission="delivery.change_dispatchrules"),
    Page("panel:search"),
    Page("documentation:first", _("Documentation")),
    # Of the person's own log-in.
    Page(
        "mfa_index",
        _("Log-in security"),
        menu=Menu.LOG_IN,
        keywords=_("Second factor, recovery codes"),
        icon="security",
    ),
    Page("account_change_password", _("Password"), within="mfa_index"),
    Page("usersessions_list", _("Sessions"), within="mfa_index"),
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


@cache
def entry_of(url_name: str) -> Page | None:
    """The page that is marked in the menu on the page of a URL.

    A URL of no page, such as that of a form, belongs to the page whose name is the beginning of its own.
    """
    owners = [page for page in PAGES if url_name == page.name or url_name.startswith(f"{page.name}_")]
    page = max(owners, key=lambda owner: len(owner.name), default=None)
    while page and not page.menu:
        page = BY_NAME.get(page.within)
    return page
