"""That `panel.pages` lists each page, and says of each who may open it as its view does."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.template.loader import get_template
from django.urls import URLResolver, get_resolver

from access.rights import accounts_of, sellers_of
from common.accounts import Role
from panel.pages import BY_NAME, PAGES, entry_of, pages_for
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

    @pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
    def test_have_a_place_and_a_name(self, page):
        assert page.name in ROUTES
        assert not page.within or page.within in BY_NAME
        assert not (page.within and page.menu)
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
        ("panel:webhook", "panel:webhook"),
        ("panel:token", "panel:tokens"),
        ("panel:token_rotate", "panel:tokens"),  # shows the page of its token with what is wrong
        ("panel:seller_event", "panel:seller_events"),
        ("panel:search", None),
        ("panel:updates", None),
    ],
)
def test_a_page_marks_its_entry(url_name, entry):
    assert entry_of(url_name) == BY_NAME.get(entry)
