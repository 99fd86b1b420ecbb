"""Orders of shops on their way to a delivery: what is missing, the price, and the one delivery that is made."""

from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest
from django.db import connection as database
from django.utils import timezone
from rest_framework.test import APIClient

from common import clock
from common.actors import RETENTION
from delivery.api.serializers import DeliveryRequestSerializer
from delivery.connections import actions, drafts, payloads
from delivery.connections.models import Draft, Reception
from delivery.errors import DraftChanged, DraftEnded, DraftIncomplete, DraftPriceChanged, TooManyConnections
from delivery.geo import service_area
from delivery.models import Delivery, PickupPoint, Stop, Tariff
from delivery.payload import Place
from delivery.tasks import forget
from tests.delivery.connections.shops import NEAR, WITHOUT_NUMBER, order, post, shop
from tests.factories import (
    BY,
    PICKUP,
    DeliveryFactory,
    IntegratorFactory,
    PickupPointFactory,
    TariffFactory,
    TokenFactory,
    validated_payload,
)
from tests.overlapping import overlap

NOW = timezone.now
PRICE = Decimal("12.00")


@pytest.fixture
def streets(settings, geocoder):
    """It finds Rua Augusta 500."""
    settings.GEOCODER_URL = geocoder.url
    return geocoder


def received(connection=None, *, checked=True, **changes):
    """A draft of an order, with its place and its price unless it is not `checked`."""
    connection = connection or shop()
    post(connection, order(**changes))
    if checked:
        drafts.check_due()
    return read(Draft.objects.latest("created_at"))


def read(draft):
    return Draft.objects.select_related("connection__integrator", "connection__pickup", "delivery").get(pk=draft.pk)


def request(draft):
    return drafts.request(draft=draft, seen=draft.revision, by=BY, at=NOW())


def told(draft, at):
    """The order as the shop posts it with this moment as that of its last change."""
    return order(int(draft.order_id), date_modified_gmt=f"{at:%Y-%m-%dT%H:%M:%S}")


def picked_up(token, address, *, at=PICKUP):
    """A delivery with this address as its pickup's."""
    pickup = Place(point=at, address=address, contact_name="Loja", contact_phone="+55 11 3333-0000")
    return DeliveryFactory.create(token=token, payload=validated_payload(stops=1, pickup=pickup))


def due_again():
    Draft.objects.filter(due_at__isnull=False).update(due_at=NOW())
    drafts.check_due()


