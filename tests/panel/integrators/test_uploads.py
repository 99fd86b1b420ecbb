"""Deliveries from an uploaded CSV file."""

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
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
from common.postgresql.forgetting import forgetting
from delivery.actions import deliveries
from delivery.models import AccountScope, Delivery, Simulation, Tariff
from delivery.payload import Place
from delivery.places.models import LocatedAddress
from panel import uploaded_rows
from panel.integrators import uploads
from tests.cases import in_turn
from tests.common.workbooks import workbook
from tests.delivery.places.table import fill, houses
from tests.factories import (
    BY,
    DROPOFFS,
    PICKUP,
    DeliveryFactory,
    PickupPointFactory,
    TariffFactory,
    TokenFactory,
    validated_payload,
)
from tests.zones import RIO_BRANCO

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
        text = advance(upload(f"P-1;Ana;Rua Augusta;{PLACE};1,5;sim", f"P-2;Bia;;{PLACE.replace('.', ',')};;"))

        assert "2 deliveries can be requested for R$ 24.00" in text
        assert Delivery.objects.count() == 1  # the shop's

    def test_has_rows_first_of_which_no_house_is_known(self, upload, advance):
        """A house between two others is near enough. What is not found is corrected in the file, without a map."""
        fill(
            houses("Rua Augusta", [500, 600], postcode="01304000"),
            houses("Rua Chile", [5], postcode="01305000"),
            houses("Rua Chile", [5], postcode="01306000", start=(-23.6, -46.7)),
        )
        rows = [
            "1;R. Augusta;550;01304-000;", "2;R. Augusta;;01304-000;", "3;Rua Agusta;500;01304-000;",
            "4;Rua da Feira;5;99999-999;", "5;Rua Chile;5;;São Paulo",
        ]  # fmt: skip  # a table
        page = upload(*rows, header="Order number;Street;Number;CEP;City")

        text = unescape(advance(page))

        notes = re.findall(r'<td class="fact">(\d)</td>|warn-text">([^<]+)<|bad-text"> ?<b>Street:</b> ([^<]+)<', text)
        assert [next(filter(None, each)) for each in notes] == [
            "4",
            ("'Rua da Feira': No place was found for this address."
            " Correct street and CEP, or write latitude and longitude."),
            "5",
            ("More than one place fits this address, such as Rua Chile, 5, São Paulo/SP, 01305-000."
            " Write CEP and district."),
            "2",
            "only the street was found, not the house",
            "3",
            "only the area of the CEP was found",
            "1",
        ]  # fmt: skip  # numbers of orders, each with what its row says

    def test_names_line_and_column_of_each_fault(self, upload, advance):
        rows = [f"P-1;Ana;;{PLACE};x;", "P-2;Bia;;0;0;;", f"P-1;Caio;;{PLACE};;", *[f";Eva;;{PLACE};;"] * 3]
        text = advance(upload(*rows, f"P-3;Ivo;;{PLACE};;;more"))

        faults = re.findall(r"<b>([^<]+):</b> ([^<]+)</span>|bad-text\"> ?([^<]+)</span>", text)
        assert [(column, fault or other) for column, fault, other in faults] == [
            ("Weight each (kg)", "&#x27;x&#x27; is not a number"),
            ("latitude", "&#x27;0&#x27;: This place is outside the area that this service serves."),
            ("", "repeats line 2"),
            ("", "repeats line 5"),
            ("", "repeats line 5"),
            ("", "The row has more cells than the file has headings."),
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

    @in_turn("word", ["", "não", "No", "FALSO", "0", "-"])
    def test_takes_no_for_no(self, member, upload, advance, word):
        page = upload(f"P-1;Ana;;{PLACE};;{word}")
        advance(page)
        member.post(f"{page}confirm/")
        advance(page)

        assert not hasattr(Delivery.objects.get(token=None).ordered_stops[0], "options")

    def test_restores_the_zero_of_a_cep_that_a_spreadsheet_has_made_a_number(self, member, upload, advance):
        header = ["Recipient", "CEP", "Number", "latitude", "longitude"]
        raw = workbook([header, ["Ana", 1310200, 1310200, *DROPOFFS[0]]])
        page = upload(content=raw)
        advance(page)
        member.post(f"{page}confirm/")
        advance(page)

        address = Delivery.objects.get(token=None).ordered_stops[0].address
        assert (address["zipcode"], address["number"]) == ("01310200", "1310200")

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

    @pytest.mark.parametrize(
        ("header", "fault"),
        [
            ("Recipient;Colour", "Unknown column 'Colour'"),
            ("Recipient;Destinatário", "The column 'Destinatário' occurs twice."),
        ],
    )
    def test_of_a_column_that_is_unknown_or_there_already_is_refused(self, upload, header, fault):
        assert fault in unescape(upload("Ana;Bia", header=header))

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

    def test_is_not_gone_past_without_a_confirmation_of_its_prices(self, member, upload, advance):
        page = upload(f"P-1;Ana;;{PLACE};;")
        member.post(f"{page}confirm/")  # before there are any
        advance(page)

        member.post(f"{page}advance/")

        assert Delivery.objects.count() == 1


class TestSender:
    """Who sends the rows that name nobody, and from where."""

    HEADER = "Pickup point;Recipient;latitude;longitude"

    @pytest.fixture
    def avenue(self, shop):
        """The newest delivery of the account, from its first pickup point, which has an address now."""
        pickup = Place(PICKUP, {"street": "Avenida Paulista"}, contact_name="Loja", contact_phone="+55 11 3333-1111")
        return DeliveryFactory.create(token=shop.token, payload=validated_payload(stops=1, pickup=pickup))

    def further(self, shop, name="Loja 2", at=DROPOFFS[1]):
        place = dict(zip(("latitude", "longitude"), at, strict=True))
        return PickupPointFactory.create(integrator=shop.integrator, name=name, **place)

    def made(self):
        rows = Delivery.objects.filter(token=None).order_by("pk")
        return {(row.contact_name, row.address.get("street", ""), row.latitude) for row in rows}

    def test_has_the_address_of_the_pickup_point_that_it_is_at(self, member, upload, advance, shop, avenue):
        self.further(shop)
        page = upload(f"Loja 2;Ana;{PLACE}", f";Bia;{PLACE}", header=self.HEADER)
        advance(page)
        member.post(f"{page}confirm/")
        advance(page)

        assert self.made() == {("Loja", "", DROPOFFS[1].latitude), ("Loja", "Avenida Paulista", PICKUP.latitude)}

    def test_is_at_another_pickup_point_once_that_is_the_only_one(self, member, upload, advance, shop, avenue):
        """Where the same row is another delivery."""
        for moves_on in (False, True):
            if moves_on:
                shop.integrator.pickup_points.update(active=False)
                self.further(shop)
            page = upload(f";Bia;{PLACE}", header=self.HEADER)
            advance(page)
            member.post(f"{page}confirm/")
            text = advance(page)
            assert "1 delivery requested" in text

        assert self.made() == {("Loja", "Avenida Paulista", PICKUP.latitude), ("Loja", "", DROPOFFS[1].latitude)}
        shop.integrator.pickup_points.update(active=False)
        for name in ("Loja 3", "Loja 4"):
            self.further(shop, name, DROPOFFS[2])
        assert "<b>Pickup point:</b>" in advance(upload(f";Caio;{PLACE}", header=self.HEADER))

    def test_is_that_of_the_newest_delivery_that_has_people(self, member, upload, advance, shop, avenue):
        token = TokenFactory.create(integrator=shop.integrator, sandbox=True)
        tested = Place(PICKUP, {}, contact_name="Tester", contact_phone="+55 11 3333-2222")
        DeliveryFactory.create(token=token, payload=validated_payload(stops=1, pickup=tested))
        with forgetting():
            anonymous = {"contact_name": "", "contact_phone": "", "forgotten_at": timezone.now()}
            Delivery.objects.filter(pk=avenue.pk).update(**anonymous)
        page = upload(f";Bia;{PLACE}", header=self.HEADER)
        advance(page)
        member.post(f"{page}confirm/")
        advance(page)

        assert self.made() == {(shop.delivery.contact_name, "", PICKUP.latitude)}


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

    def test_of_days_are_those_of_the_pickups_calendar(self, shop, monkeypatch):
        """There it is the 28th yet, and the 29th where the service is."""
        monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 11, 29, 4, tzinfo=UTC))
        place = dict(zip(("latitude", "longitude"), RIO_BRANCO.point, strict=True))
        point = PickupPointFactory.create(integrator=shop.integrator, name="Acre", **place)
        work = uploads.Work(uploads.Draft("live", "", []), AccountScope(shop.integrator, "live"), BY, [point])

        begin = {}
        for day in (28, 29):
            values, wrong = work._read(uploads.Row(2, {"a-point": "Acre", "a_ready_at": f"{day}/11/2026"}))
            assert wrong == {}
            begin[day] = values["a_ready_at"]

        assert begin == {28: "", 29: "2026-11-29 08:00"}

    def test_that_break_a_rule_are_a_fault_of_their_column(self, upload, advance):
        ready = timezone.localtime() + timedelta(hours=2)

        text = advance(upload(f"Bia;{PLACE};{ready:%d/%m/%Y %H:%M};{ready:%d/%m/%Y %H:%M}", header=self.HEADER))

        assert re.search(r"<b>Deliver by:</b> &#x27;[^<]+: The deadline of a drop-off", text)


