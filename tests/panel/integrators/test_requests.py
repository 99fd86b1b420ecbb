"""Requesting and cancelling deliveries in the panel, and their receipts."""

import json
import re
from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from common.brazil.formats import moment
from common.brazil.municipalities import Municipality
from common.postgresql.forgetting import forgetting
from delivery.actions import deliveries
from delivery.geo import service_area
from delivery.lifecycle import Mode
from delivery.models import (
    Delivery,
    IntegratorMembership,
    PickupPoint,
    Simulation,
    Tariff,
    WebhookEndpoint,
    WebhookEvent,
)
from delivery.payload import Place
from tests.cases import in_turn
from tests.delivery.geo.geocoder import nominatim
from tests.delivery.places.table import fill, houses
from tests.delivery.receivers.links import text_of
from tests.factories import (
    BY,
    DROPOFFS,
    PICKUP,
    DeliveryFactory,
    DriverFactory,
    PickupPointFactory,
    TariffFactory,
    validated_payload,
)

B = "b-position"


@pytest.fixture
def fields(shop):
    """A form that is filled in, also with a place of A of which the pickup point that is chosen says nothing."""
    TariffFactory.create()
    point = PickupPoint.objects.get(integrator=shop.integrator)
    return {
        "key": str(uuid4()), "a-point": str(point.pk), "a-name": "Loja", "a-phone": "+55 11 3333-0000",
        "b-name": "Ana", "b-phone": "+55 11 97777-0001", "b-external_id": "P-1", "b-street": "Rua Augusta",
        "b-number": "500", B: "{}, {}".format(*DROPOFFS[0]), "b-instructions": "Portaria", "b-pin": "on",
        "vehicle_type": "MOTORCYCLE", "package1-quantity": "2", "package1-weight": "1,5", "package1-height": "20",
        "package1-width": "30", "package1-length": "40", "package2-quantity": "1", "package3-quantity": "",
        "a-position": "{}, {}".format(*DROPOFFS[2]),
    }  # fmt: skip  # a table


@pytest.fixture
def quoted(member, url, fields):
    return with_quote(member, url("request_price"), fields)


def with_quote(member, page, fields):
    """The form with the Quote-Id of the price that is shown for it."""
    shown = member.post(page, fields).content.decode()
    return {**fields, "step": "request", "quote_id": found_in(shown, r'name="quote_id" value="([^"]+)"')}


def found_in(text, pattern):
    match = re.search(pattern, text, re.DOTALL)
    assert match, pattern
    return match[1]


def newest():
    return Delivery.objects.latest("created_at")


class TestPrice:
    def test_is_shown_before_anything_is_requested(self, member, url, fields):
        answer = member.post(url("request"), fields | {"step": "price"})

        assert answer.status_code == 200
        assert "Request for R$ 12.00" in answer.content.decode()
        assert Delivery.objects.count() == 1  # the shop's

    def test_needs_no_contacts(self, member, url, fields):
        answer = member.post(url("request_price"), {**fields, "a-name": "", "b-name": ""})

        assert "12.00" in answer.content.decode()

    @pytest.mark.parametrize("page", ["request", "request_price"])
    def test_of_windows_that_are_refused_asks_no_geocoder(self, member, url, fields, settings, page):
        settings.GEOCODER_URL = "http://127.0.0.1:9"  # which does not answer
        soon = f"{timezone.localtime() + timedelta(minutes=5):%Y-%m-%dT%H:%M}"

        answer = member.post(url(page), {**fields, B: "", "a_deadline_at": soon})

        content = answer.content.decode()
        assert "What locates addresses does not answer" not in content
        assert page == "request_price" or "The deadline of the pickup is at least" in content

    def test_is_refused_in_the_words_of_the_api(self, member, url, fields):
        answer = member.post(url("request_price"), {**fields, "package1-weight": "40"})

        assert "The packages weigh 80.0 kg; this tariff serves up to 30.00 kg." in answer.content.decode()

    def test_warns_of_an_order_number_of_another_delivery(self, member, url, quoted, fields):
        member.post(url("request"), quoted)

        answer = member.post(url("request_price"), fields)

        assert url("delivery", newest().pk) in answer.content.decode()