@pytest.mark.django_db
@pytest.mark.usefixtures("streets")
class TestADraft:
    def test_is_made_of_a_paid_order(self):
        connection = shop()

        answer = post(connection, order(1001))

        draft = Draft.objects.get()
        assert answer.json() == {"result": "draft", "reason": None, "id": str(draft.pk)}
        assert draft.external_id == "1001"
        assert draft.payload == {
            "vehicleType": "MOTORCYCLE",
            "pickup": {
                "contacts": {"name": "Loja", "phoneNumber": "+55 11 3333-0000"},
                "address": {"latitude": -23.561414, "longitude": -46.655881},
            },
            "dropoffs": [
                {
                    "externalId": "1001",
                    "contacts": {
                        "name": "Maria Souza", "phoneNumber": "(11) 97777-0001", "email": "maria@example.com"
                    },
                    "address": {
                        "street": "Rua Augusta", "number": "500", "complement": "Ap. 12", "district": "Consolação",
                        "city": "São Paulo", "state": "SP", "zipcode": "01304000", "country": "BR",
                    },
                    "instructions": "Deixar na portaria",
                }
            ],
            "orderPackages": [{"description": "Caneca", "quantity": 2}],
        }  # fmt: skip  # a body

    def test_has_the_address_of_the_last_delivery_from_its_pickup_point(self):
        """Not of another account, of the other environment or from another place."""
        connection = shop()
        token = TokenFactory.create(integrator=connection.integrator)
        of_sandbox = TokenFactory.create(integrator=connection.integrator, sandbox=True)
        PickupPointFactory.create(integrator=connection.integrator, latitude=NEAR.latitude, longitude=NEAR.longitude)
        known = {"street": "Avenida Paulista", "number": "1578", "zipcode": "01310200"}
        picked_up(token, {**known, "complement": ""})
        picked_up(TokenFactory.create(), {"street": "Rua de Outra Conta"})
        picked_up(of_sandbox, {"street": "Rua do Teste"})
        picked_up(token, {"street": "Rua de Outro Lugar"}, at=NEAR)
        picked_up(token, {})

        draft = received(connection)
        post(connection, told(draft, NOW()))  # nothing of it changes, and it is not looked at again
        delivery, _is_earlier = request(read(draft))

        place = {"latitude": PICKUP.latitude, "longitude": PICKUP.longitude}
        assert draft.payload["pickup"]["address"] == known | place
        assert {name: text for name, text in delivery.address.items() if text} == known

    def test_starts_at_the_new_place_of_its_pickup_point(self):
        connection = shop()
        picked_up(TokenFactory.create(integrator=connection.integrator), {"street": "Avenida Paulista"})
        draft = received(connection)
        PickupPoint.objects.update(latitude=NEAR.latitude, longitude=NEAR.longitude)

        post(connection, told(draft, NOW()))

        place = {"latitude": NEAR.latitude, "longitude": NEAR.longitude}
        assert read(draft).payload["pickup"]["address"] == place

    def test_keeps_what_people_have_changed_and_the_shop_has_not(self):
        connection = shop()
        post(connection, order(7))
        draft = Draft.objects.get()
        (dropoff,) = draft.payload["dropoffs"]
        number = {**dropoff, "address": {**dropoff["address"], "number": "512", "latitude": -23.5, "longitude": -46.6}}
        drafts.edit(draft=draft, seen=draft.revision, dropoff=number, by=BY, at=NOW())

        post(connection, order(7, customer_note="No jardim"))
        kept = Draft.objects.get().payload["dropoffs"][0]
        post(connection, order(7, shipping={"address_1": "Rua Bela Cintra"}))
        moved = Draft.objects.get().payload["dropoffs"][0]

        assert (kept["address"]["number"], kept["address"]["latitude"]) == ("512", -23.5)
        assert kept["instructions"] == "No jardim"
        assert (moved["address"]["street"], moved["address"]["number"]) == ("Rua Bela Cintra", "512")
        assert "latitude" not in moved["address"]

    def test_is_located_and_priced_by_a_worker(self):
        draft = received()

        (dropoff,) = draft.payload["dropoffs"]
        assert (draft.missing, draft.price, draft.precision) == ([], PRICE, "rooftop")
        assert draft.seconds > 0
        assert draft.due_at is None
        assert payloads.point_of(dropoff) is not None
        assert not Delivery.objects.exists()

    def test_is_as_request_delivery_takes_it(self):
        draft = received()

        serializer = DeliveryRequestSerializer(data=draft.payload, context={"environment": "live", "is_quoted": False})

        assert serializer.is_valid(), serializer.errors
        assert serializer.delivery_request({}) == payloads.delivery_request(draft.payload)

    @pytest.mark.parametrize(
        ("changes", "missing"),
        [
            (WITHOUT_NUMBER, ["missing_number"]),
            ({"shipping": {"address_1": "Rua Sem Nome", "postcode": ""}}, ["address_not_located"]),
        ],
    )
    def test_says_what_is_missing(self, streets, changes, missing):
        if missing == ["address_not_located"]:
            streets.answer = []

        draft = received(**changes)

        assert draft.missing == missing
        assert (draft.price is None) == (missing == ["address_not_located"])
        with pytest.raises(DraftIncomplete):
            request(draft)
        assert not Delivery.objects.exists()

    @pytest.mark.parametrize(
        ("note", "instructions"),
        [
            ("Deixar na portaria", "Receber na entrega: R$ 1.234,50. Deixar na portaria"),
            ("", "Receber na entrega: R$ 1.234,50."),
            ("x" * 600, f"Receber na entrega: R$ 1.234,50. {'x' * 467}"),
        ],
    )
    def test_says_what_is_to_be_paid_at_the_door(self, note, instructions):
        draft = received(checked=False, payment_method="cod", total="1234.50", customer_note=note)

        assert draft.dropoff["instructions"] == instructions

    @pytest.mark.parametrize("case", ["outside_service_area", "price_unavailable", "pickup_not_linked"])
    def test_has_the_code_of_the_refusal(self, settings, case):
        connection = shop()
        if case == "outside_service_area":
            settings.SERVICE_AREA = service_area.parse("40,-75,41,-73")
        elif case == "price_unavailable":
            Tariff.objects.all().delete()
        else:
            PickupPoint.objects.all().delete()

        draft = received(connection)

        assert (draft.missing, draft.price, draft.due_at) == ([case], None, None)

    def test_is_looked_at_again_when_thestreets_answers(self, streets, settings):
        settings.GEOCODER_URL = "http://127.0.0.1:9/"
        draft = received()
        settings.GEOCODER_URL = streets.url

        assert draft.missing == ["geocoder_unavailable"]
        assert draft.due_at > NOW() + timedelta(minutes=5)
        due_again()
        assert (read(draft).missing, read(draft).price) == ([], PRICE)

    def test_that_people_change_is_located_anew(self, streets):
        draft = received()
        (dropoff,) = draft.payload["dropoffs"]
        elsewhere = {**dropoff, "address": {**dropoff["address"], "number": "501"}}

        drafts.edit(draft=draft, seen=draft.revision, dropoff=elsewhere, by=BY, at=NOW())

        changed = read(draft)
        assert (changed.price, payloads.point_of(changed.payload["dropoffs"][0])) == (None, None)
        drafts.check_due()
        assert payloads.point_of(read(draft).payload["dropoffs"][0]) is not None
        assert "501" in str(streets.queries[-1])

    def test_whose_place_people_choose_is_there(self):
        draft = received()
        there = payloads.at_place(draft.payload["dropoffs"][0], NEAR)

        drafts.edit(draft=draft, seen=draft.revision, dropoff=there, by=BY, at=NOW())
        drafts.check_due()

        assert payloads.point_of(read(draft).payload["dropoffs"][0]) == NEAR

    def test_that_the_shop_has_changed_is_not_changed_by_people_who_have_not_seen_it(self):
        draft = received()
        post(draft.connection, order(int(draft.order_id), shipping={"address_1": "Rua Bela Cintra"}))
        told = read(draft)

        with pytest.raises(DraftChanged):
            drafts.edit(
                draft=draft, seen=draft.revision, dropoff={**draft.dropoff, "instructions": "Sino"}, by=BY, at=NOW()
            )

        assert (read(draft).dropoff, read(draft).edited_by) == (told.dropoff, "")

    def test_is_changed_by_people_while_it_is_priced_for_the_first_time(self):
        draft = received(checked=False)
        drafts.check_due()
        assert read(draft).price == PRICE

        drafts.edit(
            draft=draft, seen=draft.revision, dropoff={**draft.dropoff, "instructions": "Sino"}, by=BY, at=NOW()
        )

        assert read(draft).dropoff["instructions"] == "Sino"

    def test_keeps_the_price_of_a_revision_that_another_worker_has_priced(self):
        draft = received(checked=False)
        drafts.check_due()
        Tariff.objects.update(minimum_fare=Decimal(15))

        drafts.check(draft)  # as it was read before

        assert read(draft).price == PRICE

    def test_that_is_saved_twice_as_it_was_shown_is_changed_once(self):
        draft = received()
        noted = {**draft.payload["dropoffs"][0], "instructions": "No jardim"}

        for _time in range(2):
            drafts.edit(draft=draft, seen=draft.revision, dropoff=noted, by=BY, at=NOW())

        assert read(draft).revision == draft.revision + 1

    @pytest.mark.parametrize("changed", [False, True])
    def test_is_looked_at_again_for_three_days_after_its_last_change(self, streets, settings, changed):
        settings.GEOCODER_URL = "http://127.0.0.1:9/"
        draft = received(checked=False)
        old = NOW() - timedelta(days=3, minutes=1)
        Draft.objects.update(created_at=old, shop_changed_at=NOW() - timedelta(minutes=1) if changed else old)

        drafts.check_due()

        assert (read(draft).due_at is not None) == changed

    def test_follows_the_settings_of_its_connection(self):
        ended = received(number=6)
        drafts.drop(draft=ended, by=BY, at=NOW())
        ended = read(ended)
        draft = received(ended.connection)
        here = draft.connection.pickup
        other = PickupPoint.objects.create(
            integrator=here.integrator, name="Augusta", latitude=NEAR.latitude, longitude=NEAR.longitude
        )

        actions.change(connection=draft.connection, settings=actions.Settings("Loja", other), by=BY, at=NOW())
        drafts.check_due()

        assert payloads.point_of(read(draft).payload["pickup"]) == NEAR
        assert vars(read(ended)).items() >= {"price": ended.price, "revision": ended.revision, "due_at": None}.items()


