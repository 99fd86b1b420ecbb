"""Pages of connected shops in both areas: the secret of a connection, and correcting an order."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
from django.utils import timezone
from lxml.html import document_fromstring

from common.shops.models import LONGEST_SECRET, ShopDraft
from common.shops.platforms import Platform
from delivery.accounts import integrators
from delivery.connections import drafts
from delivery.connections.models import Draft as DeliveryDraft
from integration.accounts import sellers
from integration.connections.models import Draft as SellerDraft
from panel import shop_pages
from panel.integrators import shop_forms
from panel.sellers import shop_forms as seller_forms
from tests.delivery.connections import shops
from tests.delivery.connections.shops import WITHOUT_NUMBER, order, post
from tests.factories import BY
from tests.integration.connections import shops as seller_shops
from tests.integration.factories import load_tariff
from tests.panel.sellers import pages
from tests.panel.sent_forms import filled, form_of


@dataclass(frozen=True)
class Area:
    """`connect`: a shop; `url`: of a page, by its name; `form`: before the names of the fields of a draft's address.

    `save`: what the button of a draft's form sends.
    """

    connect: Callable[..., Any]
    url: Callable[..., str]
    drafts: type[ShopDraft]
    form: str
    save: dict[str, str]
    fixed_at: dict[str, str]

    def draft(self) -> Any:
        return self.drafts._default_manager.get()

    def received(self) -> Any:
        """A draft whose number of the house is missing."""
        post(self.connect(), order(7, **WITHOUT_NUMBER))
        drafts.check_due()
        return self.draft()

    def changed(self, **shipping: str) -> None:
        """The shop tells it again with another address."""
        post(self.draft().connection, order(7, **WITHOUT_NUMBER | {"shipping": {"number": "", **shipping}}))

    def typed(self, **values: str) -> dict[str, str]:
        return {f"{self.form}-{name}": value for name, value in values.items()}


@pytest.fixture(params=["deliveries", "orders"])
def area(request, shop, seller, url, settings, geocoder):
    settings.GEOCODER_URL = geocoder.url  # it finds Rua Augusta 500
    load_tariff()
    seller.companies.update(postcode="01310100")
    if request.param == "deliveries":
        connect = partial(shops.shop, integrator=shop.integrator, pickup=shop.integrator.pickup_points.first())
        return Area(connect, url, DeliveryDraft, "b", {}, shop_forms.FIXED_AT)
    of_seller = partial(seller_shops.shop, seller=seller)
    return Area(
        of_seller,
        lambda name, *arguments: pages.url(f"seller_{name}", seller, *arguments),
        SellerDraft,
        "to",
        {"step": "save"},
        seller_forms.FIXED_AT,
    )


def page_of(client, address):
    return document_fromstring(client.get(address).content)


def marked(page):
    """The names of the fields that are refused."""
    return form_of(page).xpath('.//*[@aria-invalid="true"]/@name')


def notes(page):
    """The names of fields, each with what stands below it."""
    found = form_of(page).xpath('.//*[@class="help"]')
    return {(each.get("id").removeprefix("id_").removesuffix("_helptext"), each.text_content()) for each in found}


class TestTheSecret:
    def test_of_woocommerce_is_made_anew_and_shown_once(self, member, area):
        connection = area.connect()
        before = connection.secret

        shown = member.post(area.url("connection_secret", connection.pk), follow=True).content.decode()

        connection.refresh_from_db()
        assert connection.secret != before
        assert connection.secret in shown
        assert connection.secret not in member.get(area.url("connection", connection.pk)).content.decode()
        assert post(connection, order(), secret=before).status_code == 401

    @pytest.mark.parametrize("platform", Platform)
    def test_is_asked_for_in_the_step_after_the_platform_has_made_it(self, member, area, platform):
        connection = area.connect(platform=platform)

        before, after = (page_of(member, area.url(*of)) for of in (["connections"], ["connection", connection.pk]))

        assert before.xpath('//*[@name="secret"]') == []
        is_made_here = platform is Platform.WOOCOMMERCE
        every, in_step = after.xpath('//*[@name="secret"]'), after.xpath('//ol/li[last()]//*[@name="secret"]')
        assert (len(every), len(in_step)) == ((0, 0) if is_made_here else (1, 1))

    @pytest.mark.parametrize("platform", [Platform.SHOPIFY, Platform.YAMPI])
    def test_of_other_platforms_is_that_which_is_pasted(self, member, area, platform):
        connection = area.connect(platform=platform)
        longest = "s" * LONGEST_SECRET

        kept = []
        for secret in (" theirs ", "", longest, longest + "s"):
            member.post(area.url("connection_secret", connection.pk), {"secret": secret})
            connection.refresh_from_db()
            kept.append(connection.secret)

        assert kept == ["theirs", "theirs", longest, longest]

    def test_is_none_once_the_shop_is_removed_meanwhile(self, member, area, monkeypatch):
        connection = area.connect()
        found = shop_pages.Secret.found

        def removed(view, key):
            connection = found(view, key)
            view.remove(connection)
            return connection

        monkeypatch.setattr(shop_pages.Secret, "found", removed)

        assert member.post(area.url("connection_secret", connection.pk)).status_code == 404
        connection.refresh_from_db()
        assert connection.secret_ciphertext == ""


class TestWhatIsMissing:
    def test_links_the_field_that_puts_it_right(self, member, area):
        page = member.get(area.url("draft", area.received().pk))

        missing: Any = document_fromstring(page.content).xpath('//ul[li/a[starts-with(@href, "#id_")]]//a')

        assert [each.text for each in missing] == ["The number of the house is missing. Write S/N if it has none."]
        assert [each.get("href") for each in missing] == [f"#id_{area.form}-number"]

    def test_has_its_fields_in_the_form(self, member, area):
        form = form_of(member.get(area.url("draft", area.received().pk)))

        assert {each for each in area.fixed_at.values() if not form.xpath(f'.//*[@id="{each[1:]}"]')} == set()

    def test_of_the_connection_links_its_field_there_as_long_as_it_has_a_page(
        self, member, url, shop, settings, geocoder
    ):
        settings.GEOCODER_URL = geocoder.url
        connection = shops.shop(integrator=shop.integrator, pickup=shop.integrator.pickup_points.first())
        post(connection, order())
        shop.integrator.pickup_points.all().delete()
        drafts.check_due()
        draft = url("draft", DeliveryDraft.objects.get().pk)
        linked = '//a[text()="The connection has no active pickup point."]/@href'

        (address,) = page_of(member, draft).xpath(linked)
        path, _sign, key = address.partition("#")
        found = page_of(member, path).xpath(f'//*[@id="{key}"]/@name')
        member.post(url("connection_remove", connection.pk))

        assert (found, page_of(member, draft).xpath(linked)) == (["pickup"], [])

    def test_links_nothing_where_there_is_no_form(self, member, area, shop, seller):
        address = area.url("draft", area.received().pk)
        why: Any = {"reason": "unpaid", "by": BY, "at": timezone.now()}
        integrators.suspend(integrator=shop.integrator, **why)
        sellers.suspend(seller=seller, **why)

        assert page_of(member, address).xpath('//a[starts-with(@href, "#id_")]') == []


class TestACorrection:
    def test_that_is_not_valid_is_shown_again_with_what_was_typed(self, member, area):
        draft = area.received()
        address = area.url("draft", draft.pk)
        typed = area.typed(name="Outra pessoa", number="500", zipcode="1")

        page = member.post(address, filled(member.get(address), **typed, **area.save))

        assert (page.status_code, marked(page)) == (422, [f"{area.form}-zipcode"])
        assert filled(page).items() >= typed.items()
        assert "what you typed is still there" in page.content.decode()
        assert (area.draft().payload, area.draft().status) == (draft.payload, "open")

    def test_that_is_not_valid_of_an_order_that_has_changed_is_shown_beside_what_it_is_now(self, member, area):
        address = area.url("draft", area.received().pk)
        sent = filled(member.get(address), **area.typed(number="500", zipcode="1"), **area.save)
        area.changed(first_name="Ana")
        now = area.draft()

        page = member.post(address, sent)

        assert (page.status_code, marked(page)) == (422, [f"{area.form}-zipcode"])
        assert str(shop_pages.CHANGED) in page.content.decode()
        assert {
            (f"{area.form}-name", "Changed meanwhile. Before: Maria Souza"),
            (f"{area.form}-zipcode", "In the order now: 01304-000"),
        } <= notes(page)
        assert filled(page)["seen"] == str(now.revision)
        assert area.draft().payload == now.payload

    def test_of_an_order_that_has_changed_is_shown_beside_what_it_is_now(self, member, area):
        address = area.url("draft", area.received().pk)
        shown = member.get(address)
        typed = area.typed(name="Outra pessoa", number="500", zipcode="01305000")
        before, sent = notes(shown), filled(shown, **typed, **area.save)
        area.changed(first_name="Ana", address_1="Rua Bela Cintra", postcode="01415001")
        now = area.draft()

        page = member.post(address, sent)

        assert (page.status_code, marked(page)) == (422, [])
        assert str(shop_pages.CHANGED) in page.content.decode()
        again = filled(page)
        expected = area.typed(
            name="Outra pessoa", number="500", street="Rua Bela Cintra", city="São Paulo", zipcode="01305-000"
        )
        assert again.items() >= expected.items()
        # A place that is not of this street any more.
        place = {("b-position", "Changed meanwhile. Before: -23.552000, -46.650000")} if area.form == "b" else set()
        assert notes(page) - before == place | {
            (f"{area.form}-name", "In the order now: Ana Souza"),
            (f"{area.form}-number", "In the order now: –"),
            (f"{area.form}-zipcode", "In the order now: 01415-001"),
            (f"{area.form}-street", "Changed meanwhile. Before: Rua Augusta"),
        }
        assert (area.draft().payload, area.draft().status) == (now.payload, "open")

        saved = member.post(address, {**again, **area.save})

        assert saved.status_code == 302
        text = str(area.draft().payload)
        assert [each for each in ("Outra pessoa", "Rua Bela Cintra", "'500'") if each not in text] == []

    def test_has_no_note_at_a_field_that_says_the_same_however_it_is_written(self, member, shop, url):
        connection = shops.shop(integrator=shop.integrator, pickup=shop.integrator.pickup_points.first())
        told = order(7, customer_note="Portaria\nBloco B")
        post(connection, told)
        draft = DeliveryDraft.objects.get()
        address = url("draft", draft.pk)
        member.post(address, filled(member.get(address), **{"b-position": "-23.56141, -46.65588"}))
        shown = member.get(address)
        before = notes(shown)
        # As browsers do.
        sent = {name: value.removeprefix("\n").replace("\n", "\r\n") for name, value in filled(shown).items()}
        post(connection, {**told, "customer_note": "Portaria\nBloco C"})

        page = member.post(address, {**sent, "b-name": "Outra pessoa"})
        again = member.post(address, {**sent, "b-name": "Outra pessoa", "b-instructions": "Portaria\r\nBloco C"})

        assert DeliveryDraft.objects.get().dropoff["address"]["latitude"] == -23.56141
        typed = ("b-name", "In the order now: Maria Souza")
        assert notes(page) - before == {typed, ("b-instructions", "Changed meanwhile. Before: Portaria\nBloco B")}
        assert notes(again) - before == {typed}