class TestDerived:
    """What the server reads in other fields."""

    def read(self, member, url, fields):
        text = member.post(url("request_price"), fields).content.decode()
        return json.loads(found_in(text, r'<script id="derived"[^>]*>(.*?)</script>')), text

    @pytest.mark.parametrize(
        ("zipcode", "state", "city"),
        [("01304-001", "SP", "São Paulo"), ("13000-000", "SP", "")],
        ids=["capital", "other"],
    )
    def test_of_a_cep_is_its_state_and_the_capital(self, member, url, zipcode, state, city):
        found, _text = self.read(member, url, {"b-zipcode": zipcode})

        fields = {"id_b-street": "", "id_b-district": "", "id_b-city": city, "id_b-state": state}
        assert found == [{"id": "id_b-zipcode", "text": zipcode, "fields": fields}]

    def test_of_a_cep_of_the_table_are_its_street_and_district_too(self, member, url):
        campinas = Municipality("SP", "Campinas")
        fill(houses("Rua Conceição", [1], postcode="13010050", district="Centro", city=campinas))

        found, _text = self.read(member, url, {"b-zipcode": "13010-050"})

        assert found[0]["fields"] == {
            "id_b-street": "Rua Conceição", "id_b-district": "Centro", "id_b-city": "Campinas", "id_b-state": "SP"
        }  # fmt: skip  # a form

    def test_of_a_link_are_its_coordinates(self, member, url, fields):
        link = "https://waze.com/ul?ll=-23.561414%2C-46.655881&navigate=yes"

        found, text = self.read(member, url, fields | {B: link})

        coordinates = {"id_b-position": "-23.561414, -46.655881"}
        assert found == [{"id": "id_b-position", "text": link, "fields": coordinates}]
        assert "12.00" in text

    def test_doubts_a_place_outside_the_state_of_its_cep(self, member, url, fields):
        _found, text = self.read(member, url, fields | {"b-zipcode": "40010-000"})

        assert "The CEP of B is in Bahia, the place on the map is not." in text
        assert "12.00" in text


class TestAddressFirst:
    """A drop-off of a street and a number: where that is, and a place on the map that is another."""

    NEAR, FAR = "-23.54500, -46.65000", "-23.53900, -46.65000"  # 0 and 660 m north of the house

    @pytest.fixture
    def fields(self, fields):
        fill(houses("Rua Augusta", [500], postcode="01304001"))
        return fields | {"b-city": "São Paulo", "b-state": "SP", B: ""}

    def json_of(self, answer, name):
        return json.loads(found_in(answer.content.decode(), rf'<script id="{name}"[^>]*>(.*?)</script>'))

    def test_is_shown_where_it_was_found(self, member, url, fields):
        answer = member.post(url("request_price"), fields)

        assert self.json_of(answer, "pins") == [{"id": "id_b-position", "lat": -23.545, "lng": -46.65}]
        assert 'name="b-far"' not in answer.content.decode()

    def test_is_asked_about_where_the_pin_is_elsewhere(self, member, url, fields):
        near, far = (
            member.post(url("request_price"), fields | {B: at}).content.decode() for at in (self.NEAR, self.FAR)
        )

        assert 'name="b-far"' not in near
        assert "The place of B on the map is 0.7 km from its address. Which holds?" in far

    def test_is_requested_at_the_pin_only_once_that_was_said(self, member, url, fields):
        fields = with_quote(member, url("request_price"), fields | {B: self.FAR})

        asked = member.post(url("request"), fields)
        of_another = member.post(url("request"), fields | {"b-far": "-23.54000,-46.65000"})
        before = Delivery.objects.filter(stops__latitude=-23.539).exists()
        member.post(url("request"), fields | {"b-far": "-23.53900,-46.65000"})

        assert (asked.status_code, of_another.status_code, before) == (422, 422, False)
        assert "This place is 0.7 km from the address." in asked.content.decode()
        assert newest().ordered_stops[0].latitude == -23.539

    def test_of_a_cep_alone_is_no_reason_to_ask(self, member, url, fields):
        """The middle of its area says little of one house."""
        fields |= {"b-street": "", "b-number": "", "b-zipcode": "01304-001", B: self.FAR}

        assert 'name="b-far"' not in member.post(url("request_price"), fields).content.decode()

    def test_tells_which_fields_are_refused_now(self, member, url, fields):
        wrong = fields | {"b-zipcode": "123", "a-name": ""}

        before, after = (member.post(url("request_price"), each) for each in (wrong, fields))

        assert self.json_of(before, "faulty") == ["id_a-name", "id_b-zipcode"]
        assert self.json_of(after, "faulty") == []


