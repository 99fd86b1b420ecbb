"""What lists of the admin weigh with as many rows as a page has, uncompressed."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.admin import site
from django.contrib.staticfiles import finders
from django.urls import reverse
from django.utils import timezone

from delivery.actions import deliveries, drivers
from tests.factories import BY, PICKUP, DeliveryFactory, DriverFactory, TokenFactory
from tests.integration.factories import SellerFactory, create_order, load_tariff

_ROWS = 50  # of a page
_MOST_BYTES = 150_000


@pytest.fixture
def busy(db):
    """A page's rows of what a busy day makes: deliveries of two points, most of them held, their events and orders."""
    load_tariff()
    now = timezone.now()
    token = TokenFactory.create(integrator__name="Farmácia São João da Vila Mariana")
    for number in range(_ROWS):
        held = DriverFactory.create(name=f"Maria Aparecida da Conceição {number}", at_point=PICKUP)
        delivery = DeliveryFactory.create(token=token, stops=2, accepted=True, driver=held, at=now)
        if number % 2:
            drivers.set_position(driver=held, point=PICKUP, by=BY, at=now + timedelta(seconds=1))
            deliveries.collect(delivery=delivery, by=BY, at=now)
    seller = SellerFactory.create(name="Comércio de Utilidades Domésticas Ltda")
    for number in range(_ROWS):
        create_order(seller, orderId=f"2026-{number:09}")


def test_no_list_weighs_more_than_150_kilobytes(busy, admin_client):
    answers = {
        model._meta.label: admin_client.get(
            reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist"),
            headers={"Accept-Language": "pt-BR"},
        )
        for model in site._registry
    }

    assert len(answers["delivery.Delivery"].context["cl"].result_list) == _ROWS
    weights = {label: len(answer.content) for label, answer in answers.items()}
    assert {label: weight for label, weight in weights.items() if weight > _MOST_BYTES} == {}


def test_a_list_loads_no_script_that_nothing_uses(admin_client):
    page = admin_client.get(reverse("admin:delivery_delivery_changelist")).content.decode()
    scripts = [
        Path(str(finders.find(path))) for path in re.findall(r'src="/static/([^"]+)"', page) if path.endswith(".js")
    ]

    assert {path.name for path in scripts}.isdisjoint({"urlify.js", "prepopulate.js", "xregexp.min.js"})
    assert {path.name for path in scripts if path.stat().st_size > 60_000} == {"jquery.min.js", "select2.full.min.js"}
    assert all(not site._registry[model].prepopulated_fields for model in site._registry)
