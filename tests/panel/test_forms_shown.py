"""Every form that a page of the panel shows may be sent by whoever sees it."""

from typing import Any
from urllib.parse import urljoin

import pytest
from django.contrib.auth.models import User
from django.db import transaction
from lxml.html import document_fromstring

from common.accounts import Role
from delivery.models import IntegratorMembership
from integration.models import SellerMembership
from tests.access.rights_by_url import ROUTES
from tests.panel.conftest import ROLES, address

PAGES = {route: get for route, (get, _post) in ROUTES.items() if route.startswith("panel/")}
# Owners and superusers may do everything that they see.
LIMITED = ["member", "account staff", "dispatcher"]


def targets(path: str, page: bytes) -> set[str]:
    """Where the forms and buttons of a page send to."""
    html = document_fromstring(b"<body>" + page)  # of a fragment too, which may be empty
    forms = [form.get("action") or path for form in html.iter("form") if form.get("method", "get").lower() == "post"]
    others = [each.get(name) for name in ("formaction", "hx-post") for each in html.iter() if each.get(name)]
    return {urljoin(path, each) for each in (*forms, *others)}


@pytest.mark.parametrize("role", LIMITED)
def test_whoever_sees_a_form_may_send_it(world: Any, as_role: Any, role: str) -> None:
    browser = as_role(role)
    IntegratorMembership.objects.filter(user__username=role).update(role=Role.MEMBER, may_request=False)
    SellerMembership.objects.filter(user__username=role).update(role=Role.MEMBER)
    refused: list[tuple[str, str, int]] = []
    sent: set[str] = set()

    for route in (each for each, get in PAGES.items() if get[ROLES.index(role)] == "+"):
        path = address(route, world)
        page = browser.get(path)
        if page.status_code != 200 or "text/html" not in page.headers["Content-Type"]:
            continue
        for target in targets(path, page.content) - sent:
            sent.add(target)
            savepoint = transaction.savepoint()
            answer = browser.post(target.partition("?")[0])
            transaction.savepoint_rollback(savepoint)
            browser.force_login(User.objects.get(username=role.replace(" ", "-")))  # after a form that logs out
            if answer.status_code in {403, 404, 405}:
                refused.append((route, target, answer.status_code))

    assert sent
    assert refused == []