@pytest.mark.django_db
@pytest.mark.usefixtures("streets")
class TestARequest:
    def test_makes_the_delivery_of_the_order(self):
        draft = received()

        delivery, is_earlier = request(draft)

        stop = Stop.objects.get(delivery=delivery)
        assert not is_earlier
        assert (stop.external_id, stop.contact_name, stop.address["number"]) == (draft.order_id, "Maria Souza", "500")
        assert delivery.shipping_value == PRICE
        assert (read(draft).status, read(draft).delivery_id, read(draft).due_at) == ("requested", delivery.pk, None)

    def test_again_makes_no_second_one(self):
        draft = received()
        delivery, _is_earlier = request(draft)

        assert request(draft) == (delivery, True)
        assert request(read(draft)) == (delivery, True)
        assert Delivery.objects.count() == 1

    def test_at_another_price_shows_it_first(self):
        draft = received()
        Tariff.objects.update(minimum_fare=Decimal(15))

        with pytest.raises(DraftPriceChanged):
            request(draft)

        assert not Delivery.objects.exists()
        assert read(draft).price == Decimal(15)
        assert request(read(draft))[0].shipping_value == Decimal(15)

    def test_of_a_revision_has_one_price(self):
        draft = received()
        Tariff.objects.update(minimum_fare=Decimal(15))

        drafts.check(read(draft))  # as a person does who saves it without a change

        with pytest.raises(DraftChanged):
            drafts.request(draft=read(draft), seen=draft.revision, by=BY, at=NOW())
        assert not Delivery.objects.exists()

    def test_of_a_draft_that_the_shop_has_changed_at_the_same_price_is_refused(self):
        draft = received()
        post(draft.connection, order(int(draft.order_id), customer_note="No jardim"))
        drafts.check_due()

        with pytest.raises(DraftChanged):
            drafts.request(draft=read(draft), seen=draft.revision, by=BY, at=NOW())

        assert read(draft).price == draft.price
        assert not Delivery.objects.exists()

    def test_of_a_draft_that_has_changed_since_it_was_read_is_refused(self):
        draft = received()
        post(draft.connection, order(int(draft.order_id), customer_note="No jardim"))

        with pytest.raises(DraftChanged):
            request(draft)

        assert not Delivery.objects.exists()

    def test_of_a_dropped_draft_is_refused_until_it_is_taken_back(self):
        draft = received()
        drafts.drop(draft=draft, by=BY, at=NOW())

        with pytest.raises(DraftEnded):
            request(read(draft))

        drafts.take_back(draft=draft, by=BY, at=NOW())
        drafts.check_due()
        assert request(read(draft))[0].pk == read(draft).delivery_id

    def test_of_a_test_order_is_for_the_sandbox_only(self):
        live, sandbox = received(), received(shop(environment="sandbox"))
        Draft.objects.update(is_test=True, due_at=NOW(), price=None)
        drafts.check_due()

        assert (read(live).missing, read(sandbox).missing) == (["test_order"], [])
        delivery, _is_earlier = request(read(sandbox))
        assert delivery.environment == "sandbox"

    def test_stays_when_the_shop_cancels_the_order(self):
        draft = received()
        delivery, _is_earlier = request(draft)

        answer = post(draft.connection, order(int(draft.order_id), status="cancelled")).json()

        assert answer == {"result": "cancelled", "reason": None, "id": str(delivery.pk)}
        assert (read(draft).status, read(draft).shop_cancelled_at is not None) == ("requested", True)
        delivery.refresh_from_db()
        assert delivery.cancelled_at is None
        again = post(draft.connection, order(int(draft.order_id))).json()
        assert again == {"result": "ignored", "reason": "already_requested", "id": str(delivery.pk)}


