"""Every URL of the resolver with every role, and the actions within pages that only some roles may use."""

import re
from contextlib import contextmanager, nullcontext
from functools import cache
from http.cookies import SimpleCookie
from itertools import groupby

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.template.base import Template
from django.test import Client, RequestFactory
from django.urls import get_resolver
from psycopg import sql

from tests.access.rights_by_url import ACTIONS, OUTSIDE, ROUTES, SCREENS
from tests.panel.conftest import ROLES, address

STAFF = ROLES[4:]
MODELS = {model._meta.label_lower: model for model in admin.site._registry}
CODES = {401: "T", 403: "F", 404: "N", 405: "M", 410: "G"}
# Forms that need more than nothing to be answered.
SENT = {
    ("GET", "events/progress/"): {
        "again_since": "2026-01-01T00:00:00+00:00", "again_until": "2026-01-02T00:00:00+00:00", "again_count": "1",
    },
    ("POST", "delete/"): {"post": "yes"},
}  # fmt: skip  # a table
# Each takes a long part of a minute, and the workers of pytest-xdist share them. A test makes a world of its own.
_LARGE = ("admin/delivery/", "admin/integration/", "panel/accounts/", "panel/sellers/")
# Tables that any request may write to.
# Attempts: the tries of log-in links are counted before a link is looked up.
_UNWATCHED = {"django_session", "cache", "django_content_type", "django_migrations", "common_attemptcount"}


def routes(resolver, prefix=""):
    """Every route below a resolver, as one string; one that names several apps once for each."""
    for pattern in resolver.url_patterns:
        route = prefix + str(pattern.pattern)
        if hasattr(pattern, "url_patterns"):
            yield from routes(pattern, route)
        elif names := re.search(r"\^\(\?P<app_label>([\w|]+)\)/\$$", route):
            yield from (f"{prefix}{label}/" for label in names[1].split("|"))
        else:
            yield route


def group(route):
    """The routes that one test asks for: those of an app; of the two large ones those below one name."""
    parts = route.split("/")
    return "/".join(parts[:2]) if route.startswith(_LARGE) else parts[0]


GROUPS = {name: list(found) for name, found in groupby(sorted(ROUTES, key=group), key=group)}


@pytest.fixture
def sessions(as_role):
    """The session of each role, as the text of a cookie."""
    return {role: as_role(role).cookies.output(attrs=[], header="") for role in ROLES}


@pytest.fixture(scope="module")
def browser():
    """One for all roles: making a client costs more than asking with it."""
    return Client()


def ask(browser, session, method, path, data):
    browser.cookies = SimpleCookie(session)
    return getattr(browser, method.lower())(path, data)


def ask_route(browser, session, method, route, world):
    sent = next((data for (verb, end), data in SENT.items() if verb == method and route.endswith(end)), {})
    return code(ask(browser, session, method, address(route, world), sent))


def code(response):
    if "/login/?next=" in response.headers.get("Location", ""):
        return "L"
    return "+" if response.status_code in {200, 204, 302, 422} else CODES[response.status_code]


@cache
def digests():
    """The query of a digest of every table except those that any request may write to."""
    digest = sql.SQL("SELECT {}, md5(string_agg(t::text, ',' ORDER BY t::text)) FROM {} t")
    tables = sorted(set(connection.introspection.table_names()) - _UNWATCHED)
    return sql.SQL(" UNION ALL ").join(digest.format(name, sql.Identifier(name)) for name in tables)


def state():
    with connection.cursor() as cursor:
        cursor.execute(digests())
        return dict(cursor.fetchall())


