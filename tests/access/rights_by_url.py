"""Which roles may request each URL: the reviewed table that `test_rights_by_url` compares with the URL resolver.

A row is a route with its answers to GET and to POST, one character for each role in the order of
`tests.panel.conftest.ROLES`: anonymous, nobody, stranger, member, account staff, dispatcher, superuser.

    +  answered: 2xx, a redirect that is not to a log-in, or 422 for a form that is not valid
    L  redirected to the log-in
    F  403
    N  404, also for objects that the role may not see
    M  405, for those who may see the page
    T  401: requires a token or key, sessions do not count
    G  410: a link that was never issued, or no longer works

Endpoints and the pages of an account or a seller have one rule each, so only the pages that differ have rows. The rows
of pages for which `panel.pages` names a permission, and of all pages of the whole service, are made from it.
"""

from collections.abc import Iterator

from django.urls import URLResolver, get_resolver
from django.views import View

from access.roles import codenames
from delivery.actions.moves import MOVES
from panel.guide import pages
from panel.pages import BY_NAME
from tests.endpoints import ENDPOINTS
from tests.panel.conftest import GROUPS, ROLES

Row = tuple[str, str]

ANYBODY = "+++++++"
API = ("TTTTTTT", "TTTTTTT")
_GUIDE: Row = (ANYBODY, "MMMMMMM")

_LOGGED_IN = "L++++++"
OWN = "LNN++N+"  # an account's or a seller's pages: its members and account staff
_DISPATCH = "LFFFF++"
_PANEL: dict[str, Row] = {
    "work/": (_LOGGED_IN, "LMMMMMM"),
    "deliveries/<uuid:delivery>/": ("LNN++++", "LMMMMMM"),
    "board/routes/": (_DISPATCH, "LFFFFMM"),
    "map/<str:version>.pmtiles": ("LNNNNNN", "LMMMMMM"),  # 404 without a file, see tests/panel/test_map_file.py
    "map/streets/": ("LFFFFFM", "LFFFFF+"),
    "postcodes/": (_LOGGED_IN, "LMMMMMM"),
    "streets/progress/": ("LFFFFF+", "LFFFFFM"),
    "board/updates/<environment:environment>/": (_DISPATCH, "LFFFFMM"),
    "board/cards/": ("LFFFF++", "LFFFFMM"),
    "board/positions/": (_DISPATCH, "LFFFFMM"),
    "board/search/": (_DISPATCH, "LFFFFMM"),
    "board/on-duty/": (_DISPATCH, "LFFFFMM"),
    "board/goods/<int:goods>/back/": ("LFFFFMM", _DISPATCH),
    "board/assign/": (_DISPATCH, "LFFFFMM"),
    "board/<uuid:delivery>/drivers/": (_DISPATCH, "LFFFFMM"),
    "board/<uuid:delivery>/way/": (_DISPATCH, "LFFFFMM"),
    "board/<uuid:delivery>/<str:move>/": (_DISPATCH, _DISPATCH),
    # Depot staff too: see `test_depot_staff_see_no_other_page`.
    "scan/sw.js": ("LFFF+++", "LFFFMMM"),
    "scan/state/": ("TFFF+++", "TFFFMMM"),
    "scan/movements/": ("TFFFMMM", "TFFF+++"),
    "drivers/<uuid:driver>/link/": ("LFFFFMM", _DISPATCH),
    "drivers/<uuid:driver>/phones/<uuid:device>/end/": ("LFFFFMM", _DISPATCH),
}
_SETUP = "LFFF+F+"  # account staff
_PANEL |= {
    "accounts/new/places/": (_SETUP, "LFFFMFM"),
    "reports/export/charges/": (_SETUP, "LFFFMFM"),
    "reports/export/days/": (_SETUP, "LFFFMFM"),
    "reports/export/drivers/": (_SETUP, "LFFFMFM"),
    "reports/export/reasons/": (_SETUP, "LFFFMFM"),
    "reports/export/accounts/": (_SETUP, "LFFFMFM"),
    "reports/export/earnings/": (_SETUP, "LFFFMFM"),
    "reports/sellers/export/sellers/": (_SETUP, "LFFFMFM"),
    "reports/sellers/export/reasons/": (_SETUP, "LFFFMFM"),
}
_READ: Row = (OWN, "LNNMMNM")
_WRITE: Row = ("LNNMMNM", OWN)
_BOTH: Row = (OWN, OWN)
# Pages of an account whose answers differ from those of `_pages`, then those of a seller.
_OF_AN_ACCOUNT: dict[str, Row] = {
    # Members and staff in the sandbox; the delivery of this table is live. See tests/panel/integrators/test_sandbox.py.
    "deliveries/<uuid:delivery>/sandbox/<str:move>/": ("LNNMMNM", "LNNNNNN"),
    "alerts/choose/": ("LNNMMNM", "LNN+NNN"),  # of the person's own membership
    "deliveries/upload/<uuid:draft>/advance/": ("LNNMMNM", "LNNNNNN"),  # of an upload that is over
    "deliveries/upload/<uuid:draft>/confirm/": ("LNNMMNM", "LNNNNNN"),
}
_OF_A_SELLER: dict[str, Row] = {
    "orders/<int:order>/carrier/": ("LNNMMNM", "LNNF+N+"),
    # Of a live order, as that of this table, by those who move it in the admin and see the seller.
    "orders/<int:order>/move/": ("LNNMMNM", "LNNF+N+"),
    "orders/import/<uuid:draft>/advance/": ("LNNMMNM", OWN),
    "orders/import/<uuid:draft>/confirm/": ("LNNMMNM", OWN),
    "invoices/<int:invoice>/": (OWN, "LNNNNNN"),  # the order of this table's POST does not exist
    "invoices/<int:invoice>/unlink/": ("LNNMMNM", OWN),
    "invoices/<int:invoice>/void/": ("LNNMMNM", "LNNF+N+"),
}