class TestConfirmation:
    @pytest.mark.parametrize("seconds", [1, 0], ids=["at once", "one row at a time"])
    def test_requests_each_row_once(self, member, upload, advance, monkeypatch, seconds):
        monkeypatch.setattr(uploaded_rows, "PORTION_SECONDS", seconds)
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

    @pytest.mark.parametrize(("photo", "pin"), [("x", "não"), ("não", "x")])
    def test_takes_each_column_to_where_it_belongs(self, member, upload, advance, photo, pin):
        TariffFactory.create(vehicle_type="CAR")
        cells = {
            "Sender": "Loja", "Sender's phone": "+55 11 3333-1111", "Recipient": "Ana", "Phone": "+55 11 97777-0001",
            "Street": "Rua Augusta", "Number": "500", "Complement": "Apto 42", "District": "Consolação",
            "City": "Campinas", "State": "SP", "Instructions for the driver": "Portaria", "Email": "ana@example.com",
            "Photo": photo, "PIN": pin, "Contents": "Livros", "Quantity": "3", "Weight each (kg)": "1,5",
            "Vehicle": "Carro",
        }  # fmt: skip  # a table
        page = upload(f"{';'.join(cells.values())};{PLACE}", header=f"{';'.join(cells)};latitude;longitude")
        advance(page)
        member.post(f"{page}confirm/")
        advance(page)

        made = Delivery.objects.get(token=None)
        stop = made.ordered_stops[0]
        (package,) = made.packages
        assert (made.contact_name, made.contact_phone, made.vehicle_type) == ("Loja", "+55 11 3333-1111", "CAR")
        assert (stop.contact_name, stop.contact_phone) == ("Ana", "+55 11 97777-0001")
        assert [stop.address[name] for name in ("street", "number", "complement", "district", "city", "state")] == [
            "Rua Augusta", "500", "Apto 42", "Consolação", "Campinas", "SP",
        ]  # fmt: skip  # a table
        assert (stop.options.instructions, stop.options.contact_email) == ("Portaria", "ana@example.com")
        assert (stop.options.needs_photo, bool(stop.options.pin)) == (photo == "x", pin == "x")
        assert [package[name] for name in ("description", "quantity", "weight")] == ["Livros", 3, 1.5]

    @pytest.mark.parametrize(("environment", "speeds"), [("live", []), ("sandbox", [1])])
    def test_has_a_simulated_driver_come_in_the_sandbox_alone(self, member, url, advance, environment, speeds):
        text = f"Sender;Sender's phone;Recipient;latitude;longitude\nLoja;+55 11 3333-1111;Ana;{PLACE}"
        address = url("upload").replace("/live/", f"/{environment}/")
        page = member.post(address, {"file": SimpleUploadedFile("today.csv", text.encode())}).url
        advance(page)
        member.post(f"{page}confirm/")
        advance(page)

        made = Delivery.objects.get(token=None)
        assert made.environment == environment
        assert list(Simulation.objects.filter(pk=made.pk).values_list("speed", flat=True)) == speeds

    def test_requests_no_order_that_was_requested_otherwise_meanwhile(self, member, upload, advance, shop):
        page = upload(f"P-1;Ana;;{PLACE};;")
        advance(page)
        dropoff = Place(DROPOFFS[0], {}, external_id="P-1")
        DeliveryFactory.create(token=shop.token, payload=validated_payload(dropoffs=[dropoff]))

        member.post(f"{page}confirm/")

        assert "Requested before" in advance(page)
        assert not Delivery.objects.filter(token=None).exists()

    def test_makes_no_second_delivery_of_a_row_that_is_uploaded_again(self, member, upload, advance):
        rows = [f"P-1;Ana;;{PLACE};;", f";Bia;;{PLACE};;"]
        for _twice in range(2):
            page = upload(*rows)
            advance(page)
            member.post(f"{page}confirm/")
            text = advance(page)

        assert text.count("Requested before") == 2
        assert Delivery.objects.count() == 3

    def test_requests_a_row_again_each_time_that_its_delivery_has_failed(self, member, upload, advance):
        for _time in range(3):
            page = upload(f";Bia;;{PLACE};;")
            advance(page)
            member.post(f"{page}confirm/")
            text = advance(page)
            made = Delivery.objects.filter(token=None).latest("created_at")
            deliveries.cancel(delivery=made, reason="", by=BY, at=timezone.now())

        assert "1 delivery requested" in text
        assert Delivery.objects.filter(token=None).count() == 3

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

        assert len(KeptUpload.objects.get().ciphertext) < 2 * uploaded_rows.MOST_BYTES

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
