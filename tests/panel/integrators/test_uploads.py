"""Deliveries from an uploaded CSV file."""

import re
from dataclasses import replace
from datetime import timedelta
from html import unescape
from uuid import UUID

import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.urls import reverse
from django.utils import timezone

from access.tasks import prune_uploads
from common import clock
from common.files import kept_uploads
from common.models import KeptUpload
from delivery.actions import deliveries
from delivery.models import AccountScope, Delivery, Tariff
from delivery.places.models import LocatedAddress
from panel.integrators import uploads
from tests.common.workbooks import workbook
from tests.factories import BY, DROPOFFS, DeliveryFactory, PickupPointFactory, TariffFactory, validated_payload

HEADER = "Order number;Recipient;Street;latitude;longitude;Weight each (kg);PIN"
PLACE = "{};{}".format(*DROPOFFS[0])


@pytest.fixture(autouse=True)
def tariff(db):
    return TariffFactory.create()


@pytest.fixture
def upload(member, url):
    """Upload a file with these rows, and return the address of its page."""

    def send(*rows, header=HEADER, content=b""):
        content = content or "\n".join([header, *rows]).encode()
        answer = member.post(url("upload"), {"file": SimpleUploadedFile("today.csv", content)})
        return answer.url if answer.status_code == 302 else answer.content.decode()

    return send


@pytest.fixture
def advance(member):
    """Work on an upload until its present step is over, and return the text of its page."""

    def go_on(page):
        while "advance/" in (text := member.get(page).content.decode()):
            member.post(f"{page}advance/")
        return re.sub(r"\s+", " ", text)

    return go_on


class TestPreview:
    def test_has_the_price_of_each_row_and_requests_nothing(self, upload, advance):
        text = advance(upload(f"P-1;Ana;Rua Augusta;{PLACE};1,5;sim", f"P-2;Bia;;{PLACE};;"))

        assert "2 deliveries can be requested for R$ 24.00" in text
        assert Delivery.objects.count() == 1  # the shop's

    def test_names_line_and_column_of_each_fault(self, upload, advance):
        text = advance(upload(f"P-1;Ana;;{PLACE};x;", "P-2;Bia;;0;0;;", f"P-1;Caio;;{PLACE};;"))

        faults = re.findall(r"<b>([^<]+):</b> ([^<]+)</span>|bad-text\"> ?([^<]+)</span>", text)
        assert [(column, fault or other) for column, fault, other in faults] == [
            ("Weight each (kg)", "&#x27;x&#x27; is not a number"),
            ("latitude", "&#x27;0&#x27;: This place is outside the area that this service serves."),
            ("", "repeats line 2"),
        ]

    def test_refuses_telephones_of_which_a_spreadsheet_has_left_a_few_digits(self, upload, advance):
        text = advance(upload(f"P-1;Ana;5,51198E+12;{PLACE}", header="Order number;Recipient;Phone;latitude;longitude"))

        assert "A spreadsheet has cut the digits of this number" in text

    def test_reads_a_workbook_as_it_reads_a_csv_file(self, upload, advance):
        raw = workbook([HEADER.split(";"), ["P-1", "Ana", "Rua Augusta", *DROPOFFS[0], 1.5, True]])

        text = advance(upload(content=raw))

        assert "1 delivery can be requested for R$ 12.00" in text

    def test_names_what_is_accepted_where_a_cell_is_none_of_it(self, upload, advance):
        header = "latitude;longitude;Photo;Vehicle;Route;Pickup point;Deliver by"
        text = unescape(advance(upload(f"{PLACE};perhaps;Train;Zigzag;Nowhere;tomorrow", header=header)))

        for fault in (
            "Photo:</b> 'perhaps' is none of: Yes, No",
            "Vehicle:</b> 'Train' is none of: Motorcycle, Car",
            "Route:</b> 'Zigzag' is none of: ",
            "Pickup point:</b> 'Nowhere' is none of: ",
            "Deliver by:</b> 'tomorrow': Write it as 28/11/2026 14:30.",
        ):
            assert fault in text

    @pytest.mark.parametrize("word", ["", "não", "No", "FALSO", "0", "-"])
    def test_takes_no_for_no(self, member, upload, advance, word):
        page = upload(f"P-1;Ana;;{PLACE};;{word}")
        advance(page)
        member.post(f"{page}confirm/")
        advance(page)

        assert not hasattr(Delivery.objects.get(token=None).ordered_stops[0], "options")

    def test_restores_the_zero_of_a_cep_that_a_spreadsheet_has_made_a_number(self, member, upload, advance):
        raw = workbook([["Recipient", "CEP", "latitude", "longitude"], ["Ana", 1310200, *DROPOFFS[0]]])
        page = upload(content=raw)
        advance(page)
        member.post(f"{page}confirm/")
        advance(page)

        assert Delivery.objects.get(token=None).ordered_stops[0].address["zipcode"] == "01310200"

    def test_names_the_value_of_a_fault_in_a_workbook(self, upload, advance):
        raw = workbook([HEADER.split(";"), ["P-1", "Ana", "", *DROPOFFS[0], "much", ""]])

        assert "Weight each (kg):</b> &#x27;much&#x27; is not a number" in advance(upload(content=raw))

    def test_undoes_what_keeps_a_spreadsheet_from_formulas(self, member, upload, advance):
        header = "Order number;Recipient;Phone;latitude;longitude;;\r\n"
        row = f'"=""0012""";\'Ana;\'+55 11 97777-0001;{PLACE};;'
        page = upload(content=f"sep=;\r\n{header}{row}\r\n".encode())
        advance(page)
        member.post(f"{page}confirm/")
        advance(page)

        stop = Delivery.objects.get(token=None).ordered_stops[0]
        assert (stop.external_id, stop.contact_name, stop.contact_phone) == ("0012", "Ana", "+55 11 97777-0001")

    def test_says_where_latitude_and_longitude_are_swapped(self, upload, advance):
        text = advance(upload("P-1;Ana;;-46.65;-23.56;;"))

        outside = "This place is outside the area that this service serves."
        assert f"{outside} Latitude and longitude seem to be swapped." in text

    def test_of_an_unknown_column_is_refused(self, upload):
        assert "Unknown column &#x27;Colour&#x27;" in upload("red", header="Colour")

    @pytest.mark.parametrize("form", ["csv", "xlsx"])
    @pytest.mark.parametrize("language", ["en", "pt-BR"])
    def test_has_the_template_as_an_example(self, member, url, upload, advance, form, language):
        headers = {"Accept-Language": language}
        page = upload(content=b"".join(member.get(url("upload_template"), {"format": form}, headers=headers)))
        advance(page)
        member.post(f"{page}confirm/")
        advance(page)

        stop = Delivery.objects.get(token=None).ordered_stops[0]
        assert (stop.external_id, stop.contact_phone) == ("P-1001", "+55 11 97777-0001")
        assert (stop.address["zipcode"], stop.delivery.packages[0]["weight"]) == ("01304000", 1.5)

    def test_of_another_account_is_not_found(self, member, upload, shop):
        page = upload(f"P-1;Ana;;{PLACE};;")

        other = page.replace("/live/", "/sandbox/")

        assert member.get(other).url == reverse("panel:upload", args=[shop.integrator.pk, "sandbox"])
        assert member.post(f"{other}advance/").status_code == 404

    def test_is_not_gone_past_without_a_confirmation(self, member, upload, advance):
        page = upload(f"P-1;Ana;;{PLACE};;")
        advance(page)

        member.post(f"{page}advance/")

        assert Delivery.objects.count() == 1