@pytest.mark.django_db
@pytest.mark.usefixtures("streets")
class TestAnAutomaticConnection:
    def test_requests_what_is_complete(self):
        draft = received(shop(automatic=True))

        assert draft.status == "requested"
        assert Delivery.objects.get().pk == draft.delivery_id
        assert Reception.objects.get().result == "requested"

    def test_leaves_what_is_not_complete_to_people(self):
        draft = received(shop(automatic=True), **WITHOUT_NUMBER)
        (dropoff,) = draft.payload["dropoffs"]

        edited = {**dropoff, "address": {**dropoff["address"], "number": "500"}}
        drafts.edit(draft=draft, seen=draft.revision, dropoff=edited, by=BY, at=NOW())
        drafts.check_due()

        assert (read(draft).status, read(draft).missing, read(draft).price) == ("open", [], PRICE)

    @pytest.mark.parametrize(
        ("changes", "reason"), [({"status": "on-hold"}, "unpaid"), ({"line_items": []}, "nothing_to_ship")]
    )
    def test_requests_nothing_that_the_shop_sends_no_more(self, changes, reason):
        connection, number = shop(automatic=True), 5
        draft = received(connection, checked=False, number=number)

        answer = post(connection, order(number, date_modified_gmt="2026-11-20T12:05:00", **changes))
        drafts.check_due()

        assert answer.json()["reason"] == reason
        assert (read(draft).status, read(draft).price) == ("open", PRICE)

    def test_requests_what_the_shop_has_cancelled_and_taken_back(self):
        connection, number = shop(automatic=True), 6
        draft = received(connection, checked=False, number=number)

        post(connection, order(number, status="cancelled", date_modified_gmt="2026-11-20T12:05:00"))
        post(connection, order(number, date_modified_gmt="2026-11-20T12:10:00"))
        drafts.check_due()

        assert read(draft).status == "requested"

    @pytest.mark.parametrize("end", ["off", "removed"])
    def test_that_is_switched_off_leaves_its_orders_to_people(self, end):
        connection = shop(automatic=True)
        draft = received(connection, checked=False)

        assert connection.pickup
        if end == "off":
            settings = actions.Settings("Loja", connection.pickup)
            actions.change(connection=connection, settings=settings, by=BY, at=NOW())
        else:
            actions.remove(connection=connection, by=BY, at=NOW())
        drafts.check_due()

        assert (read(draft).status, read(draft).price) == ("open", PRICE)

    def test_of_a_suspended_account_waits(self):
        connection = shop(automatic=True)
        connection.integrator.write_suspension(reason="unpaid", by=BY, at=NOW())

        draft = received(connection)

        assert (draft.status, draft.missing) == ("open", ["account_suspended"])
        connection.integrator.clear_suspension()
        due_again()
        assert read(draft).status == "requested"

    def test_requests_once_whatever_ends_a_worker(self, monkeypatch):
        """The worker ends after the delivery is written and before the transaction is committed, then before it."""
        connection = shop(automatic=True)
        post(connection, order())

        class Killed(BaseException):
            pass

        def end(*_arguments, **_options):
            raise Killed

        for owner, place in ((drafts.DRAFTS, "end"), (drafts, "_request_now")):
            monkeypatch.setattr(owner, place, end)
            with pytest.raises(Killed):
                drafts.check_due()
            monkeypatch.undo()
            assert not Delivery.objects.exists()
            Draft.objects.update(due_at=NOW())
        drafts.check_due()

        assert Delivery.objects.get().pk == Draft.objects.get().delivery_id
        due_again()
        assert Delivery.objects.count() == 1


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("streets")
class TestAtTheSameTime:
    def test_two_requests_make_one_delivery(self):
        draft = received()

        first, second = overlap(partial(request, draft), partial(request, draft))

        assert [first[1], second[1]] == [False, True]
        assert Delivery.objects.get().pk == first[0].pk == second[0].pk

    @pytest.mark.parametrize("change", [drafts.drop, drafts.take_back])
    def test_a_request_and_another_end_are_one_after_the_other(self, change):
        draft = received()

        _made, other = overlap(partial(request, draft), partial(change, draft=draft, by=BY, at=NOW()))

        assert isinstance(other, DraftEnded)
        assert read(draft).status == "requested"

    def test_a_request_is_not_changed_any_more(self):
        draft = received()
        edit = partial(drafts.edit, draft=draft, seen=draft.revision, dropoff=draft.dropoff, by=BY, at=NOW())

        _made, other = overlap(partial(request, draft), edit)

        assert isinstance(other, DraftEnded)

    def test_an_order_is_told_after_the_other(self):
        draft = received()
        cancelled = order(int(draft.order_id), status="cancelled")

        _made, answer = overlap(partial(request, draft), lambda: post(draft.connection, cancelled).json())

        assert answer["id"] == str(read(draft).delivery_id)

    def test_a_new_order_makes_one_draft(self):
        connection, body = shop(), order()

        answers = overlap(*[lambda: post(connection, body).json()["result"]] * 2)

        assert answers == ["draft", "updated"]
        assert Draft.objects.count() == 1

    def test_an_account_connects_no_more_shops_than_it_may(self, monkeypatch):
        monkeypatch.setattr(actions, "MOST_CONNECTIONS", 1)
        integrator = IntegratorFactory.create()
        TariffFactory.create()

        _made, refused = overlap(*[partial(shop, integrator=integrator)] * 2)

        assert isinstance(refused, TooManyConnections)