def _views(resolver: URLResolver, before: str = "") -> Iterator[tuple[str, str, type[View]]]:
    """The routes whose views are classes, with the names of the URLs and the classes."""
    for pattern in resolver.url_patterns:
        route = before + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _views(pattern, route)
        elif view := getattr(pattern.callback, "view_class", None):
            yield route, pattern.name or "", view


_HELD = {role: codenames(group) for role, group in GROUPS.items()}


def _of_permission(permission: str, view: type[View]) -> Row:
    """The answers of a page for those with a permission; without one for all who are logged in."""

    def may(role: str) -> bool:
        return not permission or role == "superuser" or tuple(permission.split(".")) in _HELD.get(role, ())

    answers = "L" + "".join("+" if may(role) else "F" for role in ROLES[1:])
    return answers, answers if hasattr(view, "post") else answers.replace("+", "M")


def _pages(prefix: str, others: dict[str, Row]) -> dict[str, Row]:
    """The rows of the pages below this prefix: those of `others`, else the answers to members and account staff.

    The prefix decides who may open a page, so a view that lets others in fails. Only the methods are the view's, and
    the permission is that of the list.
    """
    rows = {(True, False): _READ, (False, True): _WRITE, (True, True): _BOTH}

    def row(name: str, view: type[View]) -> Row:
        permission = BY_NAME[name].permission if name in BY_NAME else ""
        return _of_permission(permission, view) if permission else rows[hasattr(view, "get"), hasattr(view, "post")]

    views = (found for found in _views(get_resolver()) if found[0].startswith(prefix))
    return {route.removeprefix(prefix): row(f"panel:{name}", view) for route, name, view in views} | others


def _of_the_service() -> Iterator[tuple[str, Row]]:
    for route, name, view in _views(get_resolver("panel.urls")):
        page = BY_NAME.get(f"panel:{name}")
        if page and page.of is None:
            yield route, _of_permission(page.permission, view)


_PANEL |= dict(_of_the_service())


_ACCOUNT: dict[str, Row] = {
    "": (_LOGGED_IN, "LMMMMMM"),
    "login/": (ANYBODY, ANYBODY),
    "logout/": (ANYBODY, ANYBODY),
    "inactive/": (ANYBODY, "MMMMMMM"),
    "password/": (_LOGGED_IN, _LOGGED_IN),
    "password/forgotten/": (ANYBODY, ANYBODY),
    "password/forgotten/sent/": (ANYBODY, "MMMMMMM"),
    "password/reset/": (ANYBODY, "MMMMMMM"),
    "password/reset/done/": (ANYBODY, "MMMMMMM"),
    "password/reset/<str:uidb36>/<str:key>/": (ANYBODY, ANYBODY),  # without a valid link: a page that says so
    "invitation/": ("NNNNNNN", "NNNNNNN"),  # without a key; with one: tests/access/test_invitations.py
    "access/": ("GGGGGGG", "GGGGGGG"),  # without a key; with one: tests/access/test_access_links.py
    "sessions/": (_LOGGED_IN, _LOGGED_IN),
    "confirm/": (_LOGGED_IN, _LOGGED_IN),
    "two-factor/": (_LOGGED_IN, "LMMMMMM"),
    "two-factor/code/": (ANYBODY, ANYBODY),  # in the middle of a log-in, else leads elsewhere
    "two-factor/confirm/": (_LOGGED_IN, _LOGGED_IN),
    "two-factor/app/": (_LOGGED_IN, _LOGGED_IN),
    "two-factor/app/off/": ("LNNNNNN", "LNNNNNN"),
    "two-factor/recovery/": ("LNNNNNN", "LMMMMMM"),
    "two-factor/recovery/new/": (_LOGGED_IN, _LOGGED_IN),
}