class TestWindows:
    HEADER = "Recipient;latitude;longitude;Collect from;Deliver by"

    def test_of_a_row_schedule_its_delivery(self, member, upload, advance):
        ready, until = (timezone.localtime() + timedelta(hours=hours) for hours in (2, 4))
        page = upload(f"Bia;{PLACE};{ready:%d/%m/%Y %H:%M};{until:%Y-%m-%d %H:%M}", header=self.HEADER)
        advance(page)
        member.post(f"{page}confirm/")
        advance(page)

        made = Delivery.objects.get(token=None)
        assert made.route_status == "SCHEDULED"
        assert made.scheduled_for == ready.replace(second=0, microsecond=0)
        assert made.deadline_at == until.replace(second=0, microsecond=0)

    def test_of_days_without_times_are_from_the_morning_and_until_the_end(self, member, upload, advance):
        day = timezone.localdate() + timedelta(days=1)
        page = upload(f"Bia;{PLACE};{day:%d/%m/%Y};{day:%d/%m/%Y}", header=self.HEADER)
        advance(page)
        member.post(f"{page}confirm/")
        advance(page)

        made = Delivery.objects.get(token=None)
        moments = [timezone.localtime(moment) for moment in (made.scheduled_for, made.ordered_stops[0].deadline_at)]
        assert [f"{moment:%Y-%m-%d %H:%M}" for moment in moments] == [f"{day} 08:00", f"{day} 23:59"]

    def test_of_today_without_times_begin_now(self, upload, advance):
        today = timezone.localdate()

        assert "1 delivery can be requested" in advance(upload(f"Bia;{PLACE};{today:%d/%m/%Y};", header=self.HEADER))

    def test_that_break_a_rule_are_a_fault_of_their_column(self, upload, advance):
        ready = timezone.localtime() + timedelta(hours=2)

        text = advance(upload(f"Bia;{PLACE};{ready:%d/%m/%Y %H:%M};{ready:%d/%m/%Y %H:%M}", header=self.HEADER))

        assert re.search(r"<b>Deliver by:</b> &#x27;[^<]+: The deadline of a drop-off", text)


