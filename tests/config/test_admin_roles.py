"""Every screen of the admin against every role: who sees its list, who may add, whose POST does nothing."""

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group, User
from django.test import Client
from django.urls import reverse

STAFF, DISPATCH = "Account staff", "Dispatchers"

# model: (who sees the list, who may add), beside superusers
SCREENS = {
    "auth.user": ({STAFF}, set()),
    "auth.group": (set(), set()),
    "mfa.authenticator": (set(), set()),
    "delivery.integrator": ({STAFF}, {STAFF}),
    "delivery.token": ({STAFF}, {STAFF}),
    "delivery.auditentry": ({STAFF}, set()),
    "delivery.webhookendpoint": ({STAFF}, set()),
    "delivery.webhookevent": ({STAFF, DISPATCH}, set()),
    "delivery.tariff": ({STAFF}, {STAFF}),
    "delivery.delivery": ({STAFF, DISPATCH}, set()),
    "delivery.transition": ({STAFF, DISPATCH}, set()),
    "delivery.driver": ({DISPATCH}, {DISPATCH}),
    "delivery.driverposition": ({DISPATCH}, {DISPATCH}),
    "integration.seller": ({STAFF}, {STAFF}),
    "integration.company": ({STAFF}, {STAFF}),
    "integration.apikey": ({STAFF}, {STAFF}),
    "integration.freightrate": ({STAFF}, {STAFF}),
    "integration.freightparameter": ({STAFF}, {STAFF}),
    "integration.order": ({STAFF, DISPATCH}, set()),
    "integration.invoice": ({STAFF}, set()),
}
MODELS = {model._meta.label_lower: model for model in admin.site._registry}
OUTSIDERS = ["anonymous", "member"]


@pytest.fixture
def browse(db):
    def as_role(role):
        browser = Client()
        if role != "anonymous":
            user = User.objects.create(username=role, is_staff=role not in OUTSIDERS)
            user.groups.set(Group.objects.filter(name=role))
            browser.force_login(user)
        return browser

    return as_role


def address(label, page):
    return reverse(f"admin:{label.replace('.', '_')}_{page}")


def test_every_screen_stands_in_the_table():
    assert set(MODELS) == set(SCREENS)


@pytest.mark.parametrize("role", [STAFF, DISPATCH])
@pytest.mark.parametrize("label", SCREENS)
def test_a_list_is_seen_by_those_it_is_for(label, role, browse):
    sees, _adds = SCREENS[label]

    assert browse(role).get(address(label, "changelist")).status_code == (200 if role in sees else 403)


@pytest.mark.parametrize("role", [STAFF, DISPATCH])
@pytest.mark.parametrize("label", SCREENS)
def test_a_row_is_added_by_those_who_may(label, role, browse):
    _sees, adds = SCREENS[label]
    browser, before = browse(role), MODELS[label].objects.count()

    assert browser.get(address(label, "add")).status_code == (200 if role in adds else 403)
    if role not in adds:
        assert browser.post(address(label, "add"), {}).status_code == 403
    assert MODELS[label].objects.count() == before


@pytest.mark.parametrize("role", OUTSIDERS)
@pytest.mark.parametrize("label", SCREENS)
def test_outsiders_see_and_add_nothing(label, role, browse):
    browser = browse(role)
    before = MODELS[label].objects.count()

    for response in (browser.get(address(label, "changelist")), browser.post(address(label, "add"), {})):
        assert response.status_code == 302
        assert response.url.startswith("/admin/login/")
    assert MODELS[label].objects.count() == before


def test_a_member_is_told_at_the_door(browse):
    assert browse("member").get("/admin/", follow=True).status_code == 403
