"""CPU time of every panel page and admin form with worst-case values in each parameter and field."""

from functools import partial
from itertools import cycle
from urllib.parse import urlencode

import pytest
from django.contrib import admin
from django.test import Client
from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart
from django.urls import reverse

from config.server import limits
from delivery.actions.moves import MOVES
from panel.filters import DeliveryFilter, EventFilter
from panel.forms import RangeForm, UrlForm
from tests.access.rights_by_url import ROUTES, takes
from tests.cost.cpu import assert_cheap
from tests.cost.test_requests import checked
from tests.cost.worst import texts
from tests.panel.conftest import address

PAGES = [route for route in ROUTES if route.startswith(("panel/", "account/", "language/"))]
AN_ACCOUNT = "panel/accounts/<uuid:account>/<environment:environment>/"
# CPU seconds. The slowest case, the first request of a process, needs a third of this.
SECONDS = 1
PARTS = 4  # tests of a moderate length, which the workers of pytest-xdist share
# Kinds of text that the fields of a page parse: numbers, ids, times and structured text.
KINDS = [
    "digits", "digits, then a letter", "letters, then a mark", "numbers with dots", "spaces, then a letter", "commas",
    "moment, then spaces", "moments", "URN", "URL", "escaped quotes between spaces", "combining marks", "line ends",
]  # fmt: skip  # a list of names
# Those for which a pattern can take exponential time. A query that has every parameter has room for no others: 34
# characters for each. One of them for each page: pages have the parameters in common, and test_patterns.py tries each
# pattern with what is worst for it.
OF_A_QUERY = ["digits, then a letter", "letters, then a mark", "numbers with dots", "spaces, then a letter"]
# Parameters of every form and filter of the panel, and those that its views read directly.
TAKEN = sorted(
    {*DeliveryFilter.base_filters, *EventFilter.base_filters, *RangeForm.base_fields, *UrlForm.base_fields}
    | {name for move in MOVES.values() for name in move.fields}
    | {"before", "test", "version", "environment", "again_since", "again_until", "again_count", "enabled"}
    | {"end_previous", "next", "language", "ids", "route_status"}
)
# Percent-encoding makes a query's values longer, at most by this factor.
QUOTED = 6
RANGE = {"again_since": "2026-01-01T00:00:00+00:00", "again_until": "2026-01-02T00:00:00+00:00"}


def session_of(user):
    """Headers of a logged-in browser, with a valid CSRF token."""
    browser, token = Client(), "a" * 32
    browser.force_login(user)
    cookies = "; ".join(f"{name}={morsel.value}" for name, morsel in browser.cookies.items())
    return {
        "Cookie": f"{cookies}; csrftoken={token}",
        "X-CSRFToken": token,
        "Content-Type": MULTIPART_CONTENT,
    }


def form_of(names, text):
    """The text in each of these fields, as it is: decoding it from another form would take longer than most views."""
    return encode_multipart(BOUNDARY, dict.fromkeys(names, text))


def post_form(path, headers, names, text):
    checked("POST", path, body=form_of(names, text), headers=headers)


class TestAPageOfThePanel:
    @pytest.mark.parametrize("routes", [PAGES[part::PARTS] for part in range(PARTS)], ids=range(PARTS))
    def test_with_the_worst_of_every_parameter_is_cheap(self, routes, world, person):
        headers = session_of(person("superuser"))
        short, long = texts(limits.LONGEST_URL // len(TAKEN) // QUOTED), texts(20_000)
        queries = cycle([(kind, urlencode(dict.fromkeys(TAKEN, short[kind]))) for kind in OF_A_QUERY])
        forms = {kind: form_of(TAKEN, long[kind]) for kind in KINDS}
        calls: dict[str, partial[None]] = {}

        for route in routes:
            path = address(route, world)
            get, post = (partial(checked, method, path, headers=headers) for method in ("GET", "POST"))
            if takes("GET", route):
                calls |= {f"{route}: query of {kind}": partial(get, query=query) for kind, query in [next(queries)]}
            if takes("POST", route):
                calls |= {f"{route}: form of {kind}": partial(post, body=forms[kind]) for kind in KINDS}

        assert_cheap(calls, seconds=SECONDS)

    def test_with_the_worst_of_a_form_to_decode_is_cheap(self, person):
        headers = {**session_of(person("superuser")), "Content-Type": "application/x-www-form-urlencoded"}
        long = texts(20_000)
        forms = {kind: urlencode(dict.fromkeys(TAKEN, long[kind])).encode() for kind in KINDS}
        path = reverse("panel:seller_new")

        assert_cheap(
            {kind: partial(checked, "POST", path, body=form, headers=headers) for kind, form in forms.items()},
            seconds=SECONDS,
        )

    def test_with_the_longest_parameter_is_cheap(self, world, person):
        headers = session_of(person("superuser"))
        worst = texts(limits.LONGEST_URL // QUOTED) | {"digits": "1" * (limits.LONGEST_URL - 500)}
        queries = {
            f"{name}: {kind} of {len(text[kind])}": urlencode(RANGE | {name: text[kind]})
            for name in ("before", "test", "again_count", "q", "since")
            for text in (worst, *([texts(250)] if name == "q" else []))  # a search takes 255 characters
            for kind in KINDS
        }
        paths = [
            address(f"{AN_ACCOUNT}{page}", world) for page in ("deliveries/", "events/", "webhook/", "events/progress/")
        ]

        assert_cheap(
            {
                f"{path} {name}": partial(checked, "GET", path, query=query, headers=headers)
                for path in paths
                for name, query in queries.items()
            },
            seconds=SECONDS,
        )


class TestTheAdmin:
    def test_with_the_worst_of_every_field_is_cheap(self, admin_user, rf):
        headers, request = session_of(admin_user), rf.get("/")
        request.user = admin_user
        search = texts(limits.LONGEST_URL // QUOTED) | {"escaped quotes between spaces": 'x" ' + '\\" ' * 500}
        queries = {kind: urlencode({"q": search[kind]}) for kind in KINDS}
        long = texts(50_000)
        calls: dict[str, partial[None]] = {}
        searched = set()  # what reads a search: only the columns differ, and PostgreSQL compares them

        for model, model_admin in admin.site._registry.items():
            label = f"admin:{model._meta.app_label}_{model._meta.model_name}"
            page = partial(checked, "GET", reverse(f"{label}_changelist"), headers=headers)
            reader = (type(model_admin).get_search_results, bool(model_admin.search_fields))
            if reader not in searched:
                calls |= {f"{label}: search for {kind}": partial(page, query=queries[kind]) for kind in KINDS}
                searched.add(reader)
            taken = model_admin.get_form(request).base_fields if model_admin.has_add_permission(request) else {}
            # A choice field checks its values against a set or by one query.
            names = [name for name, field in taken.items() if not hasattr(field, "choices")]
            if names:
                form = partial(post_form, reverse(f"{label}_add"), headers, names)
                calls |= {f"{label}: form of {kind}": partial(form, long[kind]) for kind in KINDS}

        assert_cheap(calls, seconds=SECONDS)