class TestReceivers:
    """Those whom the form offers."""

    def offered(self, member, url):
        text = member.get(url("request")).content.decode()
        return json.loads(found_in(text, r'<script id="receivers"[^>]*>(.*?)</script>'))

    def test_are_those_of_the_accounts_deliveries(self, member, url, quoted, fields):
        DeliveryFactory.create()  # of another account
        member.post(url("request"), quoted | {"b-zipcode": "01304000"})

        found = self.offered(member, url)

        ((name, fills),) = found.items()
        assert name == "Ana · Rua Augusta, 500 · (11) 97777-0001"
        assert (fills["name"], fills["phone"], fills["street"]) == ("Ana", "+55 11 97777-0001", "Rua Augusta")
        assert (fills["zipcode"], fills["position"]) == ("01304-000", "{:.6f}, {:.6f}".format(*DROPOFFS[0]))
        assert all(f'id="id_b-{field}"' in member.get(url("request")).content.decode() for field in fills)

    def test_are_none_of_those_who_were_anonymised(self, member, url, quoted):
        member.post(url("request"), quoted)
        with forgetting():
            newest().stops.update(contact_name="", contact_phone="", forgotten_at=timezone.now())

        assert self.offered(member, url) == {}


class TestPickupOfBefore:
    def test_is_that_of_the_newest_delivery_that_is_not_anonymised(self, member, url, quoted, shop):
        names = []
        member.post(url("request"), quoted)
        for changes in (
            {"forgotten_at": None},
            {"contact_name": "", "contact_phone": "", "forgotten_at": timezone.now()},
        ):
            with forgetting():
                Delivery.objects.filter(pk=newest().pk).update(**changes)
            names.append(member.get(url("request")).context["form"].pickup.initial["name"])

        assert names == ["Loja", shop.delivery.contact_name]


