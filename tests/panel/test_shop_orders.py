"""Correcting an order of a shop, in both areas: what a person typed is not lost when it is refused."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from common.shops.models import ShopDraft
from delivery.connections import drafts
from delivery.connections.models import Draft as DeliveryDraft
from integration.connections.models import Draft as SellerDraft
from panel.shop_pages import CHANGED
from tests.delivery.connections import shops
from tests.delivery.connections.shops import WITHOUT_NUMBER, order, post
from tests.integration.connections import shops as seller_shops
from tests.integration.factories import load_tariff
from tests.panel.sellers import pages
from tests.panel.sent_forms import filled, form_of


@dataclass(frozen=True)
class Area:
    """`page`: of a draft; `form`: before the names of the fields of the address; `save`: what the button sends."""

    drafts: type[ShopDraft]
    connection: Any
    page: Callable[[ShopDraft], str]
    form: str
    save: dict[str, str]

    def received(self) -> Any:
        """A draft whose number of the house is missing."""
        post(self.connection, order(7, **WITHOUT_NUMBER))
        drafts.check_due()
        return self.draft()

    def changed(self, **shipping: str) -> None:
        """The shop tells it again with another address."""
        post(self.connection, order(7, **WITHOUT_NUMBER | {"shipping": {"number": "", **shipping}}))

    def draft(self) -> Any:
        return self.drafts._default_manager.get()

    def typed(self, **values: str) -> dict[str, str]:
        return {f"{self.form}-{name}": value for name, value in values.items()}


@pytest.fixture(params=["deliveries", "orders"])
def area(request, shop, seller, url, settings, geocoder):
    settings.GEOCODER_URL = geocoder.url  # it finds Rua Augusta 500
    load_tariff()
    seller.companies.update(postcode="01310100")
    if request.param == "deliveries":
        connection = shops.shop(integrator=shop.integrator, pickup=shop.integrator.pickup_points.first())
        return Area(DeliveryDraft, connection, lambda draft: url("draft", draft.pk), "b", {})
    connection = seller_shops.shop(seller=seller)
    return Area(
        SellerDraft, connection, lambda draft: pages.url("seller_draft", seller, draft.pk), "to", {"step": "save"}
    )


def marked(page):
    """The names of the fields that are refused."""
    return form_of(page).xpath('.//*[@aria-invalid="true"]/@name')


def notes(page):
    """By the names of fields what stands below them."""
    found = form_of(page).xpath('.//*[@class="help"]')
    return {each.get("id").removeprefix("id_").removesuffix("_helptext"): each.text for each in found}


class TestACorrection:
    def test_that_is_not_valid_is_shown_again_with_what_was_typed(self, member, area):
        draft = area.received()
        address = area.page(draft)
        typed = area.typed(name="Outra pessoa", number="500", zipcode="1")

        page = member.post(address, filled(member.get(address), **typed, **area.save))

        assert (page.status_code, marked(page)) == (422, [f"{area.form}-zipcode"])
        assert filled(page).items() >= typed.items()
        assert "what you typed is still there" in page.content.decode()
        assert (area.draft().payload, area.draft().status) == (draft.payload, "open")

    def test_of_an_order_that_has_changed_is_shown_beside_what_it_is_now(self, member, area):
        address = area.page(area.received())
        sent = filled(member.get(address), **area.typed(name="Outra pessoa", number="500"), **area.save)
        area.changed(first_name="Ana", address_1="Rua Bela Cintra")
        now = area.draft()

        page = member.post(address, sent)

        assert (page.status_code, marked(page)) == (422, [])
        assert str(CHANGED) in page.content.decode()
        again = filled(page)
        expected = area.typed(name="Outra pessoa", number="500", street="Rua Bela Cintra", city="São Paulo")
        assert again.items() >= expected.items()
        assert (
            notes(page).items()
            >= {
                f"{area.form}-name": "In the order now: Ana Souza",
                f"{area.form}-number": "In the order now: –",
                f"{area.form}-street": "Changed meanwhile. Before: Rua Augusta",
            }.items()
        )
        assert f"{area.form}-city" not in notes(page)
        assert (area.draft().payload, area.draft().status) == (now.payload, "open")

        saved = member.post(address, {**again, **area.save})

        assert saved.status_code == 302
        text = str(area.draft().payload)
        assert [each for each in ("Outra pessoa", "Rua Bela Cintra", "'500'") if each not in text] == []