class TestConfirmation:
    def test_requests_each_row_once(self, member, upload, advance):
        page = upload(f"P-1;Ana;Rua Augusta;{PLACE};1,5;sim", f";Bia;;{PLACE};;", "P-3;Caio;;0;0;;")
        advance(page)

        for _twice in range(2):
            member.post(f"{page}confirm/")
            text = advance(page)

        assert "2 deliveries requested" in text
        made = Delivery.objects.exclude(token__isnull=False)
        assert {each.ordered_stops[0].contact_name for each in made} == {"Ana", "Bia"}
        assert made.get(stops__external_id="P-1").ordered_stops[0].options.pin

    def test_takes_mode_and_policy_by_their_names_and_codes(self, member, upload, advance):
        rows = [f"{PLACE};Dos pontos até A;", f"{PLACE};;One more attempt", f"{PLACE};RETURN;LEAVE"]
        page = upload(*rows, header="latitude;longitude;Route;If it cannot be delivered")
        advance(page)

        member.post(f"{page}confirm/")
        advance(page)

        made = Delivery.objects.exclude(token__isnull=False).prefetch_related("stops__options")
        options = [getattr(each.ordered_stops[0], "options", None) for each in made]
        found = {(each.mode, option and option.on_failure) for each, option in zip(made, options, strict=True)}
        assert found == {("REVERSE", None), ("DEFAULT", "RETRY"), ("RETURN", "LEAVE")}

    def test_makes_no_second_delivery_of_a_row_that_is_uploaded_again(self, member, upload, advance):
        rows = [f"P-1;Ana;;{PLACE};;", f";Bia;;{PLACE};;"]
        for _twice in range(2):
            page = upload(*rows)
            advance(page)
            member.post(f"{page}confirm/")
            text = advance(page)

        assert text.count("Requested before") == 2
        assert Delivery.objects.count() == 3

    def test_requests_a_row_again_whose_delivery_has_failed(self, member, upload, advance):
        for _twice in range(2):
            page = upload(f";Bia;;{PLACE};;")
            advance(page)
            member.post(f"{page}confirm/")
            text = advance(page)
            made = Delivery.objects.filter(token=None).latest("created_at")
            deliveries.cancel(delivery=made, reason="", by=BY, at=timezone.now())

        assert "1 delivery requested" in text
        assert Delivery.objects.filter(token=None).count() == 2

    def test_has_the_sender_of_the_time_of_the_upload(self, member, upload, advance, shop):
        page = upload(f";Bia;;{PLACE};;")
        advance(page)
        other = validated_payload(stops=1)
        other = replace(other, pickup=replace(other.pickup, contact_name="Another sender"))
        DeliveryFactory.create(token=shop.token, payload=other)
        sender = shop.delivery.contact_name

        member.post(f"{page}confirm/")
        advance(page)

        assert Delivery.objects.get(token=None).contact_name == sender

    def test_has_the_senders_address_at_the_senders_own_pickup_point_only(self, member, upload, advance, shop):
        payload = validated_payload(stops=1)
        place = replace(payload.pickup, contact_name="Ana", address={"street": "Rua da Loja"})
        DeliveryFactory.create(token=shop.token, payload=replace(payload, pickup=place))
        PickupPointFactory.create(integrator=shop.integrator, name="Depot", latitude=-23.57, longitude=-46.65)
        page = upload(f"Paulista;{PLACE}", f"Depot;{PLACE}", header="Pickup point;latitude;longitude")
        advance(page)

        member.post(f"{page}confirm/")
        advance(page)

        made = Delivery.objects.filter(token=None).order_by("created_at")
        assert [(each.contact_name, each.address.get("street")) for each in made] == [
            ("Ana", "Rua da Loja"), ("Ana", ""),
        ]  # fmt: skip  # rows of a table

    def test_keeps_the_price_that_was_shown_for_ten_minutes(self, member, upload, advance):
        page = upload(f"P-1;Ana;;{PLACE};;")
        advance(page)
        Tariff.objects.update(base_fare=100)

        member.post(f"{page}confirm/")
        advance(page)

        assert Delivery.objects.get(token=None).shipping_value == 12

    @pytest.mark.parametrize(("fare", "text"), [(10, "1 delivery requested"), (100, "The price has changed.")])
    def test_compares_it_with_a_new_one_after_that(self, member, upload, advance, monkeypatch, fare, text):
        page = upload(f"P-1;Ana;;{PLACE};;")
        advance(page)
        Tariff.objects.update(base_fare=fare)
        later = timezone.now() + timedelta(minutes=11)
        monkeypatch.setattr(clock, "now", lambda: later)

        member.post(f"{page}confirm/")

        assert text in advance(page)

    def test_refuses_a_row_whose_window_is_over_by_then(self, member, upload, advance, monkeypatch):
        until = timezone.localtime() + timedelta(minutes=30)
        page = upload(f"Bia;{PLACE};{until:%d/%m/%Y %H:%M}", header="Recipient;latitude;longitude;Collect by")
        advance(page)
        later = timezone.now() + timedelta(minutes=20)
        monkeypatch.setattr(clock, "now", lambda: later)

        member.post(f"{page}confirm/")

        assert re.search(r"<b>Collect by:</b> The deadline of the pickup", advance(page))
        assert not Delivery.objects.filter(token=None).exists()

    def test_asks_geocoder_and_routing_engine_once_for_a_row(
        self, member, upload, advance, settings, geocoder, routing_server
    ):
        settings.GEOCODER_URL, settings.ROUTING_URL = geocoder.url, routing_server.url
        page = upload("Ana;Rua Augusta;500", "Bia;Rua Augusta;501", header="Recipient;Street;Number")
        advance(page)
        LocatedAddress.objects.all().delete()  # where addresses are remembered

        member.post(f"{page}confirm/")
        advance(page)

        assert Delivery.objects.filter(token=None).count() == 2
        assert (len(geocoder.queries), len(routing_server.paths)) == (2, 2)