# The admin: its outsiders are sent to its log-in, so a row has one character for account staff, dispatchers and
# superusers each.
OUTSIDE = "LLLL"
_STAFF, _STAFF_ONLY, _DISPATCHERS, _SUPERUSER, _ALL, _NONE = "+++", "+F+", "F++", "FF+", "+++", "FFF"

# model: who may look, add, change, delete.
SCREENS: dict[str, tuple[str, str, str, str]] = {
    "auth.user": (_STAFF_ONLY, _SUPERUSER, _SUPERUSER, _NONE),
    "auth.group": (_SUPERUSER, _SUPERUSER, _SUPERUSER, _SUPERUSER),
    "mfa.authenticator": (_SUPERUSER, _NONE, _NONE, _SUPERUSER),
    "mail.message": (_STAFF_ONLY, _NONE, _NONE, _NONE),
    "delivery.integrator": (_STAFF_ONLY, _STAFF_ONLY, _STAFF_ONLY, _NONE),
    "delivery.token": (_STAFF_ONLY, _STAFF_ONLY, _NONE, _NONE),
    "delivery.auditentry": (_STAFF_ONLY, _NONE, _NONE, _NONE),
    "delivery.webhookendpoint": (_STAFF_ONLY, _STAFF_ONLY, _STAFF_ONLY, _NONE),
    "delivery.webhookevent": (_ALL, _NONE, _NONE, _NONE),
    "integration.webhookendpoint": (_STAFF_ONLY, _STAFF_ONLY, _STAFF_ONLY, _NONE),
    "integration.webhookevent": (_ALL, _NONE, _NONE, _NONE),
    "delivery.tariff": (_STAFF_ONLY, _STAFF_ONLY, _STAFF_ONLY, _STAFF_ONLY),
    "delivery.servicehours": (_STAFF_ONLY, _STAFF_ONLY, _STAFF_ONLY, _STAFF_ONLY),
    "delivery.dispatchrules": (_ALL, _NONE, _SUPERUSER, _NONE),
    "delivery.delivery": (_ALL, _NONE, _NONE, _NONE),
    "delivery.transition": (_ALL, _NONE, _NONE, _NONE),
    "delivery.driver": (_DISPATCHERS, _DISPATCHERS, _DISPATCHERS, _NONE),
    "delivery.driverposition": (_DISPATCHERS, _DISPATCHERS, _NONE, _NONE),
    "integration.seller": (_STAFF_ONLY, _STAFF_ONLY, _STAFF_ONLY, _NONE),
    "integration.company": (_STAFF_ONLY, _STAFF_ONLY, _STAFF_ONLY, _SUPERUSER),
    "integration.apikey": (_STAFF_ONLY, _STAFF_ONLY, _NONE, _NONE),
    "integration.carrier": (_ALL, _STAFF_ONLY, _STAFF_ONLY, _NONE),
    "integration.carrierkey": (_STAFF_ONLY, _STAFF_ONLY, _NONE, _NONE),
    "integration.carrierrule": (_STAFF_ONLY, _STAFF_ONLY, _STAFF_ONLY, _STAFF_ONLY),
    "integration.refusedcarriercall": (_STAFF_ONLY, _NONE, _NONE, _NONE),
    "integration.freightrate": (_STAFF_ONLY, _STAFF_ONLY, _STAFF_ONLY, _STAFF_ONLY),
    "integration.freightparameters": (_STAFF_ONLY, _NONE, _STAFF_ONLY, _NONE),
    "integration.order": (_ALL, _NONE, _DISPATCHERS, _NONE),
    "integration.invoice": (_ALL, _NONE, _STAFF_ONLY, _NONE),
    "integration.manifest": (_ALL, _NONE, _NONE, _NONE),
}
# model: its list's actions, and who may run them.
ACTIONS: dict[str, dict[str, str]] = {
    "auth.user": {"end_sessions": _SUPERUSER},
    "auth.group": {"delete_selected": _SUPERUSER},
    "mfa.authenticator": {"delete_selected": _SUPERUSER},
    "delivery.integrator": {"suspend": _STAFF_ONLY, "lift_suspension": _STAFF_ONLY},
    "delivery.token": {"rotate": _STAFF_ONLY, "revoke": _STAFF_ONLY},
    "delivery.webhookendpoint": dict.fromkeys(
        ("send_test", "switch_on", "switch_off", "rotate_secret", "remove"), _STAFF_ONLY
    ),
    "integration.webhookendpoint": dict.fromkeys(
        ("send_test", "switch_on", "switch_off", "rotate_secret", "remove"), _STAFF_ONLY
    ),
    "delivery.webhookevent": {"replay": _STAFF_ONLY},
    "integration.webhookevent": {"replay": _STAFF_ONLY},
    "delivery.tariff": {"delete_selected": _STAFF_ONLY},
    "delivery.servicehours": {"delete_selected": _STAFF_ONLY},
    "delivery.delivery": dict.fromkeys((f"move_{name}" for name in MOVES), _DISPATCHERS),
    "delivery.driver": {"go_on_duty": _DISPATCHERS, "go_off_duty": _DISPATCHERS},
    "integration.seller": {"suspend": _STAFF_ONLY, "lift_suspension": _STAFF_ONLY},
    "integration.company": {"delete_selected": _SUPERUSER},
    "integration.apikey": {"revoke": _STAFF_ONLY},
    "integration.carrierkey": {"revoke": _STAFF_ONLY},
    "integration.carrierrule": {"delete_selected": _STAFF_ONLY},
    "integration.freightrate": {"delete_selected": _STAFF_ONLY},
    "integration.order": dict.fromkeys(
        (
            f"move_to_{status}"
            for status in (
                "collected", "in_transit", "out_for_delivery", "delivered", "delivery_failed", "returned", "cancelled",
            )
        ),
        _DISPATCHERS,
    ) | {"assign": _ALL},
}  # fmt: skip  # a table
_TARIFF: dict[str, Row] = {
    "import/": (_STAFF_ONLY, _STAFF_ONLY),
    "process_import/": ("MMM", _STAFF_ONLY),
    "template/": (_STAFF_ONLY, _STAFF_ONLY),
    "export/": (_STAFF_ONLY, _STAFF_ONLY),
}
_ADMIN: dict[str, Row] = {
    "": (_STAFF, _STAFF),
    "search/": (_STAFF, _STAFF),
    "password_change/": (_STAFF, _STAFF),  # leads to the account pages
    "autocomplete/": (_NONE, "MMM"),  # what may be looked up: `test_rights_by_url.test_autocomplete`
    "jsi18n/": (_STAFF, "MMM"),
    "auth/": ("+N+", "+N+"),
    "mfa/": ("NN+", "NN+"),
    "mail/": ("+N+", "+N+"),
    "delivery/": (_STAFF, _STAFF),
    "integration/": (_STAFF, _STAFF),
    "pghistory/": (_STAFF, _STAFF),
    "pghistory/events/": (_STAFF, _STAFF),  # the histories that the reader may see
    "(?P<url>.*)$": ("NNN", "NNN"),
    "auth/user/<id>/password/": (_SUPERUSER, _SUPERUSER),
    "auth/user/<int:user_id>/enrolment-code/": ("MMM", _SUPERUSER),
    "delivery/delivery/drivers/": (_DISPATCHERS, "MMM"),
    "delivery/delivery/<path:object_id>/move/<str:name>/": ("MMM", _DISPATCHERS),
    "delivery/delivery/<path:object_id>/goods-back/": ("MMM", _DISPATCHERS),
    "integration/invoice/<int:pk>/file/": (_ALL, _ALL),
    "integration/order/movements/": (_DISPATCHERS, _DISPATCHERS),
    "integration/order/movements/template/": (_DISPATCHERS, _DISPATCHERS),
    **{
        f"{table}/{name}": row
        for table in ("integration/freightrate", "delivery/tariff")
        for name, row in _TARIFF.items()
    },
}