@contextmanager
def nothing_rendered():
    """Answer with empty pages: what a refusal or a form with mistakes shows is the same for every role."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Template, "_render", lambda _template, _context: "")
        yield


def test_every_url_is_in_the_table():
    assert sorted(routes(get_resolver())) == sorted(ROUTES)


def test_depot_staff_see_no_other_page(world, browser, as_role):
    """They are answered as somebody without any right, but for the page Scan."""
    session = as_role("depot staff").cookies.output(attrs=[], header="")
    pages = [route for route in ROUTES if route.startswith(("panel/", "admin/"))]

    with nothing_rendered():
        found = {route: ask_route(browser, session, "GET", route, world) for route in pages}

    nobody = ROLES.index("nobody")
    differing = {route for route in pages if found[route] != ROUTES[route][0][nobody]}
    assert differing == {"panel/scan/", "panel/scan/sw.js", "panel/scan/state/", "panel/scan/movements/"}


@pytest.mark.timeout(300)  # the panel has hundreds of pages for each role
@pytest.mark.parametrize("name", GROUPS)
def test_urls(name, world, browser, sessions):
    expected = {
        (method, route): dict(zip(ROLES, row, strict=True))
        for route in GROUPS[name]
        for method, row in zip(("GET", "POST"), ROUTES[route], strict=True)
    }
    found = {call: dict(row) for call, row in expected.items()}
    every = [(*call, role) for call, row in expected.items() for role in row]
    before = state()

    with nothing_rendered():
        for method, route, role in every:
            if expected[method, route][role] != "+":
                found[method, route][role] = ask_route(browser, sessions[role], method, route, world)
    assert state() == before, "a refused call changed something"
    for method, route, role in every:
        if expected[method, route][role] == "+":
            allowed = [each for each, answer in expected[method, route].items() if answer == "+"]
            # No `atomic` block of the test's own: within one a durable block of production code is refused.
            savepoint = transaction.savepoint()
            # A page differs most between the role with the least rights and that with all of them.
            is_shown = method == "GET" and role in {allowed[0], allowed[-1]}
            with nullcontext() if is_shown else nothing_rendered():
                found[method, route][role] = ask_route(browser, sessions[role], method, route, world)
            transaction.savepoint_rollback(savepoint)

    assert found == expected


def person_asking(role):
    request = RequestFactory().get("/")
    request.user = User.objects.get(username=role.replace(" ", "-"))
    return request


@pytest.mark.timeout(300)  # every action with each role
def test_actions_of_lists(world, browser, sessions):
    people, found, before = {role: person_asking(role) for role in STAFF}, {}, state()
    for label in SCREENS:
        screen = admin.site.get_model_admin(MODELS[label])
        offered = {role: set(screen.get_actions(people[role])) for role in STAFF}
        names = set().union(*offered.values())
        found[label] = {name: "".join("+" if name in offered[role] else "F" for role in STAFF) for name in names}

    assert found == {label: ACTIONS.get(label, {}) for label in SCREENS}

    for label, actions in found.items():
        path = address(f"admin/{label.replace('.', '/')}/", world)
        chosen = MODELS[label]._default_manager.values_list("pk", flat=True).first()
        for name, allowed in actions.items():
            sent = {"action": name, "_selected_action": [chosen], "post": "yes", "confirmed": "yes"}
            with nothing_rendered():
                for role in (*ROLES[:4], *(role for role, answer in zip(STAFF, allowed, strict=True) if answer == "F")):
                    ask(browser, sessions[role], "POST", path, sent)
        assert state() == before, f"an action of {label} changed something although it was refused"


def looked_up(label):
    """The fields of a model that refer to one of the admin's that can be searched, each with that model."""
    model = MODELS[label]
    for field in (*model._meta.fields, *model._meta.many_to_many):
        target = field.related_model._meta.label_lower if field.related_model else None
        if target in MODELS and admin.site.get_model_admin(MODELS[target]).search_fields:
            yield label, field.name, target


def test_autocomplete(world, browser, sessions):
    expected = {
        (label, field): OUTSIDE + SCREENS[target][0] for name in SCREENS for label, field, target in looked_up(name)
    }

    found = {}
    for label, field in expected:
        app, model = label.split(".")
        data = {"term": "", "app_label": app, "model_name": model, "field_name": field}
        codes = [code(ask(browser, sessions[role], "GET", "/admin/autocomplete/", data)) for role in ROLES]
        found[label, field] = "".join(codes)

    assert found == expected