@pytest.mark.django_db
class TestForgetting:
    def test_empties_what_ended_long_ago(self, settings):
        connection = shop()
        old, open_one = (received(connection, checked=False) for _number in range(2))
        drafts.drop(draft=old, by=BY, at=NOW() - timedelta(days=settings.FORGET_DELIVERY_DAYS + 1))

        forget()

        assert (read(old).payload, read(old).source, read(old).contact_phone) == ({}, {}, "")
        assert read(open_one).payload
        assert post(connection, order(int(old.order_id))).json()["reason"] == "dropped"
        assert read(old).payload == {}

    def test_drops_and_empties_what_stays_open_and_nobody_has_touched(self, settings):
        draft = received(checked=False)
        old = (NOW() - timedelta(days=settings.FORGET_DELIVERY_DAYS, minutes=1)).replace(microsecond=0)
        Draft.objects.update(created_at=old, shop_changed_at=old, edited_at=old)

        forget()

        left = read(draft)
        assert (left.status, left.dropped_by, left.revision) == ("dropped", RETENTION, draft.revision + 1)
        assert (left.payload, left.source, left.contact_phone, left.due_at) == ({}, {}, "", None)
        assert left.ended_at == left.forgotten_at > NOW() - timedelta(minutes=1)
        assert post(draft.connection, told(draft, old)).json()["reason"] == "dropped"
        assert read(draft).payload == {}

    @pytest.mark.usefixtures("streets")
    def test_leaves_what_the_shop_changes_later_to_people(self, settings):
        draft = received(shop(automatic=True), checked=False, **WITHOUT_NUMBER)
        old = NOW() - timedelta(days=settings.FORGET_DELIVERY_DAYS, minutes=1)
        Draft.objects.update(created_at=old, shop_changed_at=old, edited_by=BY, edited_at=old)
        forget()

        answer = post(draft.connection, told(draft, NOW()))
        drafts.check_due()

        opened = read(draft)
        assert (opened.edited_by, opened.edited_at) == ("", None)
        assert answer.json()["result"] == "draft"
        assert (opened.status, opened.dropped_by, opened.forgotten_at, opened.price) == ("open", "", None, PRICE)
        assert (opened.receiver, opened.contact_phone) == ("Maria Souza", "(11) 97777-0001")

    @pytest.mark.parametrize("column", ["created_at", "shop_changed_at", "edited_at"])
    def test_keeps_an_open_one_that_the_shop_or_people_have_touched_since(self, settings, column):
        draft = received(checked=False)
        days = timedelta(days=settings.FORGET_DELIVERY_DAYS)
        old, since = NOW() - days - timedelta(minutes=1), NOW() - days + timedelta(minutes=1)
        touched = {**dict.fromkeys(("created_at", "shop_changed_at", "edited_at"), old), column: since}
        Draft.objects.update(**touched)

        forget()

        assert (read(draft).status, read(draft).payload) == ("open", draft.payload)

    @pytest.mark.parametrize(
        ("ahead", "is_kept"), [(None, False), (timedelta(hours=23), True), (timedelta(hours=25), False)]
    )
    def test_counts_no_change_of_the_shop_that_is_still_to_come(self, settings, ahead, is_kept):
        draft = received(checked=False)
        old = NOW() - timedelta(days=settings.FORGET_DELIVERY_DAYS, minutes=1)
        Draft.objects.update(created_at=old, shop_changed_at=ahead and NOW() + ahead)

        forget()

        assert (read(draft).payload != {}) == is_kept

    def test_keeps_what_is_touched_while_it_is_looked_for(self, settings, monkeypatch):
        """The row is found untouched, and a person changes it before it is dropped."""
        draft = received(checked=False)
        old = NOW() - timedelta(days=settings.FORGET_DELIVERY_DAYS, minutes=1)
        Draft.objects.update(created_at=old, shop_changed_at=old)
        forget_open = drafts.DRAFTS._forget_open

        def touched_before(keys, **options):
            Draft.objects.update(edited_at=NOW())
            forget_open(keys, **options)

        monkeypatch.setattr(drafts.DRAFTS, "_forget_open", touched_before)
        forget()

        assert read(draft).payload == draft.payload

    def test_looks_for_open_ones_by_the_index_of_what_is_to_be_forgotten(self):
        connection = shop()
        for _number in range(40):  # with few rows other plans are as cheap
            post(connection, order())
        ended = Draft.objects.exclude(pk=Draft.objects.latest("created_at").pk)
        ended.update(status="dropped", ended_at=NOW(), forgotten_at=NOW(), due_at=None)
        with database.cursor() as sql:
            sql.execute("ANALYZE delivery_draft")
            sql.execute("SET LOCAL enable_seqscan = off")

        assert "draft_to_forget" in drafts.DRAFTS._untouched(since=NOW(), at=NOW()).explain()


