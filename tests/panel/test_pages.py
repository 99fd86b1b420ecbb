"""That `panel.pages` lists each page, and says of each who may open it as its view does."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.template.loader import get_template
from django.test.utils import CaptureQueriesContext
from django.urls import URLResolver, get_resolver, reverse

from access.rights import accounts_of, sellers_of
from common.accounts import Role
from panel.pages import BY_NAME, PAGES, entry_of, pages_for
from tests.cases import in_turn
from tests.panel.conftest import address


def routes(resolver: URLResolver, before: str = "", namespace: str = "") -> Iterator[tuple[str, str]]:
    """The names and routes of all URLs; of those with one name the shortest route last."""
    for pattern in resolver.url_patterns:
        route = f"{before}{pattern.pattern}"
        if isinstance(pattern, URLResolver):
            yield from routes(pattern, route, f"{pattern.namespace}:" if pattern.namespace else namespace)
        else:
            yield f"{namespace}{pattern.name}", route


ROUTES = dict(sorted(routes(get_resolver()), key=lambda found: -len(found[1])))


def is_page(response) -> bool:
    """Whether it is a whole page: neither a part of one, nor a file or a stream."""
    return response.status_code == 200 and not response.streaming and b"<html" in response.content


class TestPages:
    def test_are_all_in_the_list(self, world, as_role):
        browser = as_role("superuser")
        unlisted = {name: route for name, route in ROUTES.items() if route.startswith("panel/") and name not in BY_NAME}

        missing = [name for name, route in unlisted.items() if is_page(browser.get(address(route, world)))]

        assert not missing, (
            f"{missing}: add a Page to PAGES in panel/pages.py, with the part of the menu that it stands in, or with "
            "within=, the name of the page that leads to it"
        )

    @in_turn("page", PAGES)
    def test_have_a_place_and_a_name(self, page):
        assert page.name in ROUTES
        assert not page.within or page.within in BY_NAME
        assert not page.tab_of or BY_NAME[page.tab_of].menu
        assert sum(map(bool, (page.menu, page.tab_of, page.within))) <= 1
        assert not page.beside or page.beside in BY_NAME
        if page.menu:
            assert page.title
            get_template(page.drawing)

    @pytest.mark.parametrize("role", ["depot staff", "member"])
    def test_are_for_those_whom_their_views_answer(self, world, shop, as_role, role):
        """Of roles without a column in the table of rights, which is made from the list for all others."""
        browser, user = as_role(role), User.objects.get(username=role.replace(" ", "-"))
        shop.integrator.memberships.filter(user=user).update(role=Role.MEMBER, may_request=False)
        owners: list[Any] = [None, *accounts_of(user), *sellers_of(user)]
        listed = {page.name for owner in owners for page in pages_for(user, owner)}

        for name in (page.name for page in PAGES if page.name.startswith("panel:")):
            answer = browser.get(address(ROUTES[name], world)).status_code

            assert (answer == 200) == (name in listed), f"panel/pages.py and the view of {name} disagree: {answer}"


@pytest.mark.parametrize(
    ("url_name", "entry"),
    [
        ("panel:overview", "panel:overview"),
        ("panel:webhook", "panel:tokens"),
        ("panel:token", "panel:tokens"),
        ("panel:token_rotate", "panel:tokens"),  # shows the page of its token with what is wrong
        ("panel:seller_event", "panel:seller"),
        ("panel:team_invitation", "panel:team"),
        ("panel:seller_mails", None),  # only leads back
        ("panel:search", None),
        ("panel:updates", None),
    ],
)
def test_a_page_marks_its_entry(url_name, entry):
    assert entry_of(url_name) == BY_NAME.get(entry)


def entries_of(response) -> list[str]:
    """The texts of the menu's links, but for the two environments."""
    menu = response.content.decode().partition('<header class="side">')[2].partition("</header>")[0]
    lists = re.findall(r'<ul class="menu">.*?</ul>', menu, re.DOTALL)
    return [text.strip() for text in re.findall(r"</svg>([^<]*)</a>", "".join(lists))]