class TestKeptUpload:
    def test_does_not_hang_on_the_cache(self, member, upload):
        page = upload(f"P-1;Ana;;{PLACE};;")
        cache.clear()

        assert member.get(page).status_code == 200

    def test_is_not_much_larger_than_its_file(self, upload):
        """A letter of two bytes was kept as six."""
        text = "ã" * 490
        upload(*[f"P-{number};{text};;{PLACE};;" for number in range(280)])

        assert len(KeptUpload.objects.get().ciphertext) < 2 * uploads.MOST_BYTES

    def test_that_would_be_larger_is_refused(self, upload):
        columns = [str(label) for label in uploads.COLUMNS.values()]
        row = ";".join("\x01" * 17 for _column in columns)  # each of which is six characters of JSON

        page = upload(*[f"{row}{number}" for number in range(490)], header=";".join(columns))

        assert "At most 500 rows and 300 kB" in page
        assert not KeptUpload.objects.exists()

    def test_has_a_few_short_faults_of_each_row(self, upload, advance, shop):
        columns = [str(label) for label in uploads.COLUMNS.values()]

        page = upload(";".join("ã" * 500 for _column in columns), header=";".join(columns))
        advance(page)

        found = uploads.find(UUID(page.split("/")[-2]), scope=AccountScope(shop.integrator, "live"))
        assert found
        (row,) = found.rows
        assert len(row.faults) == 5
        assert max(len(text) for _column, text in row.faults) <= 200

    def test_is_worked_on_alone_of_its_account(self, member, upload, shop):
        page, other = (upload(f"P-{number};Ana;;{PLACE};;") for number in range(2))
        owner = f"integrator {shop.integrator.pk}"
        kept = KeptUpload.objects.get(pk=other.split("/")[-2])
        assert kept_uploads.claim(kept.pk, owner=owner, at=timezone.now())

        text = member.post(f"{page}advance/", headers={"HX-Request": "true"}).content.decode()
        assert "0 of 1" in text
        assert "Another file of this account is being worked on." in text

        kept_uploads.release(kept.pk)
        text = member.post(f"{page}advance/", headers={"HX-Request": "true"}).content.decode()
        assert "1 delivery can" in re.sub(r"\s+", " ", text)

    @pytest.mark.parametrize("made", [-31, 86_400])
    def test_is_free_after_a_claim_that_was_lost_or_made_by_a_wrong_clock(self, member, upload, shop, made):
        page = upload(f"P-1;Ana;;{PLACE};;")
        owner, now = f"integrator {shop.integrator.pk}", timezone.now()
        kept_uploads.claim(UUID(page.split("/")[-2]), owner=owner, at=now + timedelta(seconds=made))

        member.post(f"{page}advance/")

        assert KeptUpload.objects.get().busy_until is None
        assert "1 delivery can" in re.sub(r"\s+", " ", member.get(page).content.decode())

    @pytest.mark.django_db(transaction=True)
    def test_is_deleted_with_the_people_in_it_when_it_is_over(self, upload, member):
        page = upload(f"P-1;Ana;;{PLACE};;")
        KeptUpload.objects.update(expires_at=timezone.now())

        prune_uploads()

        assert not KeptUpload.objects.exists()
        assert "This upload is over." in member.get(page, follow=True).content.decode()
