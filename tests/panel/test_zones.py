"""Moments in the panel by the clocks of the place: what is read, and what is typed."""

import re
from datetime import timedelta

import pgtrigger
import pytest
from django.contrib.auth import SESSION_KEY
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from common.files.table_files import read
from delivery.actions import deliveries
from delivery.errors import Closed
from delivery.models import Delivery, PickupPoint, WebhookEvent
from delivery.refusals import refusal
from delivery.windows import Window
from integration import refusals
from integration.errors import InvalidStatusReport
from integration.manifests import actions as manifests
from panel.dispatch import board
from panel.integrators.delivery_forms import DeliveryForm
from tests.delivery.receivers.links import text_of
from tests.factories import BY, DeliveryFactory, TariffFactory
from tests.integration.factories import create_order, nfe_xml, send_invoice
from tests.integration.papers.codes import texts_of
from tests.panel.conftest import table
from tests.panel.sellers.pages import url as seller_url
from tests.zones import AT_NOON, IN_EACH_ZONE, MANAUS, NOON, RIO_BRANCO, delivery_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def delivery(shop):
    TariffFactory.create()
    return lambda city, **values: delivery_in(city, token=shop.token, **values)


class TestPages:
    @IN_EACH_ZONE
    @pytest.mark.parametrize("page", ["delivery", "receipt", "cancel"])
    def test_of_one_delivery_have_its_time_and_say_so(self, member, url, delivery, city, page):
        found = delivery(city)

        text = text_of(member.get(url(page, found.pk)))

        assert f"Times: {city.name} time" in text
        if page == "delivery":
            assert f"from {NOON.astimezone(found.zone):%-d %b} {city.time}" in text
            assert f"{found.created_at.astimezone(found.zone):%H:%M}" in text  # requested

    def test_of_a_place_with_the_installations_time_do_not_say_whose_it_is(self, member, url, shop):
        assert "Times:" not in text_of(member.get(url("delivery", Delivery.objects.get().pk)))

    @IN_EACH_ZONE
    def test_with_several_have_each_row_in_its_own(self, member, url, delivery, city):
        found = delivery(city)

        text = text_of(member.get(url("deliveries")))

        assert f"{found.created_at.astimezone(found.zone):%H:%M} ({city.name} time)" in text
        assert text.count(f"({city.name} time)") == 2  # when it was requested, and its window

    def test_of_the_board_have_each_card_in_its_own(self, delivery):
        found = delivery(MANAUS)

        (row,) = (each for each in board.routes("live") if each["id"] == str(found.pk))
        (card,) = board.cards("live", [found.pk]).values()

        assert row["zone"] == ["America/Manaus", "Manaus"]
        assert re.search(r"from \d+ \w+ 11:00", card)
        assert "(Manaus time)" in card

    def test_of_an_event_have_the_time_of_its_delivery(self, member, url, delivery):
        found = delivery(MANAUS)
        event = WebhookEvent.objects.filter(delivery=found).latest("created_at")

        text = text_of(member.get(url("event", event.pk)))

        assert "Times: Manaus time" in text
        assert f"{event.created_at.astimezone(found.zone):%H:%M:%S}" in text


class TestWorkbooks:
    @pytest.fixture
    def pages(self, shop, url, seller):
        create_order(seller)
        send_invoice(seller, nfe_xml().encode())
        ended = DeliveryFactory.create(token=shop.token)
        deliveries.cancel(delivery=ended, reason="-", by=BY, at=timezone.now())
        reports = url("report_deliveries_export")
        of_seller = [seller_url(name, seller) for name in ("seller_orders_export", "seller_invoices_export")]
        return [url("deliveries_export"), url("events_export"), reports, *of_seller]

    def test_name_the_zone_of_each_column_of_moments(self, member, pages):
        for page in pages:
            heading, row, *_others = read(b"".join(member.get(page, {"format": "xlsx"})))
            moments = {
                name
                for name, cell in zip(heading.cells, row.cells, strict=False)
                if re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", cell)
            }

            assert moments, page
            assert {name for name in moments if not name.endswith(" (Brasília time)")} == set()

    def test_of_programs_have_headings_without_it(self, member, pages):
        for page in pages:
            assert "Brasília time" not in b"".join(member.get(page)).decode()


