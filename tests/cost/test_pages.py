"""CPU time of every panel page and admin form with worst-case values in each parameter and field."""

from functools import partial
from urllib.parse import urlencode

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from config import limits
from delivery.actions.moves import MOVES
from panel.filters import DeliveryFilter, EventFilter
from panel.forms import RangeForm, UrlForm
from tests.access.rights_by_url import ROUTES
from tests.cost.cpu import assert_cheap
from tests.cost.test_requests import checked
from tests.cost.worst import texts
from tests.panel.conftest import address

PAGES = [route for route in ROUTES if route.startswith(("panel/", "account/", "language/"))]
AN_ACCOUNT = "panel/accounts/<uuid:account>/<environment:environment>/"
# CPU seconds. The slowest case, the first request of a process, needs a third of this.
SECONDS = 1
# Kinds of text that the fields of a page parse: numbers, ids, times and structured text.
KINDS = [
    "digits", "digits, then a letter", "numbers with dots", "spaces, then a letter", "commas", "moment, then spaces",
    "moments", "URN", "URL", "escaped quotes between spaces", "combining marks", "line ends",
]  # fmt: skip  # a list of names
# Parameters of every form and filter of the panel, and those that its views read directly.
TAKEN = sorted(
    {*DeliveryFilter.base_filters, *EventFilter.base_filters, *RangeForm.base_fields, *UrlForm.base_fields}
    | {name for move in MOVES.values() for name in move.fields}
    | {"before", "test", "version", "environment", "again_since", "again_until", "again_count", "enabled"}
    | {"end_previous", "next", "language", "ids", "preset", "route_status"}
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
        "Content-Type": "application/x-www-form-urlencoded",
    }


class TestAPageOfThePanel:
    @pytest.mark.parametrize("route", PAGES)
    def test_with_the_worst_of_every_parameter_is_cheap(self, route, world, person):
        headers = session_of(person("superuser"))
        path = address(route, world)
        short, long = texts(limits.LONGEST_URL // len(TAKEN) // QUOTED), texts(20_000)
        queries = {kind: urlencode(dict.fromkeys(TAKEN, short[kind])) for kind in KINDS}
        forms = {kind: urlencode(dict.fromkeys(TAKEN, long[kind])).encode() for kind in KINDS}

        assert_cheap(
            {f"query of {kind}": partial(checked, "GET", path, query=queries[kind], headers=headers) for kind in KINDS}
            | {f"form of {kind}": partial(checked, "POST", path, body=forms[kind], headers=headers) for kind in KINDS},
            seconds=SECONDS,
        )

    @pytest.mark.parametrize("page", ["deliveries/", "events/", "webhook/", "events/progress/"])
    @pytest.mark.parametrize("name", ["before", "test", "again_count", "q", "since"])
    def test_with_the_longest_parameter_is_cheap(self, page, name, world, person):
        headers = session_of(person("superuser"))
        path = address(f"{AN_ACCOUNT}{page}", world)
        worst = texts(limits.LONGEST_URL // QUOTED) | {"digits": "1" * (limits.LONGEST_URL - 500)}

        assert_cheap(
            {
                kind: partial(checked, "GET", path, query=urlencode(RANGE | {name: worst[kind]}), headers=headers)
                for kind in KINDS
            },
            seconds=SECONDS,
        )


class TestTheAdmin:
    @pytest.mark.parametrize("model", admin.site._registry, ids=lambda model: model._meta.label_lower)
    def test_with_the_worst_of_every_field_is_cheap(self, model, admin_user, rf):
        headers, request = session_of(admin_user), rf.get("/")
        request.user = admin_user
        model_admin = admin.site._registry[model]
        label = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        taken = model_admin.get_form(request).base_fields if model_admin.has_add_permission(request) else {}
        # A choice field checks its values against a set or by one query.
        names = [name for name, field in taken.items() if not hasattr(field, "choices")]
        search = texts(limits.LONGEST_URL // QUOTED) | {"escaped quotes between spaces": 'x" ' + '\\" ' * 500}
        long = texts(50_000)

        calls = {
            f"search for {kind}": partial(
                checked, "GET", reverse(f"{label}_changelist"), query=urlencode({"q": search[kind]}), headers=headers
            )
            for kind in KINDS
        }
        if names:
            calls |= {
                f"form of {kind}": partial(
                    checked,
                    "POST",
                    reverse(f"{label}_add"),
                    body=urlencode(dict.fromkeys(names, long[kind])).encode(),
                    headers=headers,
                )
                for kind in KINDS
            }
        assert_cheap(calls, seconds=SECONDS)