class TestWindows:
    """Without a driver whose position is known the lead is 31 minutes."""

    def local(self, minutes):
        return (timezone.localtime() + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M")

    def test_of_the_form_schedule_the_delivery_at_the_price_that_was_shown(self, member, url, fields):
        wanted = fields | {"a_ready_at": self.local(90), "b_deadline_at": self.local(180)}
        shown = member.post(url("request_price"), wanted).content.decode()
        sent = {**wanted, "step": "request", "quote_id": found_in(shown, r'name="quote_id" value="([^"]+)"')}

        answer = member.post(url("request"), sent, follow=True)

        found = newest()
        assert (found.route_status, found.shipping_value) == ("SCHEDULED", Decimal(12))
        assert timezone.localtime(found.scheduled_for).strftime("%Y-%m-%dT%H:%M") == wanted["a_ready_at"]
        assert found.ordered_stops[0].deadline_at == found.deadline_at
        assert "offered to drivers shortly before it can be collected" in answer.content.decode()

    def test_of_goods_that_are_ready_before_a_driver_is_there_offer_the_route_at_once(self, member, url, fields):
        wanted = fields | {"a_ready_at": self.local(10)}
        shown = member.post(url("request_price"), wanted).content.decode()
        sent = {**wanted, "step": "request", "quote_id": found_in(shown, r'name="quote_id" value="([^"]+)"')}

        answer = member.post(url("request"), sent, follow=True)

        assert newest().route_status == "AVAILABLE"
        assert "and its route is offered to drivers." in answer.content.decode()

    @in_turn(
        ("changes", "field", "refusal"),
        [
            ({"c_deadline_at": 200}, "c_deadline_at", "There is no point C: fill it in, or clear this."),
            ({"a_deadline_at": 15}, "a_deadline_at", "at least 10 minutes after it is ready, and 20 minutes from now"),
            ({"a_ready_at": 60, "b_deadline_at": 70}, "b_deadline_at", "deadline of a drop-off is at least 20 minutes"),
            ({"a_ready_at": 60, "d_deadline_at": 70}, "d_deadline_at", "deadline of a drop-off is at least 20 minutes"),
            ({"a_ready_at": 31 * 24 * 60}, "a_ready_at", "At most 30 days ahead."),
        ],
    )
    def test_that_break_a_rule_are_refused_beside_their_fields(self, member, url, quoted, changes, field, refusal):
        """C may be left empty before D."""
        moments = {name: self.local(minutes) for name, minutes in changes.items()}
        place = {"d-position": "{}, {}".format(*DROPOFFS[1])} if "d_deadline_at" in moments else {}

        answer = member.post(url("request"), quoted | moments | place)

        assert answer.status_code == 422
        assert refusal in answer.content.decode()
        assert [*answer.context["form"].windows.errors] == [field]
        assert Delivery.objects.count() == 1

    def test_of_another_moment_have_another_quote(self, member, url, quoted):
        answer = member.post(url("request"), quoted | {"a_ready_at": self.local(90)})

        assert "The price was computed anew." in answer.content.decode()


class TestRequest:
    def test_makes_the_delivery_that_a_call_makes_at_the_price_that_was_shown(self, member, url, quoted, shop):
        Tariff.objects.update(base_fare=100)

        answer = member.post(url("request"), quoted)

        found = newest()
        assert answer.url == url("delivery", found.pk)
        assert (found.token, found.shipping_value, found.mode) == (None, Decimal(12), "DEFAULT")
        assert (found.latitude, found.longitude) == PICKUP
        (package,) = found.packages
        measures = [package[name] for name in ("quantity", "weight", "height", "width", "length")]
        assert measures == [2, 1.5, 20, 30, 40]
        stop = found.ordered_stops[0]
        assert (stop.external_id, stop.contact_name, stop.address["street"]) == ("P-1", "Ana", "Rua Augusta")
        assert (stop.options.instructions, len(stop.options.pin)) == ("Portaria", 4)
        assert found.transitions.get().by == "member member"
        assert WebhookEvent.objects.filter(delivery=found, endpoint=shop.endpoint).count() == 1

    def test_of_a_reverse_route_begins_at_b(self, member, url, quoted, fields):
        reverse = {**fields, "mode": "REVERSE", "b-pin": "", "b-on_failure": "RETURN"}
        shown = member.post(url("request_price"), reverse).content.decode()

        member.post(
            url("request"), {**quoted, **reverse, "quote_id": found_in(shown, r'name="quote_id" value="([^"]+)"')}
        )

        assert found_in(shown, r"(<b>B</b>.*<b>A</b>)")
        assert newest().mode == "REVERSE"
        again = member.get(f"{url('request')}?again={newest().pk}").content.decode()
        assert found_in(again, r'<option value="(\w+)" selected>From the points to A')

    @pytest.mark.parametrize(
        ("name", "value"), [("b-pin", "on"), ("b-photo", "on"), ("b-on_failure", "RETRY"), ("c-photo", "on")]
    )
    def test_of_a_reverse_route_has_no_policy_and_no_proof(self, member, url, quoted, name, value):
        further = {"c-position": "{}, {}".format(*DROPOFFS[1])}

        answer = member.post(url("request"), {**quoted, **further, "mode": "REVERSE", "b-pin": "", name: value})

        assert answer.status_code == 422
        assert answer.content.decode().count("Not on a route from the points to A") == 1
        assert Delivery.objects.count() == 1  # the shop's

    def test_is_told_to_the_api_as_the_integrators(self, member, url, quoted, shop, client_of):
        member.post(url("request"), quoted)

        detail = client_of(shop.token).get(f"/api/deliveries/{newest().pk}").json()

        assert detail["transitions"][0]["by"] == "integrator"

    def test_is_made_once_by_a_form_that_is_sent_twice(self, member, url, quoted):
        first = member.post(url("request"), quoted)
        second = member.post(url("request"), quoted)

        assert first.url == second.url
        assert Delivery.objects.count() == 2

    def test_asks_again_for_other_content_after_the_first(self, member, url, quoted):
        member.post(url("request"), quoted)

        answer = member.post(url("request"), quoted | {"b-name": "Bia"})

        assert answer.status_code == 422
        assert quoted["key"] not in answer.content.decode()
        assert Delivery.objects.count() == 2

    def test_is_refused_from_a_pickup_point_outside_the_service_area(self, member, url, quoted, settings):
        settings.SERVICE_AREA = service_area.parse("-23.5600,-46.6600,-23.5500,-46.6400")  # with B, without A

        answer = member.post(url("request"), quoted)

        assert answer.status_code == 422
        assert "This is outside the area that this service serves: pickup (" in answer.content.decode()
        assert Delivery.objects.count() == 1

    @in_turn(
        ("changes", "refusal"),
        [
            ({"quote_id": "x"}, "The price was computed anew."),
            ({B: "-23.5629, -46.6689"}, "The price was computed anew."),
            ({B: "-46.65, -23.552"}, "Latitude and longitude seem to be swapped."),
            ({B: ""}, "Click on the map"),
            ({"b-zipcode": "123"}, "A CEP has eight digits."),
            ({"a-name": ""}, "This field is required."),
        ],
    )
    def test_is_refused_with_everything_that_was_typed(self, member, url, quoted, changes, refusal):
        answer = member.post(url("request"), quoted | changes)

        text = answer.content.decode()
        assert answer.status_code == 422
        assert refusal in text
        assert "Portaria" in text
        assert Delivery.objects.count() == 1

    @pytest.mark.parametrize("point", ["inactive", "another account's", "none"])
    def test_is_refused_for_a_place_that_is_no_pickup_point(self, member, url, quoted, shop, point):
        shop.integrator.pickup_points.update(active=point != "inactive")
        chosen = {"inactive": quoted["a-point"], "another account's": str(PickupPointFactory.create().pk), "none": ""}

        answer = member.post(url("request"), quoted | {"a-point": chosen[point]})

        assert answer.status_code == 422
        assert Delivery.objects.count() == 1

    def test_begins_anywhere_where_the_account_may(self, member, url, fields, shop):
        shop.integrator.allow_any_pickup = True
        shop.integrator.save()
        anywhere = with_quote(member, url("request_price"), fields | {"a-point": ""})

        assert member.post(url("request"), anywhere | {"a-position": ""}).status_code == 422
        member.post(url("request"), anywhere)

        assert (newest().latitude, newest().longitude) == DROPOFFS[2]

    def test_begins_at_an_address_where_the_account_may(self, member, url, fields, shop):
        """Beside the price its pin is for the field of A, and what is not known of it stands at its street."""
        shop.integrator.allow_any_pickup = True
        shop.integrator.save()
        fill(houses("Rua Augusta", [500], postcode="01304000"))
        address = {"a-street": "R. Augusta", "a-number": "500", "a-zipcode": "01304-000", "a-position": ""}
        elsewhere = fields | {"a-point": ""} | address

        quoted = with_quote(member, url("request_price"), elsewhere)
        price = member.post(url("request_price"), elsewhere).content.decode()
        member.post(url("request"), quoted)
        unknown = member.post(url("request"), quoted | {"a-street": "Rua Chile", "a-zipcode": "40020-000"})

        assert (newest().latitude, newest().longitude) == (-23.545, -46.65)
        assert [each.point for each in newest().ordered_stops] == [DROPOFFS[0]]
        assert json.loads(found_in(price, r'<script id="pins"[^>]*>(.*?)</script>')) == [
            {"id": "id_a-position", "lat": -23.545, "lng": -46.65}
        ]
        assert unknown.context["form"].pickup.errors.keys() == {"street"}
        assert unknown.status_code == 422

    def test_asks_which_holds_where_another_place_of_a_is_far_from_its_address(self, member, url, fields, shop):
        """Not of a pickup point, whose place is not typed."""
        shop.integrator.allow_any_pickup = True
        shop.integrator.save()
        fill(houses("Rua Augusta", [500], postcode="01304000"))
        address = {"a-street": "R. Augusta", "a-number": "500", "a-zipcode": "01304-000"}

        elsewhere = member.post(url("request_price"), fields | {"a-point": ""} | address).content.decode()
        of_a_point = member.post(url("request_price"), fields | address).content.decode()

        assert "The place of A on the map is" in elsewhere
        assert "The place of A on the map is" not in of_a_point

    def test_locates_the_points_without_coordinates(self, member, url, fields, settings, geocoder):
        """D by its address; B by its place, though it has one; there is no C."""
        settings.GEOCODER_URL = geocoder.url
        place = (-23.57, -46.66)
        geocoder.answer = [nominatim(point=place, house_number="500", road="Rua Augusta", postcode="01304-000")]
        address = {"d-street": "Rua Augusta", "d-number": "500", "d-city": "São Paulo", "d-state": "SP"}

        member.post(url("request"), with_quote(member, url("request_price"), fields | address))

        b, d = newest().ordered_stops
        assert (b.latitude, b.longitude) == DROPOFFS[0]
        assert (d.latitude, d.longitude) == place
        assert len(geocoder.queries) == 1

    def test_locates_them_in_the_table_of_addresses(self, member, url, fields):
        fill(houses("Rua Augusta", [500], postcode="01304000"))
        address = {"d-street": "R. Augusta", "d-number": "500", "d-zipcode": "01304-000"}

        member.post(url("request"), with_quote(member, url("request_price"), fields | address))

        _b, d = newest().ordered_stops
        assert (d.latitude, d.longitude) == (-23.545, -46.65)

    @pytest.mark.parametrize(
        ("address", "text"),
        [
            ({"d-number": "500"}, None),
            ({"d-number": "501"}, "The street of D was found, its house was not"),
            ({"d-street": "", "d-number": ""}, "Only the CEP of D was found"),
        ],
    )
    def test_says_how_exactly_they_are_located(self, member, url, fields, address, text):
        fill(houses("Rua Augusta", [500], postcode="01304000"))
        asked = fields | {"d-street": "Rua Augusta", "d-zipcode": "01304-000"} | address

        content = member.post(url("request_price"), asked).content.decode()

        assert "This price is kept for 10 minutes." in content
        assert (text or "Expected") in content
        assert ("was found" in content) == bool(text)

    def test_has_a_repeated_order_number_refused_beside_its_field(self, member, url, quoted, fields, shop):
        shop.integrator.refuse_repeated_external_ids = True
        shop.integrator.save()
        member.post(url("request"), quoted)
        c = {"c-position": "{}, {}".format(*DROPOFFS[1]), "c-external_id": "P-1"}
        other = fields | c | {"key": str(uuid4()), "b-external_id": "P-2"}

        answer = member.post(url("request"), with_quote(member, url("request_price"), other))

        assert "with the externalId &#x27;P-1&#x27; already" in answer.content.decode()
        assert [[*each.errors] for each in answer.context["form"].dropoffs] == [[], ["external_id"], []]
        assert Delivery.objects.count() == 2

    def test_begins_with_an_earlier_one(self, member, url, shop):
        text = member.get(f"{url('request')}?again={shop.delivery.pk}").content.decode()

        assert shop.delivery.contact_name in text
        assert f"{shop.delivery.ordered_stops[1].latitude:.6f}" in text
        assert "order-1" not in text
        foreign = Place(PICKUP, {}, contact_name="Stranger", contact_phone="+55 11 3333-3333")
        other = DeliveryFactory.create(payload=validated_payload(pickup=foreign))
        assert "Stranger" not in member.get(f"{url('request')}?again={other.pk}").content.decode()

    @pytest.mark.parametrize(
        ("environment", "speed", "simulated"), [("live", "10", []), ("sandbox", "10", [10]), ("sandbox", "", [1])]
    )
    def test_is_simulated_in_the_sandbox_alone(self, member, url, fields, environment, speed, simulated):
        price, page = (url(name).replace("/live/", f"/{environment}/") for name in ("request_price", "request"))

        member.post(page, with_quote(member, price, fields | {"speed": speed}))

        assert (newest().token, newest().environment) == (None, environment)
        assert list(Simulation.objects.values_list("speed", flat=True)) == simulated

    def test_is_not_for_members_without_the_right(self, member, url, quoted, shop):
        IntegratorMembership.objects.update(may_request=False, role="member")
        shop.integrator.memberships.create(user=User.objects.create(username="owner"))

        pages = [url("request"), url("request_price"), url("cancel", shop.delivery.pk), url("pickup_points")]
        answers = [member.post(page, quoted).status_code for page in pages]

        assert answers == [403] * 4
        assert member.post(url("tokens"), {"name": "x"}).status_code == 403
        assert member.post(url("token_rotate", shop.token.pk)).status_code == 403
        hook = {"url": "http://127.0.0.1:9/hook", "statuses": ["FAILED"]}  # it would be sent a token
        assert [member.post(url(page), hook).status_code for page in ("webhook", "webhook_add")] == [403] * 2
        assert not WebhookEndpoint.objects.filter(url=hook["url"]).exists()
        assert url("request") not in member.get(url("deliveries")).content.decode()
        assert Delivery.objects.count() == 1


class TestCancel:
    @pytest.mark.parametrize(("accepted", "costs"), [(True, "R$ 10.04"), (False, "R$ 0.00")])
    def test_costs_the_fee_that_was_shown(self, member, url, accepted, costs):
        delivery = DeliveryFactory.create(token=newest().token, accepted=accepted)

        page = text_of(member.get(url("delivery", delivery.pk)))
        shown = member.get(url("cancel", delivery.pk)).content.decode()
        fee = found_in(shown, r'name="fee" value="([^"]+)"')
        member.post(url("cancel", delivery.pk), {"fee": fee, "reason": "Gave up"})

        delivery.refresh_from_db()
        assert f"Cancelling now fee {costs}" in page
        assert f"R$ {delivery.cancel_fee}" == f"R$ {fee}" == costs
        assert delivery.cancel_reason == "Gave up"

    def test_asks_again_when_the_fee_has_changed(self, member, url, shop):
        deliveries.accept(delivery=shop.delivery, driver=DriverFactory.create(), by=BY, at=timezone.now())

        answer = member.post(url("cancel", shop.delivery.pk), {"fee": "0.00", "reason": "Gave up"})

        shop.delivery.refresh_from_db()
        text = answer.content.decode()
        assert answer.status_code == 422
        assert "the fee is another one" in text
        assert "Gave up" in text
        assert shop.delivery.cancelled_at is None

    @pytest.mark.parametrize(
        ("mode", "collected", "said"),
        [
            ("DEFAULT", False, "The delivery is cancelled."),
            ("DEFAULT", True, "The delivery is cancelled. The driver takes the goods back to A."),
            ("REVERSE", False, "The pickups are cancelled."),
            ("REVERSE", True, "The pickups are cancelled. The driver brings what was collected to A."),
        ],
    )
    def test_says_what_is_cancelled_and_where_the_goods_go(self, member, url, shop, mode, collected, said):
        delivery = DeliveryFactory.create(token=shop.token, stops=2, mode=Mode[mode], accepted=True)
        if collected:
            point = "B" if mode == "REVERSE" else ""
            deliveries.collect(delivery=delivery, point=point, by=BY, at=timezone.now())

        shown = member.get(url("cancel", delivery.pk)).content.decode()
        sent = {name: found_in(shown, rf'name="{name}" value="([^"]+)"') for name in ("fee", "route_status")}
        answer = member.post(url("cancel", delivery.pk), {**sent, "reason": "Gave up"}, follow=True)

        assert [str(each) for each in answer.context["messages"]] == [said]

    @pytest.mark.parametrize("fee", ["", "x", "NaN", "Infinity"])
    def test_is_not_done_without_a_fee_that_was_agreed(self, member, url, shop, fee):
        answer = member.post(url("cancel", shop.delivery.pk), {"fee": fee})

        shop.delivery.refresh_from_db()
        assert (answer.status_code, shop.delivery.cancelled_at) == (422, None)

    def test_is_refused_after_the_end(self, member, url, shop):
        deliveries.cancel(delivery=shop.delivery, reason="First", by=BY, at=timezone.now())

        answer = member.get(url("cancel", shop.delivery.pk), follow=True)

        assert "There is nothing left to cancel." in answer.content.decode()


class TestReceipt:
    def test_has_the_amount_and_no_pin(self, member, url, quoted):
        member.post(url("request"), quoted)
        delivery = newest()
        deliveries.cancel(delivery=delivery, reason="Gave up", by=BY, at=timezone.now())

        text = member.get(url("receipt", delivery.pk)).content.decode()

        pin = delivery.ordered_stops[0].options.pin
        assert "Gave up" in text
        assert "R$ 0.00" in text
        assert not re.search(rf"\b{pin}\b", text)

    def test_of_a_reverse_route_says_what_was_collected_where_and_why_not(self, member, url, shop):
        at = timezone.now()
        delivery = DeliveryFactory.create(token=shop.token, stops=2, mode=Mode.REVERSE, accepted=True, at=at)
        collected_at, arrived_at = at + timedelta(minutes=11), at + timedelta(minutes=47)
        deliveries.fail(delivery=delivery, point="C", code="CLOSED", reason="", by=BY, at=at)
        deliveries.collect(delivery=delivery, point="B", by=BY, at=collected_at)
        deliveries.return_(delivery=delivery, by=BY, at=arrived_at)

        text = text_of(member.get(url("receipt", delivery.pk)))

        collected, arrived = moment(collected_at), moment(arrived_at)
        for part in (f"Arrived {arrived}", "A Destination", f"Delivered at A Collected {collected}", "Place closed"):
            assert part in text, text


def test_the_script_of_the_map_gets_the_pickup_points(member, url, shop):
    """Each with the contact of the last delivery from there."""
    first = shop.integrator.pickup_points.get()
    place = dict(zip(("latitude", "longitude"), DROPOFFS[1], strict=True))
    second = PickupPointFactory.create(integrator=shop.integrator, **place)
    pickup = Place(PICKUP, {"street": "Avenida Paulista"}, contact_name="Loja", contact_phone="+55 11 3333-1111")
    DeliveryFactory.create(token=shop.token, payload=validated_payload(pickup=pickup))

    text = member.get(url("request")).content.decode()

    found = json.loads(found_in(text, r'<script id="pickup-points"[^>]*>(.*?)</script>'))
    shown = {key: [each[name] for name in ("position", "name", "phone", "street")] for key, each in found.items()}
    assert shown == {
        str(first.pk): ["-23.56141, -46.65588", "Loja", "+55 11 3333-1111", "Avenida Paulista"],
        str(second.pk): ["{:.5f}, {:.5f}".format(*DROPOFFS[1]), "", "", ""],
    }


class TestFolds:
    """Of the form, by what each says when it is folded."""

    @staticmethod
    def opened(text):
        return [title.strip() for title in re.findall(r"<details[^>]*\bopen\b[^>]*>\s*<summary>([^<]+)", text)]

    def test_are_all_folded_in_a_form_that_knows_the_pickup(self, member, url):
        assert self.opened(member.get(url("request")).content.decode()) == []

    def test_of_the_pickup_is_open_where_its_contact_is_unknown(self, member, url, shop):
        with forgetting():
            Delivery.objects.update(contact_name="", contact_phone="", forgotten_at=timezone.now())

        assert self.opened(member.get(url("request")).content.decode()) == ["Contact and address"]

    @in_turn(
        ("changes", "title"),
        [
            ({"a-phone": ""}, "Contact and address"),
            ({"b-city": "x" * 256}, "Complement, district, city, state"),
            ({"b-email": "nobody"}, "Instructions, e-mail, failure, photo, PIN"),
            ({"package1-weight": "x"}, "Contents, weight and size"),
            ({"package3-weight": "x"}, "Add a package of another kind"),
        ],
    )
    def test_are_open_where_a_field_in_them_is_refused(self, member, url, fields, changes, title):
        untouched = {f"package{number}-quantity": "1" for number in range(2, 6)}

        answer = member.post(url("request"), fields | untouched | changes)

        assert self.opened(answer.content.decode()) == [title]