@pytest.mark.django_db
class TestTheListOfDrafts:
    def test_has_those_of_the_account_and_environment(self, api_of):
        connection = shop()
        draft = received(connection, checked=False)
        sandbox = received(shop(integrator=connection.integrator, environment="sandbox"), checked=False)
        received(checked=False)

        answer = api_of(connection.integrator).get("/api/drafts").json()

        assert answer == {
            "data": [
                {
                    "draftId": str(draft.pk),
                    "connection": connection.pk,
                    "externalId": draft.external_id,
                    "status": "open",
                    "missing": [],
                    "price": None,
                    "payload": draft.payload,
                    "deliveryId": None,
                    "createdAt": timezone.localtime(draft.created_at).isoformat(),
                }
            ],
            "nextCursor": None,
        }
        of_sandbox = api_of(connection.integrator, sandbox=True).get("/api/drafts").json()
        assert [each["draftId"] for each in of_sandbox["data"]] == [str(sandbox.pk)]

    def test_is_filtered_by_status_and_read_in_pages(self, api_of):
        connection = shop()
        made = [received(connection, checked=False) for _number in range(3)]
        drafts.drop(draft=made[0], by=BY, at=clock.now())
        api = api_of(connection.integrator)

        first = api.get("/api/drafts?status=open&limit=1").json()
        second = api.get("/api/drafts", {"status": "open", "limit": 1, "cursor": first["nextCursor"]}).json()

        assert [each["draftId"] for page in (first, second) for each in page["data"]] == [
            str(each.pk) for each in (made[2], made[1])
        ]
        assert second["nextCursor"] is None
        assert api.get("/api/drafts?status=lost").status_code == 422


@pytest.fixture
def api_of(db):
    def client(integrator, **options):
        token = TokenFactory.create(integrator=integrator, **options)
        return APIClient(HTTP_AUTHORIZATION=f"Bearer {token.clear_text}")

    return client
