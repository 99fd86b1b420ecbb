"""The search over everything, and that it finds nothing of others."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from delivery.actions import deliveries
from delivery.actions.forgetting import forget_stops_of
from delivery.admin import deliveries as admin
from delivery.geo.distance import Point
from delivery.lifecycle import RouteStatus
from delivery.models import Delivery, Integrator, PickupPoint
from delivery.payload import Place
from delivery.windows import Window
from integration.actions.forgetting import forget_orders_of
from integration.models import Order
from panel import filters, search
from panel.templatetags.panel import badge
from tests.cases import in_turn
from tests.factories import (
    BY,
    PICKUP,
    DeliveryFactory,
    DriverFactory,
    IntegratorFactory,
    TokenFactory,
    validated_payload,
)
from tests.integration.factories import (
    ACCESS_KEY,
    OTHER_COMPANY,
    SellerFactory,
    create_order,
    nfe_xml,
    order_body,
    send_invoice,
)
from tests.panel.sellers.pages import plans_of

SEARCH = reverse("panel:search")
HREF = re.compile(r'href="([^"]+)" data-row')


def addresses(browser, text):
    """Where the results of the fragment lead to."""
    response = browser.get(SEARCH, {"q": text}, headers={"HX-Request": "true"})
    assert response.status_code == 200
    return HREF.findall(response.content.decode())


@pytest.fixture
def everything(shop):
    """Something of each kind, by the texts that find it, with the page that it leads to for a member."""
    DriverFactory.create(name="Mara Pinto", phone="+55 11 97777-0001", at_point=PICKUP)
    PickupPoint.objects.create(integrator=shop.integrator, name="Loja Centro", latitude=-23.5, longitude=-46.6)
    order = create_order(shop.seller, orderId="MKT-2026-1", trackingCode="AA123456785BR")
    invoice = send_invoice(shop.seller, nfe_xml().encode())
    account, seller = [shop.integrator.pk, "live"], shop.seller.pk
    delivery = reverse("panel:delivery", args=[*account, shop.delivery.pk])
    overview = reverse("panel:overview", args=account)
    return {
        str(shop.delivery.pk): delivery,
        str(shop.delivery.pk)[:13]: delivery,
        str(shop.delivery.pk)[-6:]: delivery,
        shop.delivery.ordered_stops[0].external_id: delivery,
        shop.delivery.ordered_stops[0].external_id[:7].upper(): delivery,
        "MKT-2026-1": (of_order := reverse("panel:seller_order", args=[seller, "live", order.pk])),
        "mkt-20": of_order,
        "aa 123456785-br": of_order,
        ACCESS_KEY: reverse("panel:seller_invoice", args=[seller, "live", invoice.pk]),
        shop.integrator.name: overview,
        "loja cen": f"{overview}#pickups",
        shop.seller.reference: reverse("panel:seller_orders", args=[seller, "live"]),
    }


class TestSearch:
    def test_finds_what_a_member_may_open(self, member, everything):
        assert [text for text, address in everything.items() if address not in addresses(member, text)] == []

    @pytest.mark.parametrize("role", ["nobody", "stranger"])
    def test_finds_nothing_of_others(self, as_role, everything, role):
        browser = as_role(role)

        for text in (*everything, "Mara Pinto"):
            assert addresses(browser, text) == [], text

    def test_finds_no_driver_for_members_and_everything_for_account_staff(self, member, staff, everything):
        assert addresses(member, "Mara Pinto") == []
        assert [text for text, address in everything.items() if address not in addresses(staff, text)] == []

    def test_leads_dispatchers_to_drivers_and_to_the_admin(self, dispatcher, everything, shop):
        (driver,) = addresses(dispatcher, "mara")

        assert driver.startswith("/panel/drivers/")
        assert addresses(dispatcher, str(shop.delivery.pk)) == [f"/admin/delivery/delivery/{shop.delivery.pk}/change/"]
        assert addresses(dispatcher, "MKT-2026-1")[0].startswith("/admin/integration/order/")
        for page in addresses(dispatcher, "97777-0001"):
            assert dispatcher.get(page).status_code == 200

    def test_leads_dispatchers_who_are_members_to_the_panel_for_their_own_alone(self, dispatcher, everything, shop):
        user, other = User.objects.get(username="dispatcher"), DeliveryFactory.create()
        shop.integrator.members.add(user)
        shop.seller.members.add(user)
        own = (str(shop.delivery.pk), "MKT-2026-1", ACCESS_KEY)
        foreign = create_order(SellerFactory.create(documents=(OTHER_COMPANY,)), company_document=OTHER_COMPANY)

        assert [text for text in own if everything[text] not in addresses(dispatcher, text)] == []
        assert addresses(dispatcher, str(other.pk)) == [f"/admin/delivery/delivery/{other.pk}/change/"]
        assert addresses(dispatcher, foreign.tracking_code) == [f"/admin/integration/order/{foreign.pk}/change/"]

    def test_knows_each_page_of_the_menu(self, staff, shop, seller, url):
        for path in (url("overview"), reverse("panel:seller_orders", args=[seller.pk, "live"])):
            menus = re.findall(r"<nav.*?</nav>", staff.get(path).content.decode(), re.DOTALL)
            for address, text in re.findall(r'<a\s+href="([^"]+)"[^>]*>(?:<svg.*?</svg>)?([^<]+)</a>', "".join(menus)):
                if address.startswith("/panel/") and address != url("overview").replace("live", "sandbox"):
                    assert address in addresses(staff, text.strip()), text

    @in_turn("text", ["", "a", "%_", "x" * 5000, "…"])
    def test_answers_any_text(self, member, shop, text):
        assert addresses(member, text) == []

    @pytest.mark.parametrize("text", ["529.982.247-25", "52998224725"])
    def test_finds_orders_by_the_document_of_the_receiver_only_for_its_seller(self, as_role, shop, text):
        order = create_order(shop.seller)

        assert addresses(as_role("stranger"), text) == []
        assert addresses(as_role("member"), text) == [
            reverse("panel:seller_order", args=[shop.seller.pk, "live", order.pk])
        ]

    def test_finds_a_document_by_its_index(self, member, shop):
        order = create_order(shop.seller)
        values = {field.attname: getattr(order, field.attname) for field in Order._meta.fields}
        Order.objects.bulk_create(
            Order(
                **{**values, "id": None, "code": f"C-{n}", "tracking_code": f"T-{n}", "receiver_document": f"{n:011}"}
            )
            for n in range(500)
        )
        with connection.cursor() as cursor:
            cursor.execute("ANALYZE integration_order")

        with CaptureQueriesContext(connection) as captured:
            addresses(member, "000.000.000-77")

        plans = plans_of(captured, "integration_order")
        assert [each for each in plans if "order_receiver" in each and "'00000000077'" in each], plans[0]

    @pytest.mark.parametrize("text", ["..", " .-", "-/-"])
    def test_looks_for_no_empty_document(self, member, shop, text):
        with CaptureQueriesContext(connection) as captured:
            addresses(member, text)

        assert not [each for each in captured if "receiver_document" in each["sql"].partition("WHERE")[2]]

    def test_begins_with_what_is_named_so_and_marks_it(self, staff, shop):
        Integrator.objects.filter(pk=shop.integrator.pk).update(name="Ação <Order>")
        create_order(shop.seller, orderId="of ação")

        page = staff.get(SEARCH, {"q": "ação"}).content.decode()

        assert page.index("<mark>Ação</mark> &lt;Order&gt;") < page.index("of <mark>ação</mark>")

    def test_puts_a_name_before_those_that_begin_with_it_and_these_before_others(self, staff):
        named = {name: IntegratorFactory.create(name=name) for name in ("A lua", "Lua", "Lua nova", "Zé Lua")}

        found = [address.split("/")[3] for address in addresses(staff, "lua")]

        assert found == [str(named[name].pk) for name in ("Lua", "Lua nova", "A lua", "Zé Lua")]

    def test_finds_and_marks_decomposed_letters_by_composed_ones_and_back(self, staff, shop):
        Integrator.objects.filter(pk=shop.integrator.pk).update(name="Lui\u0301s")
        PickupPoint.objects.create(integrator=shop.integrator, name="Loja Luís", latitude=-23.5, longitude=-46.6)

        for text in ("luís", "lui\u0301s"):
            page = staff.get(SEARCH, {"q": text}).content.decode()

            assert "<mark>Luís</mark>" in page
            assert "Loja <mark>Luís</mark>" in page

    def test_says_what_it_looks_for_when_it_finds_nothing(self, member, shop):
        page = member.get(SEARCH, {"q": "<zz>"}).content.decode()

        assert "Nothing found for “&lt;zz&gt;”." in page
        assert "order number, id, receiver, end of a phone" in page

    def test_is_a_page_without_javascript(self, member, shop):
        page = member.get(SEARCH, {"q": shop.integrator.name}).content.decode()

        assert "<h1>" in page
        assert reverse("panel:overview", args=[shop.integrator.pk, "live"]) in page

    def test_asks_as_often_however_many_there_are(self, member, shop):
        with CaptureQueriesContext(connection) as few:
            addresses(member, "order")
        for number in range(5):
            create_order(shop.seller, orderId=f"order-{number}", trackingCode=f"order-{number}")
        with CaptureQueriesContext(connection) as many:
            addresses(member, "order")

        assert len(many) == len(few)

    def test_says_that_the_offer_of_a_delivery_comes_later(self, member, shop):
        ready = Window(timezone.now() + timedelta(hours=5))
        pickup = Place(point=PICKUP, address={}, contact_name="Shop", window=ready)
        scheduled = DeliveryFactory.create(token=shop.token, payload=validated_payload(pickup=pickup, stops=1))

        found = member.get(SEARCH, {"q": str(scheduled.pk)}).content.decode()

        assert badge(RouteStatus.SCHEDULED) in found


class TestWholeCodes:
    """Of rows that are not among the newest, of which alone parts are looked for, nor of a person's first account."""

    @pytest.fixture
    def old(self, shop, monkeypatch):
        """The keys of a delivery that has ended, of an order and of its invoice."""
        for module, name in ((search, "_NEWEST"), (filters, "NEWEST"), (filters, "_SCANNED"), (admin, "_NEWEST")):
            monkeypatch.setattr(module, name, 2)  # one of each environment of an account
        monkeypatch.setattr(search, "_MOST_OWN", 1)
        deliveries.cancel(delivery=shop.delivery, reason="", by=BY, at=timezone.now())
        order = create_order(shop.seller, orderId="MKT-2026-1", trackingCode="AA123456785BR")
        invoice = send_invoice(shop.seller, nfe_xml(items=["MKT-2026-1"]).encode())
        newer = order_body()["receiver"] | {"document": "111.444.777-35"}
        for number in range(2):
            DeliveryFactory.create(token=shop.token)
            create_order(shop.seller, orderId=f"B-{number}", receiver=newer)
        return {"delivery": shop.delivery.pk, "order": order.pk, "invoice": invoice.pk}

    @pytest.fixture
    def texts(self, old, shop):
        """The whole codes of each, and a part of one."""
        external_id = shop.delivery.ordered_stops[0].external_id
        return {
            "delivery": ([str(shop.delivery.pk), external_id], external_id[:-1]),
            "order": (["MKT-2026-1", "aa 123456785-br", "52998224725", ACCESS_KEY], "MKT-2026"),
            "invoice": ([ACCESS_KEY, "123"], None),  # of which no parts are looked for
        }

    @pytest.mark.parametrize("role", ["member", "dispatcher", "account staff"])
    def test_are_found(self, as_role, person, old, texts, shop, role):
        browser, user = as_role(role), User.objects.get(username=role.replace(" ", "-"))
        if role == "member":
            IntegratorFactory.create(name="0 is the first").members.add(user)
            SellerFactory.create(name="0 is the first", documents=()).members.add(user)
        pages = {
            "delivery": reverse("panel:delivery", args=[shop.integrator.pk, "live", old["delivery"]]),
            **{
                kind: reverse(f"panel:seller_{kind}", args=[shop.seller.pk, "live", old[kind]])
                for kind in ("order", "invoice")
            },
        }
        if role == "dispatcher":
            app = {"delivery": "delivery", "order": "integration", "invoice": "integration"}
            pages = {kind: reverse(f"admin:{app[kind]}_{kind}_change", args=[key]) for kind, key in old.items()}

        for kind, (whole, part) in texts.items():
            assert [text for text in whole if pages[kind] not in addresses(browser, text)] == []
            assert part is None or pages[kind] not in addresses(browser, part)

    @in_turn(
        ("role", "kind", "page"),
        [
            ("member", "delivery", "panel:deliveries"), ("member", "order", "panel:seller_orders"),
            ("member", "invoice", "panel:seller_invoices"), ("dispatcher", "delivery", "panel:board_search"),
            ("dispatcher", "delivery", "admin:delivery_delivery_changelist"),
            ("dispatcher", "order", "admin:integration_order_changelist"),
            ("dispatcher", "invoice", "admin:integration_invoice_changelist"),
        ],
    )  # fmt: skip  # a table
    def test_are_found_by_the_search_of_a_list(self, as_role, old, texts, shop, role, kind, page):
        browser, (whole, part) = as_role(role), texts[kind]
        owner = [shop.integrator.pk, "live"] if kind == "delivery" else [shop.seller.pk, "live"]
        address = reverse(page, args=owner if role == "member" else [])
        of_row = re.compile(rf"/(?:delivery|deliveries|order|orders|invoice|invoices)/{old[kind]}/")

        def found(text):
            response = browser.get(address, {"q": text})
            assert response.status_code == 200
            return bool(of_row.search(response.content.decode()))

        assert [text for text in whole if not found(text)] == []
        assert part is None or not found(part)


