"""Connecting a shop in the panel, and the orders that come from it."""

import re

import pytest
from django.urls import reverse
from django.utils.html import strip_tags

from common.shops.platforms import Platform
from delivery.connections import drafts
from delivery.connections.models import Connection, Draft, Reception
from delivery.models import AuditAction, AuditEntry, Delivery, Stop, Tariff
from delivery.payload import Place
from tests.delivery.connections.shops import NEAR, WITHOUT_NUMBER, order, post
from tests.delivery.connections.shops import shop as connected
from tests.delivery.geo.geocoder import HOUSE
from tests.factories import PICKUP, DeliveryFactory, PickupPointFactory, validated_payload
from tests.panel.sent_forms import filled

SETTINGS = {"name": "Loja", "contact_phone": "(11) 3333-0000", "vehicle_type": "MOTORCYCLE"}


@pytest.fixture(autouse=True)
def streets(settings, geocoder):
    """It finds Rua Augusta 500."""
    settings.GEOCODER_URL = geocoder.url
    return geocoder


@pytest.fixture
def member(shop, as_role):
    return as_role("member")


@pytest.fixture
def url(shop):
    return lambda name, *arguments: reverse(f"panel:{name}", args=[shop.integrator.pk, "live", *arguments])


@pytest.fixture
def connection(shop):
    return connected(integrator=shop.integrator, pickup=shop.integrator.pickup_points.first())


def received(connection, **changes):
    post(connection, order(**changes))
    drafts.check_due()
    return Draft.objects.latest("created_at")


class TestConnectAShop:
    def test_makes_the_secret_of_woocommerce_and_shows_it_once(self, member, url, shop):
        pickup = shop.integrator.pickup_points.first()

        answer = member.post(
            url("connections"), {**SETTINGS, "platform": "WOOCOMMERCE", "pickup": str(pickup.pk)}, follow=True
        )

        made = Connection.objects.get()
        assert (made.integrator, made.environment, made.pickup) == (shop.integrator, "live", pickup)
        assert made.secret in answer.content.decode()
        assert made.path in answer.content.decode()
        assert made.secret not in member.get(url("connection", made.pk)).content.decode()
        assert post(made, order(), secret=made.secret).json()["result"] == "draft"

    def test_takes_pickup_points_of_the_account_only(self, member, url):
        sent = {**SETTINGS, "platform": "WOOCOMMERCE", "pickup": str(PickupPointFactory.create().pk)}

        assert member.post(url("connections"), sent).status_code == 422
        assert not Connection.objects.exists()

    def test_changes_its_settings(self, member, url, connection):
        sent = {**SETTINGS, "name": "Outra", "pickup": str(connection.pickup_id), "automatic": "on"}

        member.post(url("connection", connection.pk), sent)

        connection.refresh_from_db()
        assert (connection.name, connection.automatic) == ("Outra", True)

    def test_is_in_the_activity_of_its_environment_by_its_name(self, member, url, connection):
        member.post(
            url("connection", connection.pk), {**SETTINGS, "name": "Outra", "pickup": str(connection.pickup_id)}
        )

        newest = AuditEntry.objects.filter(action=AuditAction.SHOP_CHANGED)
        assert [*newest.values_list("subject", "environment")] == [("Outra", connection.environment)]

    def test_lists_what_the_shop_has_told(self, member, url, connection):
        draft = received(connection)
        post(connection, order(status="pending"))
        post(connection, b"{}")

        text = member.get(url("connection", connection.pk)).content.decode()

        assert draft.external_id in text
        assert all(word in text for word in ("it is not paid", "it is not an order of this platform", "line_items"))

    def test_of_the_sandbox_says_that_nothing_is_delivered(self, member, shop):
        pages = {name: reverse("panel:connections", args=[shop.integrator.pk, name]) for name in ("live", "sandbox")}

        shown = {name: "This is the sandbox" in member.get(page).content.decode() for name, page in pages.items()}

        assert shown == {"live": False, "sandbox": True}

    @pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "testserver"])
    def test_says_that_an_address_of_this_machine_is_reached_from_here_only(self, member, url, connection, host):
        page = member.get(url("connection", connection.pk), headers={"host": host}).content.decode()

        assert ("reached from this machine only" in page) is (host != "testserver")

    def test_looks_for_what_the_shop_tells_until_it_has_told_something(self, member, url, connection):
        page = url("connection", connection.pk)
        before = member.get(page).content.decode()
        received(connection)

        assert 'hx-select="#receptions"' in before
        assert "hx-select" not in member.get(page).content.decode()

    @pytest.mark.parametrize("platform", list(Platform))
    def test_is_tried_with_a_signed_order(self, member, url, shop, platform):
        made = connected(
            integrator=shop.integrator, pickup=shop.integrator.pickup_points.first(), platform=platform,
            shipping_method="Motoboy", automatic=True,
        )  # fmt: skip

        answer = member.post(url("connection_try", made.pk), follow=True)
        drafts.check_due()

        draft = Draft.objects.get()
        assert answer.redirect_chain == [(url("draft", draft.pk), 302)]
        assert (draft.is_test, draft.missing, draft.status) == (True, ["test_order"], "open")
        assert draft.price is not None
        assert Reception.objects.get().is_trial

    def test_ends_a_connection_and_keeps_its_orders(self, member, url, connection):
        draft = received(connection)

        member.post(url("connection_remove", connection.pk))

        assert post(connection, order()).status_code == 404
        assert member.get(url("connection", connection.pk)).status_code == 404
        assert member.get(url("draft", draft.pk)).status_code == 200
        assert member.post(url("draft_request", draft.pk), {"seen": draft.revision}).status_code == 302
        assert Delivery.objects.filter(stops__external_id=draft.external_id).exists()