def _screen(label: str, look: str, add: str, change: str, delete: str) -> dict[str, Row]:
    """The six routes that Django's admin gives each model."""
    screen = f"{label.replace('.', '/')}/"
    row = f"{screen}<path:object_id>/"
    return {
        screen: (look, look),
        f"{screen}add/": (add, add),
        f"{row}history/": (look, look),
        f"{row}change/": (look, change),
        f"{row}delete/": (delete, delete),
        row: (_STAFF, _STAFF),  # leads to change/, whether there is such a row or not
    }


for _label, _rights in SCREENS.items():
    _ADMIN.update(_screen(_label, *_rights))

# Of phones of drivers, whose sessions are no log-ins of people; see tests/driver_app.
_PHONE: Row = ("TTTTTTT", "TTTTTTT")
_DRIVER: dict[str, Row] = {
    "": (ANYBODY, "MMMMMMM"),
    "manifest.webmanifest": (ANYBODY, "MMMMMMM"),
    "sw.js": (ANYBODY, "MMMMMMM"),
    "in/<str:token>/": ("GGGGGGG", "GGGGGGG"),  # 410 without a link that was issued
    "out/": ("MMMMMMM", ANYBODY),
    "day/": (ANYBODY, "MMMMMMM"),  # leads to "" without a session
    **dict.fromkeys(
        (
            "state/", "duty/", "offers/<uuid:delivery>/accept/", "offers/<uuid:delivery>/decline/", "moves/",
            "photos/", "positions/", "push/",
            "updates/",
        ),
        _PHONE,
    ),
}  # fmt: skip  # a table

