"""Connecting a seller's shop in the panel, and the orders that come from it."""

import re

import pytest

from common.shops.platforms import Platform
from integration.connections import actions, drafts
from integration.connections.models import Connection, Draft, Reception
from integration.freight.models import FreightRate
from integration.models import Order
from panel.sellers.order_forms import MOST_ITEMS
from panel.shop_pages import CHANGED
from tests.delivery.connections.shops import WITHOUT_NUMBER, order, post
from tests.integration.connections.shops import shop as connected
from tests.integration.factories import COMPANY, OTHER_COMPANY, SellerFactory, create_order, load_tariff
from tests.panel.sellers.pages import url
from tests.panel.sent_forms import filled, form_of

SETTINGS = {
    "name": "Loja", "company": COMPANY, "service": "next", "length": "30", "width": "20", "height": "10,5",
    "weight": "0,75",
}  # fmt: skip  # a form


@pytest.fixture(autouse=True)
def origin(seller):
    load_tariff()
    seller.companies.update(postcode="01310100")


@pytest.fixture
def connection(seller):
    return connected(seller=seller)


def received(connection, **changes):
    post(connection, order(**changes))
    return Draft.objects.latest("created_at")


def mugs(count):
    return [{"name": f"Caneca {number}", "quantity": 1, "price": 5} for number in range(count)]


class TestConnectAShop:
    def test_makes_the_secret_of_woocommerce_and_shows_it_once(self, member, seller):
        sent = {**SETTINGS, "platform": "WOOCOMMERCE", "height": "10"}

        answer = member.post(url("seller_connections", seller), sent, follow=True)

        made = Connection.objects.get()
        assert (made.seller, made.environment, made.company) == (seller, "live", seller.companies.get())
        assert (made.service, made.dimensions) == ("next", "20x10x30,0.75")
        assert made.secret in answer.content.decode()
        assert made.path in answer.content.decode()
        assert made.secret not in member.get(url("seller_connection", seller, made.pk)).content.decode()
        assert post(made, order(), secret=made.secret).json()["result"] == "order"

    @pytest.mark.parametrize(
        "change", [{"company": OTHER_COMPANY}, {"height": "0"}, {"platform": "OTHER"}, {"name": ""}]
    )
    def test_refuses_what_is_not_the_sellers(self, member, seller, change):
        SellerFactory.create(documents=(OTHER_COMPANY,))

        sent = {**SETTINGS, "platform": "YAMPI", "height": "10", **change}

        assert member.post(url("seller_connections", seller), sent).status_code == 422
        assert not Connection.objects.exists()

    def test_has_at_most_ten(self, member, seller, connection, monkeypatch):
        monkeypatch.setattr(actions, "MOST_CONNECTIONS", 1)

        answer = member.post(url("seller_connections", seller), {**SETTINGS, "platform": "YAMPI", "height": "10"})

        assert (answer.status_code, Connection.objects.get()) == (422, connection)

    def test_changes_its_settings(self, member, seller, connection):
        page = member.get(url("seller_connection", seller, connection.pk)).content.decode()

        member.post(url("seller_connection", seller, connection.pk), {**SETTINGS, "height": "10", "name": "Outra"})

        connection.refresh_from_db()
        assert re.search(r'name="length"[^>]*value="10"', page)
        assert (connection.name, connection.dimensions, connection.service) == ("Outra", "20x10x30,0.75", "next")

    @pytest.mark.parametrize("platform", list(Platform))
    def test_is_tried_with_a_signed_order(self, member, seller, platform):
        made = connected(seller=seller, platform=platform, shipping_method="Motoboy")

        answer = member.post(url("seller_connection_try", seller, made.pk), follow=True)

        draft = Draft.objects.get()
        assert answer.redirect_chain == [(url("seller_draft", seller, draft.pk), 302)]
        assert "It is a test order" in answer.content.decode()
        assert (draft.is_test, draft.missing, Reception.objects.get().is_trial) == (True, ["test_order"], True)
        member.post(url("seller_draft", seller, draft.pk), {"step": "save"})
        assert not Order.objects.exists()

    def test_lists_what_the_shop_has_told_and_ends(self, member, seller, connection):
        made = received(connection, number=7)
        post(connection, order(status="pending"))
        post(connection, b"{}")

        text = member.get(url("seller_connection", seller, connection.pk)).content.decode()
        member.post(url("seller_connection_remove", seller, connection.pk))

        words = ("Order made", "it is not paid", "it is not an order of this platform", "line_items")
        assert all(word in text for word in words)
        assert url("seller_draft", seller, made.pk) in text
        assert member.get(url("seller_connection", seller, connection.pk)).status_code == 404
        assert Draft.objects.get() == made