class TestOrdersOfTheShop:
    def test_have_a_pin_with_the_letter_of_the_drop_off(self, member, url, connection):
        text = member.get(url("draft", received(connection).pk)).content.decode()

        assert re.findall('data-label="(.)"', text) == ["B"]

    def test_name_the_pickup_point_and_the_address_of_the_last_delivery_from_there(self, member, url, shop, connection):
        def read():
            text = member.get(url("draft", received(connection).pk)).content.decode()
            (shown,) = re.findall(r"<dt>Pickup point</dt>\s*<dd>(.*?)</dd>", text, re.DOTALL)
            return " ".join(strip_tags(shown).split())

        before = read()
        address = {"street": "Avenida Paulista", "number": "1578", "city": "São Paulo", "zipcode": "01310200"}
        pickup = Place(point=PICKUP, address=address, contact_name="Loja", contact_phone="+55 11 3333-0000")
        DeliveryFactory.create(token=shop.token, payload=validated_payload(stops=1, pickup=pickup))

        assert (before, read()) == ("Paulista", "Paulista Avenida Paulista, 1578 · São Paulo · CEP 01310-200")

    def test_are_requested_with_one_click_at_the_price_that_is_shown(self, member, url, connection):
        draft = received(connection)
        (seen,) = set(re.findall(r'name="seen" value="([0-9]+)"', member.get(url("draft", draft.pk)).content.decode()))

        answers = [member.post(url("draft_request", draft.pk), {"seen": seen}) for _click in range(2)]

        delivery = Delivery.objects.get(stops__external_id=draft.external_id)
        assert {answer["Location"] for answer in answers} == {url("delivery", delivery.pk)}
        assert delivery.shipping_value == draft.price

    @pytest.mark.parametrize("page", ["draft", "drafts"])
    def test_that_the_shop_has_changed_at_the_same_price_are_looked_at_first(self, member, url, connection, page):
        draft = received(connection)
        address = url("draft", draft.pk) if page == "draft" else url("drafts")
        text = member.get(address).content.decode().replace("\n", " ")
        ((name, value),) = set(re.findall(r'name="(seen|order)"[^>]* value="([^"]+)"', text))
        post(connection, order(int(draft.order_id), customer_note="No jardim"))
        drafts.check_due()

        sent_to = url("draft_request", draft.pk) if page == "draft" else address
        answer = member.post(sent_to, {name: value}, follow=True)

        assert "This order has changed meanwhile" in answer.content.decode()
        assert Draft.objects.get().price == draft.price
        assert not Delivery.objects.filter(stops__external_id=draft.external_id).exists()

    def test_are_shown_with_a_price_that_has_changed_before_they_are_requested(self, member, url, connection):
        draft = received(connection)
        Tariff.objects.update(base_fare=99)

        answer = member.post(url("draft_request", draft.pk), {"seen": draft.revision}, follow=True)

        assert not Delivery.objects.filter(stops__external_id=draft.external_id).exists()
        assert "The price has changed" in answer.content.decode()

    def test_are_requested_several_at_once(self, member, url, connection):
        ready = [received(connection) for _number in range(2)]
        incomplete, other = received(connection, **WITHOUT_NUMBER), received(connected())
        chosen = [f"{each.pk}:{each.revision}" for each in (*ready, incomplete, other)]

        text = member.post(url("drafts"), {"order": [*chosen, "x", ":1"]}, follow=True).content.decode()

        requested = Draft.objects.filter(status="requested")
        assert {each.pk for each in requested} == {each.pk for each in ready}
        assert "2 deliveries are requested." in text
        assert incomplete.external_id in text

    def test_say_what_is_missing_and_are_corrected_there(self, member, url, connection):
        draft = received(connection, **WITHOUT_NUMBER)
        page = member.get(url("draft", draft.pk))
        assert "The number of the house is missing" in page.content.decode()

        member.post(url("draft", draft.pk), filled(page, **{"b-number": "500", "b-instructions": "Portão azul"}))

        draft.refresh_from_db()
        assert (draft.missing, draft.price is not None) == ([], True)
        member.post(url("draft_request", draft.pk), {"seen": draft.revision})
        stop = Stop.objects.get(external_id=draft.external_id)
        assert (stop.address["number"], stop.options.instructions) == ("500", "Portão azul")

    def test_that_the_shop_has_changed_do_not_keep_the_place_of_the_address_before(self, member, url, connection):
        draft = received(connection, **WITHOUT_NUMBER)
        page = member.get(url("draft", draft.pk))
        post(connection, order(int(draft.order_id), shipping={"address_1": "Rua Bela Cintra", "number": "500"}))

        again = member.post(url("draft", draft.pk), filled(page, **{"b-name": "Outra pessoa"}))

        assert (filled(page)["b-position"] != "", filled(again)["b-position"]) == (True, "")

    def test_show_what_is_requested_beside_the_button(self, member, url, connection):
        """That part of the page is replaced while the order is looked at, the form is not."""
        draft = received(connection)

        text = member.get(url("draft", draft.pk)).content.decode()
        state = text[text.index('id="draft-state"') : text.index("</section>", text.index('id="draft-state"'))]

        shown = re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", state))
        told = ["Maria Souza", "(11) 97777-0001", "maria@example.com", "Rua Augusta, 500", "Ap. 12", "Consolação"]
        assert [each for each in (*told, "01304-000", "Deixar na portaria") if each not in shown] == []
        assert f'name="seen" value="{draft.revision}"' in state

    def test_whose_address_is_unknown_get_a_place_on_the_map(self, member, url, connection, streets):
        streets.answer = []
        draft = received(connection)
        assert draft.missing == ["address_not_located"]

        page = member.get(url("draft", draft.pk))
        member.post(url("draft", draft.pk), filled(page, **{"b-position": f"{NEAR.latitude}, {NEAR.longitude}"}))

        draft.refresh_from_db()
        assert (draft.missing, draft.price is not None) == ([], True)
        streets.answer = [HOUSE]

    def test_whose_address_is_unknown_show_a_map_that_begins_near_their_pickup_point(
        self, member, url, connection, streets
    ):
        streets.answer = []
        draft = received(connection)
        point = connection.pickup

        shown = member.get(url("draft", draft.pk)).content.decode()
        point.delete()
        without = member.get(url("draft", draft.pk))

        assert re.findall('data-near="(.*?)"', shown) == [f"{point.latitude:.6f}, {point.longitude:.6f}"]
        assert (without.status_code, "data-near" in without.content.decode()) == (200, False)
        streets.answer = [HOUSE]

    def test_are_dropped_and_taken_back(self, member, url, connection):
        draft = received(connection)

        member.post(url("draft_drop", draft.pk))
        dropped, text = Draft.objects.get(pk=draft.pk).status, member.get(url("draft", draft.pk)).content.decode()
        member.post(url("draft_back", draft.pk))

        assert "Dropped by member" in text
        assert "Changed by member" in member.get(url("draft", draft.pk)).content.decode()
        assert (dropped, Draft.objects.get(pk=draft.pk).status) == ("dropped", "open")

    def test_that_the_shop_has_cancelled_have_the_fee_beside_the_button(self, member, url, connection):
        draft = received(connection)
        member.post(url("draft_request", draft.pk), {"seen": draft.revision})
        post(connection, order(int(draft.order_id), status="cancelled"))
        delivery = Delivery.objects.get(stops__external_id=draft.external_id)

        for page in (url("drafts"), url("draft", draft.pk)):
            text = member.get(page).content.decode()
            assert url("cancel", delivery.pk) in text
            assert "Cancelled in the shop" in text
            assert re.search(r"Fee: R\$\s0[.,]00", text)

    def test_are_those_of_the_account_and_environment(self, member, url, connection):
        other = received(connected())
        sandbox = received(connected(integrator=connection.integrator, environment="sandbox"))

        for each in (other, sandbox):
            assert member.get(url("draft", each.pk)).status_code == 404
            for name in ("draft_request", "draft_drop", "draft_back"):
                assert member.post(url(name, each.pk), {"seen": "1"}).status_code == 404
            assert each.external_id not in member.get(url("drafts")).content.decode()