_IN_AN_ACCOUNT = "panel/accounts/<uuid:account>/<environment:environment>/"
_IN_A_SELLER = "panel/sellers/<int:seller>/<environment:environment>/"
OF_AN_ACCOUNT = _pages(_IN_AN_ACCOUNT, _OF_AN_ACCOUNT)
ROUTES: dict[str, Row] = {
    "": (ANYBODY, ANYBODY),
    "healthz": (ANYBODY, "MMMMMMM"),
    "readyz": (ANYBODY, "MMMMMMM"),
    "metrics": ("NNNNNNN", "MMMMMMM"),  # without METRICS_TOKEN
    "api": (ANYBODY, "MMMMMMM"),
    "api/": (ANYBODY, "MMMMMMM"),
    "api/openapi.json": (ANYBODY, "MMMMMMM"),
    "api/openapi.yaml": (ANYBODY, "MMMMMMM"),
    "api/postman.json": (ANYBODY, "MMMMMMM"),
    ".well-known/security.txt": ("NNNNNNN", "MMMMMMM"),  # there is none unless SECURITY_CONTACT is set
    "language/": (ANYBODY, ANYBODY),
    "docs/": _GUIDE,
    "docs/<str:page>": _GUIDE,
    "docs/<str:file>.md": _GUIDE,
    "docs/errors/<str:code>": _GUIDE,
    **{f"docs/{program}": _GUIDE for program in pages.PROGRAMS},
    "docs/reference": _GUIDE,
    "docs/search": _GUIDE,
    "llms.txt": (ANYBODY, "MMMMMMM"),
    **{endpoint.route: API for endpoint in ENDPOINTS},
    "api/photos/<str:signed>": ("NNNNNNN", "MMMMMMM"),  # 404 without a signature, see tests/delivery/api/test_photos.py
    "api/connections/<str:connection>": ("MMMMMMM", "TTTTTTT"),  # 401 without a signature
    "api/integration/connections/<str:connection>": ("MMMMMMM", "TTTTTTT"),  # the same
    **{f"account/{route}": row for route, row in _ACCOUNT.items()},
    **{f"panel/{route}": row for route, row in _PANEL.items()},
    **{f"{_IN_AN_ACCOUNT}{route}": row for route, row in OF_AN_ACCOUNT.items()},
    **{f"{_IN_A_SELLER}{route}": row for route, row in _pages(_IN_A_SELLER, _OF_A_SELLER).items()},
    **{f"admin/{route}": (OUTSIDE + get, OUTSIDE + post) for route, (get, post) in _ADMIN.items()},
    **{f"driver/{route}": row for route, row in _DRIVER.items()},
    # Of receivers, by the token of their link; see tests/tracking.
    "t/o/<path:token>": ("NNNNNNN", "NNNNNNN"),
    "t/<path:token>": ("NNNNNNN", "NNNNNNN"),
    "t/<str:token>/map/<str:version>.pmtiles": ("NNNNNNN", "NNNNNNN"),
    "admin/login/": ("LFFF+++", "LFFF+++"),
    "admin/logout/": ("++++MMM", ANYBODY),
}


def takes(method: str, route: str) -> bool:
    """Whether anything is behind the method: a superuser is not answered by 405."""
    return ROUTES[route][("GET", "POST").index(method)][-1] != "M"