class TestMenu:
    @pytest.mark.parametrize(
        ("role", "page", "most"),
        [
            ("member", "panel:overview", 9), ("member", "panel:seller_orders", 9), ("dispatcher", "panel:drivers", 7),
            ("account staff", "panel:overview", 12), ("account staff", "panel:seller_orders", 12),
        ],
    )  # fmt: skip  # a table
    def test_is_short(self, world, as_role, role, page, most):
        found = entries_of(as_role(role).get(address(ROUTES[page], world)))

        assert {"Accounts", "My account"} <= {*found} if role != "dispatcher" else "Accounts" not in found
        assert len(found) == len({*found}) <= most, found

    def test_leads_members_of_one_account_to_no_choice(self, shop, as_role):
        browser = as_role("member")
        shop.seller.memberships.all().delete()
        overview = reverse("panel:overview", args=[shop.integrator.pk, "live"])

        assert "Accounts" not in entries_of(browser.get(overview))
        assert entries_of(browser.get(reverse("account_own"))) == entries_of(browser.get(overview))
        assert browser.get(reverse("panel:home"))["Location"] == overview

    def test_asks_for_the_accounts_and_sellers_of_the_reader_once(self, shop, as_role):
        browser = as_role("member")
        with CaptureQueriesContext(connection) as asked:
            browser.get(reverse("account_own"))

        own = [each["sql"] for each in asked if 'INNER JOIN "' in each["sql"] and "LIMIT 2" in each["sql"]]
        assert len(own) == len({*own}) == 2, own

    def test_leads_dispatchers_to_their_account_if_they_are_members(self, shop, as_role):
        browser, drivers = as_role("dispatcher"), reverse("panel:drivers")
        before = entries_of(browser.get(drivers)), browser.get(reverse("panel:home"))["Location"]
        shop.integrator.members.add(User.objects.get(username="dispatcher"))

        assert ("Accounts" in before[0], before[1]) == (False, reverse("panel:board"))
        assert "Accounts" in entries_of(browser.get(drivers))
        assert browser.get(reverse("panel:home")).status_code == 200


class TestTabs:
    @staticmethod
    def tabs(response) -> list[tuple[str, bool]]:
        found = re.findall(r'<nav class="choice tabs.*?</nav>', response.content.decode(), re.DOTALL)
        links = re.findall(r"<a (.*?)>(.*?)</a>", "".join(found), re.DOTALL)
        return [(text, "aria-current" in attributes) for attributes, text in links]

    def test_are_the_pages_of_an_entry_that_the_reader_may_open(self, member, url, shop):
        names = ["Tokens", "Refused calls", "Webhook", "Events", "Documentation"]

        assert self.tabs(member.get(url("events"))) == [(name, name == "Events") for name in names]
        assert self.tabs(member.get(url("overview"))) == self.tabs(member.get(url("token", shop.token.pk))) == []

    @pytest.mark.parametrize(("query", "current"), [("", "All"), ("?status=late", "Late"), ("?status=FAILED", None)])
    def test_are_views_of_the_list_of_deliveries(self, member, url, query, current):
        names = ["All", "Under way", "Late", "Ended, with amounts"]
        page = member.get(url("deliveries") + query)

        assert self.tabs(page) == [(name, name == current) for name in names]
        for text in ('hx-select-oob="#tabs,', '<nav class="choice tabs no-print" id="tabs"'):
            assert text in page.content.decode()

    def test_of_reports_are_those_of_accounts_and_sellers(self, staff):
        found = [self.tabs(staff.get(reverse(f"panel:{name}"))) for name in ("reports", "seller_reports")]

        assert found == [[("Accounts", True), ("Sellers", False)], [("Accounts", False), ("Sellers", True)]]