class TestOrdersOfTheShop:
    def test_say_what_is_missing_and_are_made_with_it(self, member, seller, connection):
        draft = received(connection, number=7, **WITHOUT_NUMBER)
        address = url("seller_draft", seller, draft.pk)
        page = member.get(address)
        assert "The number of the house is missing" in page.content.decode()

        priced = member.post(address, filled(page, **{"to-number": "500"}))
        agreed = {"step": "save", "agreed": priced.context["priced"].agreed}
        sent = filled(page, **{"to-number": "500", "item1-weight": "2", **agreed})
        refused = member.post(address, sent)  # at another freight than was shown
        again = {**sent, "agreed": refused.context["priced"].agreed}
        answers = [member.post(address, again) for _click in range(2)]

        made = Order.objects.get()
        assert refused.status_code == 422
        assert [answer.url for answer in answers] == [url("seller_order", seller, made.pk)] * 2
        assert (made.code, made.receiver["address"]["streetNumber"]) == ("7", "500")
        assert made.items[0]["dimensions"] == "20x15x10,2"
        assert (made.created_by, Draft.objects.get().made) == ("user member", made)

    @pytest.mark.parametrize(
        "change", [{"step": "freight"}, {"step": "save", "to-name": ""}, {"step": "save", "order-code": "8"}]
    )
    def test_that_the_shop_has_changed_are_looked_at_first_whatever_is_wrong_with_the_form(
        self, member, seller, connection, change
    ):
        create_order(seller, orderId="8")  # one of the forms has its number
        draft = received(connection, number=7, **WITHOUT_NUMBER)
        address = url("seller_draft", seller, draft.pk)
        sent = filled(member.get(address), **{"to-number": "500"})
        post(connection, order(7, **WITHOUT_NUMBER | {"shipping": {"number": "", "city": "Osasco"}}))

        again = member.post(address, {**sent, **change})

        assert (again.status_code, again.context["seen"]) == (422, Draft.objects.get().revision)
        assert str(CHANGED) in again.content.decode()
        assert filled(again).items() >= {"to-city": "Osasco", "to-number": "500"}.items()
        assert not Order.objects.filter(code="7").exists()

    @pytest.mark.parametrize(("before", "now"), [(10, 11), (11, 10)])  # a form shows ten
    @pytest.mark.parametrize("is_late", [False, True])  # after the page has read the order, or before
    def test_that_cross_what_a_form_shows_say_what_is_gone_of_it(
        self, member, seller, connection, monkeypatch, before, now, is_late
    ):
        draft = received(connection, number=7, line_items=mugs(before), **WITHOUT_NUMBER)
        address = url("seller_draft", seller, draft.pk)
        page = member.get(address)
        typed = {"to-number": "500", **({"item1-weight": "2"} if before == MOST_ITEMS else {})}
        sent = filled(page, step="save", **typed)
        agreed = member.post(address, {**sent, "step": "freight"}).context["priced"].agreed

        def change():
            post(connection, order(7, line_items=mugs(now), **WITHOUT_NUMBER))

        if is_late:
            make = drafts.make
            monkeypatch.setattr(drafts, "make", lambda **given: (change(), make(**given))[1])
        else:
            change()
        again = member.post(address, {**sent, "agreed": agreed})

        text, fields = again.content.decode(), filled(again)
        assert (again.status_code, fields["to-number"]) == (422, "500")
        assert ("What you typed about the items is not there any more" in text) == (before == MOST_ITEMS)
        assert [fields.get(f"item{number}-description") for number in (1, 10)] == (
            ["Caneca 0", "Caneca 9"] if now == MOST_ITEMS else [None, None]
        )
        assert "Changed meanwhile. Before:" not in text.partition('id="items-title"')[2]
        assert not Order.objects.exists()

    def test_whose_item_the_shop_has_removed_show_what_it_was(self, member, seller, connection):
        draft = received(connection, number=7, line_items=mugs(2), **WITHOUT_NUMBER)
        address = url("seller_draft", seller, draft.pk)
        sent = filled(member.get(address), **{"to-number": "500"}, step="save")
        post(connection, order(7, line_items=mugs(1), **WITHOUT_NUMBER))

        page = form_of(member.post(address, sent))

        second, third = page.xpath('.//details[@class="another"]')[:2]
        assert "Changed meanwhile. Before: Caneca 1" in second.text_content()
        assert [each.get("open") is not None for each in (second, third)] == [True, False]

    def test_with_the_number_of_another_order_get_another_one(self, member, seller, connection):
        create_order(seller, orderId="7")
        draft = received(connection, number=7)
        address = url("seller_draft", seller, draft.pk)
        page = member.get(address)
        assert "You have an order with this number already" in page.content.decode()

        assert member.post(address, filled(page, step="save", agreed="-")).status_code == 422
        sent = filled(page, **{"order-code": "7-B"})
        agreed = member.post(address, sent).context["priced"].agreed
        member.post(address, {**sent, "step": "save", "agreed": agreed})

        assert Draft.objects.values_list("made__code", "external_id").get() == ("7-B", "7-B")

    @pytest.mark.parametrize("count", [2, 12])  # as many as a form shows, and more
    def test_of_several_items_keep_them(self, member, seller, connection, count):
        draft = received(connection, line_items=mugs(count), **WITHOUT_NUMBER)
        address = url("seller_draft", seller, draft.pk)
        sent = filled(member.get(address), **{"to-number": "500"})

        agreed = member.post(address, sent).context["priced"].agreed
        member.post(address, {**sent, "step": "save", "agreed": agreed})

        assert len(Order.objects.get().items) == count

    def test_are_made_together_at_the_freight_that_was_shown(self, member, seller, connection):
        connection.seller.write_suspension(reason="unpaid", by="x", at=connection.created_at)
        waiting = [received(connection) for _number in range(2)]
        incomplete, other = (
            received(connection, **WITHOUT_NUMBER),
            received(connected(seller=SellerFactory.create(documents=(OTHER_COMPANY,))), **WITHOUT_NUMBER),
        )
        connection.seller.clear_suspension()
        text = member.get(url("seller_drafts", seller)).content.decode()
        shown = re.findall(r'name="order"[^>]*value="([^"]+)"', text)
        assert {value.partition(":")[0] for value in shown} == {str(each.pk) for each in waiting}
        FreightRate.objects.update(base_centavos=1)

        refused = member.post(url("seller_drafts", seller), {"order": shown}, follow=True).content.decode()
        shown = re.findall(r'name="order"[^>]*value="([^"]+)"', refused)
        chosen = [*shown, *(f"{each.pk}:{each.revision}" for each in (incomplete, other)), "x", ":1"]
        text = member.post(url("seller_drafts", seller), {"order": chosen}, follow=True).content.decode()

        assert "The freight has changed meanwhile" in refused
        assert "2 orders are created." in text
        assert {each.made for each in Draft.objects.filter(status="requested")} == set(Order.objects.all())
        assert Order.objects.count() == 2
        assert f"{incomplete.external_id}: Something of the order is missing" in text

    @pytest.mark.parametrize("revision", ["", "-", "٣", "1" * 10, "0"])
    def test_are_not_made_of_a_revision_that_was_not_shown(self, member, seller, connection, revision):
        draft = received(connection, payment_method="cod")

        text = member.post(url("seller_drafts", seller), {"order": f"{draft.pk}:{revision}"}, follow=True)

        assert "This order has changed meanwhile" in text.content.decode()
        assert not Order.objects.exists()

    @pytest.mark.parametrize("changes", [{"shipping": {"first_name": "Ana"}}, {"payment_method": "cod"}])
    def test_that_the_shop_has_changed_at_the_same_freight_are_looked_at_first(
        self, member, seller, connection, changes
    ):
        connection.seller.write_suspension(reason="unpaid", by="x", at=connection.created_at)
        draft = received(connection, number=7)
        connection.seller.clear_suspension()
        page = member.get(url("seller_drafts", seller)).content.decode()
        shown = re.findall(r'name="order"[^>]*value="([^"]+)"', page)
        Draft.objects.update(automatic=False)
        post(connection, order(7, **changes))

        text = member.post(url("seller_drafts", seller), {"order": shown}, follow=True).content.decode()

        assert "This order has changed meanwhile" in text
        assert (len(shown), Draft.objects.get().price) == (1, draft.price)
        assert not Order.objects.exists()

    def test_are_dropped_and_taken_back(self, member, seller, connection):
        draft = received(connection, **WITHOUT_NUMBER)

        member.post(url("seller_draft_drop", seller, draft.pk))
        dropped, text = Draft.objects.get().status, member.get(url("seller_draft", seller, draft.pk)).content.decode()
        member.post(url("seller_draft_back", seller, draft.pk))

        assert 'name="to-name"' not in text
        assert "Dropped by member" in text
        assert "Changed by member" in member.get(url("seller_draft", seller, draft.pk)).content.decode()
        assert (dropped, Draft.objects.get().status) == ("dropped", "open")

    def test_that_the_shop_has_cancelled_say_so(self, member, seller, connection):
        draft = received(connection, number=7)
        post(connection, order(7, status="cancelled"))

        for page in (url("seller_drafts", seller), url("seller_draft", seller, draft.pk)):
            text = member.get(page).content.decode()
            assert "Cancelled in the shop" in text
        assert url("seller_order", seller, Order.objects.get().pk) in text

    def test_are_those_of_the_seller_and_environment(self, member, seller, connection):
        other = received(connected(seller=SellerFactory.create(documents=(OTHER_COMPANY,))), **WITHOUT_NUMBER)
        sandbox = received(connected(seller=seller, environment="sandbox"), **WITHOUT_NUMBER)

        for each in (other, sandbox):
            assert member.get(url("seller_draft", seller, each.pk)).status_code == 404
            for name in ("seller_draft", "seller_draft_freight", "seller_draft_drop", "seller_draft_back"):
                assert member.post(url(name, seller, each.pk)).status_code == 404
            assert each.external_id not in member.get(url("seller_drafts", seller)).content.decode()
