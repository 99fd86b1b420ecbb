"""The admin in a browser: every list and a page of each kind, at both widths."""

import pytest
from django.contrib import admin
from django.db.models import F

from delivery.payload import Options, Place
from integration.models import FreightRate
from tests.factories import DROPOFFS, PICKUP, DeliveryFactory, DriverFactory, validated_payload
from tests.integration.factories import create_order, load_tariff

# Words of the lists' cells and headings that are written in more than one line, with what they are part of. An id or a
# URL without a place to break may be: such words are longer than 24 characters.
BROKEN_WORDS = """() => {
    const found = [];
    for (const cell of document.querySelectorAll("#result_list th, #result_list td, .tabular td, .tabular th")) {
        const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
        while (texts.nextNode()) {
            for (const word of texts.currentNode.data.matchAll(/[^\\s-]{2,24}(?![^\\s-])/g)) {
                const range = document.createRange();
                range.setStart(texts.currentNode, word.index);
                range.setEnd(texts.currentNode, word.index + word[0].length);
                const tops = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
                if (tops.size > 1) found.push(word[0]);
            }
        }
    }
    return found;
}"""

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def filled(shop, seller):
    load_tariff()
    FreightRate.objects.update(base_centavos=F("base_centavos") + 100)
    delivery = DeliveryFactory.create(
        token=shop, payload=_request(), collected=True, driver=DriverFactory.create(name="Ana", at_point=PICKUP)
    )
    return delivery, create_order(seller)


def _request():
    """A request with the names and addresses that people have."""
    homes = [("Maria Souza", "Alameda Santos", "1940"), ("João Pereira", "Rua Haddock Lobo", "595")]
    dropoffs = [
        Place(
            point=point, address={"street": street, "number": number, "city": "São Paulo", "state": "SP"},
            contact_name=name, contact_phone="+55 11 97777-0001", external_id=f"PEDIDO-{number}",
            options=Options(instructions="Portão azul.", needs_photo=True, has_pin=True),
        )
        for point, (name, street, number) in zip(DROPOFFS, homes, strict=False)
    ]  # fmt: skip  # short lines
    address = {"street": "Avenida Paulista", "number": "1578", "city": "São Paulo", "state": "SP"}
    pickup = Place(point=PICKUP, address=address, contact_name="Padaria Sol", contact_phone="+55 11 3333-0000")
    return validated_payload(pickup=pickup, dropoffs=dropoffs)


@pytest.mark.parametrize("locale", ["en-US", "pt-BR"])
def test_every_list_and_a_page_of_each_kind(tab, people, shop, seller, filled, locale):
    delivery, order = filled
    rate = FreightRate.objects.get(zone="local", service="economy")
    root = people("root", superuser=True)
    paths = {
        "index": "/admin/",
        **{
            f"{model._meta.model_name}": f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
            for model in admin.site._registry
        },
        "one-delivery": f"/admin/delivery/delivery/{delivery.pk}/change/",
        "one-event": f"/admin/delivery/webhookevent/{delivery.events.first().pk}/change/",
        "one-driver": f"/admin/delivery/driver/{delivery.driver_id}/change/",
        "one-integrator": f"/admin/delivery/integrator/{shop.integrator.pk}/change/",
        "one-order": f"/admin/integration/order/{order.pk}/change/",
        "one-rate": f"/admin/integration/freightrate/{rate.pk}/change/",
        "one-seller": f"/admin/integration/seller/{seller.pk}/change/",
        "new-token": "/admin/delivery/token/add/",
        "one-person": f"/admin/auth/user/{root.pk}/change/",
    }
    browser, problems = tab(locale), []
    browser.log_in("root")
    for name, path in paths.items():
        browser.go(path)
        browser.keep(f"admin-{name}-{locale}")
        for width in (1440, 390):
            browser.page.set_viewport_size({"width": width, "height": 900})
            problems += [f"{name} breaks {word} at {width}" for word in browser.page.evaluate(BROKEN_WORDS)]
        browser.page.set_viewport_size({"width": 1440, "height": 900})
        if locale == "pt-BR":  # the markup is the same in both languages, and axe-core takes longest
            problems += [f"{name}: {finding}" for finding in browser.findings(f"admin-{name}-{locale}")]

    assert problems == []
    assert browser.complaints == []
