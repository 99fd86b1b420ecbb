"""Every page of the admin: nothing inline, its policy, and as many questions for many rows as for few."""

import re

import pytest
from allauth.mfa.models import Authenticator
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import connection
from django.test import RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone
from stdnum.br import cnpj

from common.brazil.states import STATES
from common.webhooks import endpoints
from delivery.accounts import tokens
from delivery.models import DispatchRules
from integration.freight.models import FreightParameters
from integration.manifests import actions as manifests
from integration.models import CarrierRule, RefusedCarrierCall, WebhookEndpoint
from tests import service_hours
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory, TariffFactory, TokenFactory
from tests.integration.factories import (
    SellerFactory,
    create_order,
    key_of,
    load_tariff,
    make_carrier,
    nfe_xml,
    send_invoice,
)
from tests.panel.conftest import refused_call

OURS = ("delivery", "integration", "auth", "mfa")
MODELS = [model._meta.label_lower for model in admin.site._registry if model._meta.app_label in OURS]
ADDED_BY_HAND = [
    "delivery.driver", "delivery.driverposition", "delivery.integrator", "delivery.servicehours", "delivery.tariff",
    "delivery.token",
    "integration.apikey", "integration.carrier", "integration.carrierkey", "integration.carrierrule",
    "integration.company", "integration.freightrate", "integration.seller", "auth.user",
    "auth.group",
]  # fmt: skip  # a list of names
# What the content security policy would refuse: a style or script in the page, in an attribute or on an event.
INLINE = re.compile(r"<style|<script(?![^>]*\bsrc=)(?![^>]*application/json)|\sstyle=|\son[a-z]+=\"", re.IGNORECASE)


def url(label, page, *args):
    return reverse(f"admin:{label.replace('.', '_')}_{page}", args=args)


def directive(response, name):
    return dict(part.strip().partition(" ")[::2] for part in response["Content-Security-Policy"].split(";"))[name]


def fill(django_user_model, number):
    """At least one row more of everything."""
    token = TokenFactory.create()
    tokens.revoke(token=TokenFactory.create(integrator=token.integrator), by=BY, at=timezone.now())
    TariffFactory.create(integrator=token.integrator)
    service_hours.row("00:00-24:00", integrator=token.integrator).save()
    DeliveryFactory.create(token=token, collected=True, driver=DriverFactory.create(at_point=PICKUP))
    root = f"1122233300{number:02}"
    document = root + cnpj.calc_check_digits(root)
    seller = SellerFactory.create(documents=(document,))
    key_of(seller)
    endpoints.first(WebhookEndpoint, owner=seller.pk, environment="live")
    WebhookEndpoint.objects.update(url="https://shop.example/hook")  # orders have events
    order = create_order(seller, orderId=f"A-{number}", company_document=document)
    manifests.create(seller=seller, environment="live", orders=[order], by=BY, at=timezone.now())
    send_invoice(seller, nfe_xml(items=(f"A-{number}",)).encode())
    carrier, _key = make_carrier(f"Carrier {number}")
    CarrierRule.objects.create(carrier=carrier, state=sorted(STATES)[number])
    refused_call(RefusedCarrierCall, carrier=carrier)
    django_user_model.objects.create_user(f"person-{number}")


@pytest.fixture
def filled(admin_client, django_user_model):
    load_tariff()
    FreightParameters.objects.update(handling_days=1)  # a row of the history of prices
    DispatchRules.objects.get_or_create()
    fill(django_user_model, 1)
    enrolled = django_user_model.objects.create_user("enrolled")
    Authenticator.objects.create(user=enrolled, type=Authenticator.Type.TOTP, data={})
    return admin_client


def inline(browser, paths):
    """What each page has that its policy refuses."""
    pages = {path: browser.get(path, follow=True) for path in paths}  # a list of one leads to its row
    assert {path: page.status_code for path, page in pages.items()} == dict.fromkeys(pages, 200)
    return {path: found for path, page in pages.items() if (found := INLINE.findall(page.content.decode()))}


class TestEveryList:
    def test_makes_the_same_number_of_queries_for_any_number_of_rows(self, filled, django_user_model):
        def asked(label):
            with CaptureQueriesContext(connection) as queries:
                filled.get(url(label, "changelist"))
            return len(queries)

        labels = [label for label in MODELS if label not in {"mfa.authenticator", "auth.group"}]
        for label in labels:
            asked(label)
        few = {label: asked(label) for label in labels}
        for number in range(2, 5):
            fill(django_user_model, number)

        assert {label: asked(label) for label in labels} == few

    def test_searches_without_an_error(self, filled):
        found = {
            label: filled.get(url(label, "changelist"), {"q": "order-1"}, follow=True).status_code for label in MODELS
        }

        assert found == dict.fromkeys(MODELS, 200)


def test_every_action_of_a_list_asks_first(filled):
    """Whatever was chosen beside it is sent again with the confirmation."""
    request = RequestFactory().get("/")
    request.user = User.objects.get(username="admin")
    answers = {}
    for label in MODELS:
        model = apps.get_model(label)
        row = admin.site._registry[model].get_queryset(request)[0]
        for name in {*admin.site._registry[model].get_actions(request)} - {"delete_selected"}:
            sent = {"action": name, "_selected_action": [row.pk], "point": "B"}
            answers[label, name] = filled.post(url(label, "changelist"), sent).content.decode()

    assert [key for key, page in answers.items() if 'name="confirmed" value="yes"' not in page] == []
    assert '<input type="hidden" name="point" value="B">' in answers["delivery.delivery", "move_deliver"]
    assert len(answers) > 25


def test_no_page_has_anything_inline(filled):
    rows = {
        model._meta.label_lower: model._default_manager.values_list("pk", flat=True) for model in admin.site._registry
    }

    lists = [url(label, "changelist") for label in MODELS]
    forms = [url(label, "change", rows[label][0]) for label in MODELS]
    new = [url(label, "add") for label in ADDED_BY_HAND]
    assert inline(filled, ["/admin/", *lists, *forms, *new]) == {}


class TestPolicy:
    @pytest.mark.parametrize("path", ["/admin/", "/admin/delivery/delivery/", "/admin/integration/freightrate/import/"])
    def test_allows_eval_in_the_admin_and_nothing_inline(self, filled, path):
        response = filled.get(path)

        assert directive(response, "script-src") == "'self' 'unsafe-eval'"
        assert directive(response, "style-src") == "'self'"
        assert "unsafe-inline" not in response["Content-Security-Policy"]

    def test_allows_eval_nowhere_else(self, admin_client):
        assert "unsafe-eval" not in admin_client.get("/panel/")["Content-Security-Policy"]