class TestReceivers:
    """Those of the newest deliveries and orders, by parts of their names and the ends of their phones."""

    @pytest.fixture
    def received(self, shop):
        """The pages of a delivery and of an order for the same person."""
        stop = Place(
            point=Point(*PICKUP),
            address={"street": "Rua Augusta", "number": "10"},
            contact_name="Zélia Prado",
            contact_phone="+55 (11) 96666-7788",
        )
        delivery = deliveries.request(
            token=shop.token, payload=validated_payload(dropoffs=[stop]), by=BY, at=timezone.now()
        )
        receiver = order_body()["receiver"] | {"name": "Zélia Prado", "cellphone": "11966667788"}
        order = create_order(shop.seller, receiver=receiver)
        return [
            reverse("panel:delivery", args=[shop.integrator.pk, "live", delivery.pk]),
            reverse("panel:seller_order", args=[shop.seller.pk, "live", order.pk]),
        ]

    @in_turn("text", ["zelia", "Prado", "7788", "96666-7788", "+55 11 96666-7788"])
    def test_are_found_by_their_members(self, member, received, text):
        assert addresses(member, text) == received

    @pytest.mark.parametrize("role", ["nobody", "stranger"])
    def test_are_not_found_by_others(self, as_role, received, role):
        browser = as_role(role)

        assert addresses(browser, "zelia") == addresses(browser, "7788") == []

    @pytest.mark.parametrize("text", ["778", "0055", "11 95555-7788", "7788x"])
    def test_are_not_found_by_what_is_no_end_of_their_phone(self, member, received, text):
        assert addresses(member, text) == []

    def test_are_not_found_once_they_were_forgotten(self, member, received):
        at = timezone.now()
        deliveries.cancel(delivery=Delivery.objects.latest("created_at"), reason="", by=BY, at=at)
        later = at + timedelta(days=400)
        assert forget_stops_of("5511966667788", until=later, at=later) == 1
        assert forget_orders_of(phone="11966667788", until=later, at=later) == 1

        assert addresses(member, "zelia") == addresses(member, "7788") == []

    def test_are_those_of_live_deliveries_first_and_of_further_ones_it_is_said(self, member, received, shop):
        token = TokenFactory.create(integrator=shop.integrator, environment="sandbox")
        stop = Place(point=Point(*PICKUP), address={}, contact_name="Zélia Lima", contact_phone="")
        more = "There are more."
        for _number in range(5):
            payload = validated_payload(dropoffs=[stop])
            deliveries.request(token=token, payload=payload, by=BY, at=timezone.now())
        whole = member.get(SEARCH, {"q": "zelia"}).content.decode()
        deliveries.request(token=token, payload=validated_payload(dropoffs=[stop]), by=BY, at=timezone.now())
        cut = member.get(SEARCH, {"q": "zelia"}).content.decode()

        assert more not in whole
        assert more in cut
        assert HREF.findall(cut)[0] == received[0]
        assert len(HREF.findall(cut)) == len(HREF.findall(whole)) == 7

    def test_stand_beside_what_was_found(self, member, received):
        page = member.get(SEARCH, {"q": "zelia"}).content.decode()

        assert "<mark>Zélia</mark> Prado · Rua Augusta, 10 · " in page


def test_of_results_that_fit_alike_live_ones_come_first():
    names = [("Ana 2", "sandbox"), ("Ana 2", "live"), ("Ana", "sandbox")]
    group = search.Group("", [search.Result(text, "", environment=environment) for text, environment in names])

    found = group.first(2, "ana")

    assert [(each.text, each.environment) for each in found.results] == [names[2], names[1]]
    assert found.has_more