class TestTypedMoments:
    @pytest.fixture
    def point(self, shop):
        place = {"latitude": MANAUS.point.latitude, "longitude": MANAUS.point.longitude}
        return PickupPoint.objects.create(integrator=shop.integrator, name="Manaus", **place)

    def test_of_a_form_are_by_the_clocks_of_the_pickup(self, point):
        form = DeliveryForm(
            {"a-point": str(point.pk), "a_ready_at": f"{NOON:%Y-%m-%d}T11:00"},
            environment="live",
            points=[point],
            anywhere=False,
        )

        assert form.windows.of("a") == AT_NOON

    def test_of_an_upload_are_too(self, member, url, point):
        TariffFactory.create()
        place = f"{MANAUS.point.latitude};{MANAUS.point.longitude}"
        rows = f"Pickup point;Recipient;latitude;longitude;Collect from\nManaus;Ana;{place};{NOON:%d/%m/%Y} 11:00"
        page = member.post(url("upload"), {"file": SimpleUploadedFile("a.csv", rows.encode())}).url
        for step in ("advance/", "confirm/", "advance/"):
            member.post(f"{page}{step}")

        assert Delivery.objects.get(token=None).window == Window(NOON)

    def test_a_day_of_an_upload_is_one_of_the_pickups(self, member, url, point, monkeypatch):
        TariffFactory.create()
        person = User.objects.get(pk=member.session[SESSION_KEY])
        evening = NOON.replace(hour=3, minute=30)  # 23:30 in Manaus; tomorrow there is today for the installation
        monkeypatch.setattr(timezone, "now", lambda: evening)
        member.force_login(person)
        place, tomorrow = f"{MANAUS.point.latitude};{MANAUS.point.longitude}", NOON.astimezone(MANAUS.zone)
        rows = f"Pickup point;Recipient;latitude;longitude;Collect from\nManaus;Ana;{place};{tomorrow:%d/%m/%Y}"
        page = member.post(url("upload"), {"file": SimpleUploadedFile("a.csv", rows.encode())}).url
        for step in ("advance/", "confirm/", "advance/"):
            member.post(f"{page}{step}")

        assert Delivery.objects.get(token=None).window == Window(tomorrow.replace(hour=8))


def test_a_refusal_says_when_it_opens_by_the_clocks_of_the_pickup():
    error = Closed("It opens %(opens)s.", opens=NOON.astimezone(MANAUS.zone))

    assert re.search(r"11:00 \(Manaus time\)", refusal(error))


class TestSellersPages:
    """Their parcels leave from Rio Branco."""

    @pytest.fixture
    def order(self, seller):
        seller.companies.update(postcode=RIO_BRANCO.postcode.replace("-", ""))
        return create_order(seller)

    @pytest.fixture
    def manifest(self, seller, order):
        return manifests.create(seller=seller, environment="live", orders=[order], by=BY, at=timezone.now())

    def test_have_the_time_of_its_company(self, member, seller, order, manifest):
        pages = [
            ("seller_orders",),
            ("seller_order", order.pk),
            ("seller_manifests",),
            ("seller_manifest", manifest.pk),
        ]

        texts = [text_of(member.get(seller_url(name, seller, *keys))) for name, *keys in pages]

        made = [f"{row.created_at.astimezone(RIO_BRANCO.zone):%H:%M}" for row in (order, order, manifest, manifest)]
        assert all("Times: Rio Branco time" in text for text in texts)
        assert all(time in text for time, text in zip(made, texts, strict=True))

    def test_read_typed_moments_in_it(self, staff, seller, order):
        ago = timezone.now().replace(second=0, microsecond=0)
        with pgtrigger.ignore():
            order.status_log.update(created_at=ago - timedelta(hours=1))
        typed = f"{ago.astimezone(RIO_BRANCO.zone):%Y-%m-%dT%H:%M}"

        staff.post(
            seller_url("seller_order_move", seller, order.pk),
            {"target": "collected", "place": "", "happened_at": typed},
        )

        assert order.status_log.latest("pk").happened_at == ago

    def test_read_those_of_a_filter_in_it_and_say_so(self, member, seller, order):
        made = timezone.localtime(order.created_at, RIO_BRANCO.zone)
        query = {"since": f"{made - timedelta(minutes=2):%Y-%m-%dT%H:%M}"}
        query["until"] = f"{made + timedelta(minutes=2):%Y-%m-%dT%H:%M}"

        page = member.get(seller_url("seller_orders", seller), query)
        file = table(member.get(seller_url("seller_orders_export", seller), query))

        assert order.code in text_of(page)
        assert text_of(page).count("By the clocks of Rio Branco.") == 2
        assert [row["orderId"] for row in file] == [order.code]

    def test_of_paper_name_the_zone(self, member, seller, manifest):
        (text,) = texts_of(member.get(seller_url("seller_manifest_file", seller, manifest.pk)).content)

        assert re.search(rf"{manifest.created_at.astimezone(RIO_BRANCO.zone):%H:%M:%S} \(horário de Rio Branco\)", text)


def test_a_refused_event_of_an_order_says_whose_time_it_tells():
    last = timezone.now().replace(microsecond=0)
    error = InvalidStatusReport("moment_before_the_last", "occurredAt", last=last.isoformat())

    assert f"{timezone.localtime(last):%H:%M:%S} (Brasília time)." in refusals.refusal(error)


def test_pages_of_the_admin_have_the_time_of_the_pickup(admin_client, delivery):
    found = delivery(MANAUS)

    text = text_of(admin_client.get(f"/admin/delivery/delivery/{found.pk}/change/", headers={"Accept-Language": "en"}))

    assert "Times: Manaus time" in text
    assert f"from {NOON.astimezone(found.zone):%-d %b} 11:00" in text


def test_the_frames_say_whose_time_other_pages_tell(member, url, admin_client):
    shown = [member.get(url("overview")), admin_client.get("/admin/", headers={"Accept-Language": "en"})]

    assert ["Times of Brasília unless another place is named" in text_of(page) for page in shown] == [True, True]
