"""Orders of sellers' shops: the one order that is made, what is missing else, and what the shop says afterwards."""

from datetime import timedelta
from functools import partial

import pytest
from django.db import connection as database
from django.db.models import F
from django.utils import timezone

from common.accounts import Environment
from common.shops.platforms import Platform
from integration.actions import orders
from integration.connections import actions, drafts, payloads
from integration.connections.models import Draft, Reception
from integration.errors import DraftChanged, DraftEnded, DraftIncomplete, DuplicateOrder, TooManyConnections
from integration.freight.models import FreightRate
from integration.lifecycle import Status
from integration.models import Company, Order, Simulation
from integration.tasks import forget
from tests.delivery.connections.shops import WITHOUT_NUMBER, order, post
from tests.delivery.connections.test_recorded_orders import NUMBERS, RECORDED, sent
from tests.integration.connections.shops import shop
from tests.integration.factories import BY, COMPANY, SellerFactory, create_order, key_of, load_tariff
from tests.overlapping import overlap

NOW = timezone.now


def received(connection=None, **changes):
    post(connection or shop(), order(**changes))
    return read(Draft.objects.latest("created_at"))


def read(draft):
    return Draft.objects.select_related("connection__seller", "made").get(pk=draft.pk)


def make(draft, **options):
    return drafts.make(draft=draft, by=BY, at=NOW(), **options)


def completed(draft):
    """What people fill in."""
    body = draft.payload
    address = {**body["receiver"]["address"], "streetNumber": "500"}
    return payloads.new_order({**body, "receiver": {**body["receiver"], "address": address}})


@pytest.mark.django_db
class TestAPaidOrder:
    def test_becomes_an_order(self):
        load_tariff()
        connection = shop(service="next", seller=SellerFactory.create(origin="01310100"))

        answer = post(connection, order(1001))

        made, draft = Order.objects.get(), Draft.objects.get()
        assert answer.json() == {"result": "order", "reason": None, "id": "1001"}
        assert (made.code, made.status, made.environment, made.service) == ("1001", "pending", "live", "next")
        assert (made.company.document, f"{made.cost:.2f}", made.freight is not None) == (COMPANY, "99.90", True)
        assert made.items == [{"description": "Caneca", "dimensions": "20x15x10,1", "quantity": 2, "price": "45.0"}]
        assert made.receiver == {
            "name": "Maria Souza", "document": "529.982.247-25", "cellphone": "(11) 97777-0001",
            "email": "maria@example.com",
            "address": {
                "street": "Rua Augusta", "streetNumber": "500", "complement": "Ap. 12", "neighborhood": "Consolação",
                "city": "São Paulo", "state": "SP", "zipCode": "01304000",
            },
        }  # fmt: skip  # a receiver
        assert (made.receiver_document, made.created_by) == ("52998224725", "shop Loja")
        assert (draft.made, draft.status, draft.missing, draft.price) == (made, "requested", [], made.freight_reais)
        assert Reception.objects.values_list("result", "draft").get() == ("order", draft.pk)

    @pytest.mark.parametrize("platform", Platform)
    def test_of_each_platform_becomes_one(self, platform):
        connection = shop(platform=platform)

        answers = [post(connection, sent(RECORDED[platform])).json() for _time in range(2)]

        made = Order.objects.get()
        assert [answer["result"] for answer in answers] == ["order", "ignored"]
        assert answers[1] == {"result": "ignored", "reason": "already_requested", "id": NUMBERS[platform]}
        assert (made.code, made.receiver_name) == (NUMBERS[platform], "Bento Sá")
        assert made.receiver["address"]["streetNumber"] == "500"
        dimensions = {item["dimensions"].partition(",")[0] for item in made.items}
        assert (dimensions == {"20x15x10"}) == (platform is not Platform.YAMPI)

    @pytest.mark.parametrize(
        ("changes", "missing"),
        [
            (WITHOUT_NUMBER, ["missing_number"]),
            ({"shipping": {"postcode": "1304", "neighborhood": ""}, "billing": {"neighborhood": ""}},
             ["missing_zipcode", "missing_neighborhood"]),
            ({"shipping": {"city": "", "state": ""}, "billing": {"city": "", "state": ""}},
             ["missing_city", "missing_state"]),
        ],
    )  # fmt: skip  # a table
    def test_that_something_is_missing_of_waits(self, changes, missing):
        draft = received(**changes)

        assert (draft.status, draft.missing, draft.price) == ("open", missing, None)
        assert not Order.objects.exists()
        with pytest.raises(DraftIncomplete):
            make(draft)
        assert not Order.objects.exists()

    def test_with_the_number_of_another_order_waits(self):
        connection = shop()
        create_order(connection.seller, orderId="1001")

        draft = received(connection, number=1001)

        assert (draft.status, draft.missing) == ("open", ["duplicate_order"])
        with pytest.raises(DuplicateOrder):
            make(draft)
        assert Order.objects.count() == 1

    def test_without_a_company_waits(self):
        connection = shop()
        Company.objects.all().delete()

        assert received(connection).missing == ["company_not_found"]

    def test_is_made_when_the_suspension_is_lifted(self):
        connection = shop()
        connection.seller.write_suspension(reason="unpaid", by=BY, at=NOW())
        draft = received(connection, number=7)
        connection.seller.clear_suspension()

        assert draft.missing == ["account_suspended"]
        assert post(connection, order(7)).json()["result"] == "order"

    def test_that_is_refused_again_at_another_freight_is_a_change_of_what_people_see(self):
        load_tariff()
        connection = shop(seller=SellerFactory.create(origin="01310100"))
        connection.seller.write_suspension(reason="unpaid", by=BY, at=NOW())
        before = received(connection, number=7)
        FreightRate.objects.update(base_centavos=F("base_centavos") + 100)
        again = [post(connection, order(7)).json()["result"] for _time in range(2)]

        now = read(before)
        assert (again, now.missing) == (["updated"] * 2, ["account_suspended"])
        assert (now.price, now.revision) == (before.price + 1, before.revision + 1)

    def test_of_a_test_is_made_in_the_sandbox_only(self):
        live, sandbox = shop(), shop(environment="sandbox")
        for connection in (live, sandbox):
            actions.try_out(connection=connection, at=NOW())

        made = Order.objects.get()
        assert (made.environment, Simulation.objects.get().pk) == ("sandbox", made.pk)
        assert Draft.objects.values_list("status", "missing").get(connection=live) == ("open", ["test_order"])
        with pytest.raises(DraftIncomplete):
            make(Draft.objects.get(connection=live))

    def test_that_is_paid_at_the_door_waits_for_people(self):
        draft = received(number=7, payment_method="cod")

        assert (draft.status, draft.missing, draft.is_ready) == ("open", ["pays_at_door"], True)
        assert post(draft.connection, order(7, payment_method="cod")).json()["result"] == "updated"
        assert make(read(draft))[0].code == "7"

    def test_is_made_as_soon_as_the_shop_says_what_was_missing(self):
        draft = received(number=7, **WITHOUT_NUMBER)

        answer = post(draft.connection, order(7)).json()

        assert answer == {"result": "order", "reason": None, "id": "7"}
        assert Draft.objects.get().made == Order.objects.get()


@pytest.mark.django_db
class TestPeople:
    def test_fill_in_what_is_missing(self):
        draft = received(number=7, **WITHOUT_NUMBER)

        made, is_earlier = make(draft, payload=completed(draft), seen=draft.revision)

        assert (made.code, made.receiver["address"]["streetNumber"], is_earlier) == ("7", "500", False)
        assert (read(draft).status, read(draft).made) == ("requested", made)
        assert read(draft).payload["receiver"]["address"]["streetNumber"] == "500"
        assert make(draft, payload=completed(draft), seen=draft.revision) == (made, True)
        assert Order.objects.count() == 1

    def test_see_first_what_the_shop_has_changed(self):
        draft = received(number=7, **WITHOUT_NUMBER)
        post(draft.connection, order(7, total="50.00", **WITHOUT_NUMBER))

        with pytest.raises(DraftChanged):
            make(draft, payload=completed(draft), seen=draft.revision)

        assert not Order.objects.exists()

    def test_make_no_order_of_a_dropped_one_until_they_take_it_back(self):
        connection = shop()
        draft = received(connection, number=7, **WITHOUT_NUMBER)
        drafts.drop(draft=draft, by=BY, at=NOW())

        with pytest.raises(DraftEnded):
            make(draft, payload=completed(draft))
        drafts.take_back(draft=draft, by=BY, at=NOW())
        again = post(connection, order(7)).json()

        assert again["result"] == "updated"  # it waits for the click of those who have had it in their hands
        assert make(read(draft))[0].code == "7"


@pytest.mark.django_db
class TestACancellation:
    @pytest.mark.parametrize(
        ("status", "cancelled"), [(Status.COLLECTED, "cancelled"), (Status.DELIVERED, "delivered")]
    )
    def test_cancels_the_order_while_that_is_allowed(self, status, cancelled):
        draft = received(number=7)
        orders.move(order=draft.made, to=status, by=BY, at=NOW())

        answers = [post(draft.connection, order(7, status="cancelled")).json() for _time in range(2)]

        assert answers == [{"result": "cancelled", "reason": None, "id": "7"}] * 2
        assert Order.objects.get().status == cancelled
        assert read(draft).shop_cancelled_at is not None
        if cancelled == "cancelled":
            assert draft.made.status_log.last().by == "shop Loja"

    def test_of_another_kind_with_the_id_of_the_order_cancels_nothing(self):
        connection, deleted = received(number=7).connection, {"id": order(7)["id"]}

        refused = post(connection, deleted, topic="customer.deleted")

        assert (refused.status_code, read(Draft.objects.get()).shop_cancelled_at) == (422, None)
        assert post(connection, deleted, topic="order.deleted").json()["result"] == "cancelled"

    def test_that_the_shop_takes_back_makes_the_order_again(self):
        connection = shop()
        post(connection, order(7))
        post(connection, order(7, status="cancelled", date_modified_gmt="2026-11-20T13:00:00"))

        again = post(connection, order(7, date_modified_gmt="2026-11-20T14:00:00")).json()
        stale = post(connection, order(7, date_modified_gmt="2026-11-20T12:30:00")).json()

        assert (again["result"], stale["reason"]) == ("order", "already_requested")
        assert list(Order.objects.order_by("pk").values_list("status", flat=True)) == ["cancelled", "pending"]

    def test_that_the_shop_takes_back_unpaid_makes_none(self):
        connection = shop()
        post(connection, order(7))
        post(connection, order(7, status="cancelled", date_modified_gmt="2026-11-20T13:00:00"))

        answer = post(connection, order(7, status="pending", date_modified_gmt="2026-11-20T14:00:00")).json()

        assert answer["reason"] == "already_requested"
        assert Order.objects.count() == 1

    def test_by_the_sellers_people_stays_when_the_shop_tells_the_order_again(self):
        draft = received(number=7)
        orders.cancel(order=draft.made, by=BY, at=NOW())

        answer = post(draft.connection, order(7, date_modified_gmt="2026-11-21T14:00:00")).json()

        assert answer["reason"] == "already_requested"
        assert Order.objects.count() == 1


@pytest.mark.django_db
class TestAProcessThatEnds:
    @pytest.mark.parametrize("place", ["finish", "end"])
    def test_leaves_nothing_or_one_order(self, monkeypatch, place):
        connection = shop()

        class Killed(BaseException):
            pass

        def end(*_arguments, **_options):
            raise Killed

        monkeypatch.setattr(drafts.DRAFTS, place, end)
        with pytest.raises(Killed):
            post(connection, order(7))
        monkeypatch.undo()
        assert not Draft.objects.exists()
        assert not Order.objects.exists()

        assert [post(connection, order(7)).json()["result"] for _time in range(2)] == ["order", "ignored"]
        assert Order.objects.count() == 1


@pytest.mark.django_db(transaction=True)
class TestAtTheSameTime:
    def test_an_order_is_made_once(self):
        connection, body = shop(), order()

        answers = overlap(*[lambda: post(connection, body).json()["result"]] * 2)

        assert answers == ["order", "ignored"]
        assert Draft.objects.get().made == Order.objects.get()

    def test_two_clicks_make_one_order(self):
        draft = received(number=7, **WITHOUT_NUMBER)
        click = partial(make, draft, payload=completed(draft))

        first, second = overlap(click, click)

        assert (first[1], second[1]) == (False, True)
        assert Order.objects.get() == first[0] == second[0]

    def test_a_seller_connects_no_more_shops_than_it_may(self, monkeypatch):
        monkeypatch.setattr(actions, "MOST_CONNECTIONS", 1)
        seller = SellerFactory.create()

        _made, refused = overlap(*[partial(shop, seller=seller)] * 2)

        assert isinstance(refused, TooManyConnections)


@pytest.mark.django_db
class TestForgetting:
    def test_empties_what_ended_long_ago(self, settings):
        connection = shop()
        old, open_one = received(connection, number=7), received(connection, **WITHOUT_NUMBER)
        Draft.objects.filter(pk=old.pk).update(ended_at=NOW() - timedelta(days=settings.FORGET_DELIVERY_DAYS + 1))

        forget()

        assert (read(old).payload, read(old).contact_phone, read(old).receiver_document) == ({}, "", "")
        assert read(open_one).payload
        assert post(connection, order(7)).json()["reason"] == "already_requested"

    def test_drops_and_empties_what_stays_open_and_nobody_has_touched(self, settings):
        draft = received(number=7, **WITHOUT_NUMBER)
        old = NOW() - timedelta(days=settings.FORGET_DELIVERY_DAYS, minutes=1)
        Draft.objects.update(created_at=old, shop_changed_at=old)

        forget()

        left = read(draft)
        assert (left.status, left.payload, left.contact_phone, left.receiver_document) == ("dropped", {}, "", "")

    def test_leaves_what_the_shop_changes_later_to_people(self, settings):
        draft = received(number=7, **WITHOUT_NUMBER)
        old = NOW() - timedelta(days=settings.FORGET_DELIVERY_DAYS, minutes=1)
        Draft.objects.update(created_at=old, shop_changed_at=old)
        forget()

        answer = post(draft.connection, order(7, date_modified_gmt=f"{NOW():%Y-%m-%dT%H:%M:%S}"))

        assert answer.json()["result"] == "draft"
        assert (read(draft).status, read(draft).missing, read(draft).receiver["name"]) == ("open", [], "Maria Souza")
        assert not Order.objects.exists()

    def test_looks_for_open_ones_by_the_index_of_what_is_to_be_forgotten(self):
        connection = shop()
        for _number in range(40):  # with few rows other plans are as cheap
            post(connection, order(None, **WITHOUT_NUMBER))
        ended = Draft.objects.exclude(pk=Draft.objects.latest("created_at").pk)
        ended.update(status="dropped", ended_at=NOW(), forgotten_at=NOW())
        with database.cursor() as sql:
            sql.execute("ANALYZE integration_draft")
            sql.execute("SET LOCAL enable_seqscan = off")

        assert "seller_draft_to_forget" in drafts.DRAFTS._untouched(since=NOW(), at=NOW()).explain()


@pytest.mark.django_db
class TestTheListOfDrafts:
    def test_has_those_of_the_seller_and_environment(self, seller_client):
        connection = shop()
        draft = received(connection, **WITHOUT_NUMBER)
        made = received(connection, number=7)
        sandbox = received(shop(environment="sandbox"))
        api = seller_client(connection.seller)

        answer = api.get("/api/integration/drafts").json()

        assert [each["draftId"] for each in answer["data"]] == [str(made.pk), str(draft.pk)]
        assert answer["data"][1] == {
            "draftId": str(draft.pk),
            "connection": connection.pk,
            "externalId": draft.external_id,
            "status": "open",
            "missing": ["missing_number"],
            "price": None,
            "payload": draft.payload,
            "orderId": None,
            "createdAt": answer["data"][1]["createdAt"],
        }
        assert (answer["data"][0]["orderId"], answer["nextCursor"], answer["success"]) == ("7", None, True)
        api.credentials(HTTP_AUTHORIZATION=f"Basic {key_of(connection.seller, Environment.SANDBOX)}")
        assert [each["draftId"] for each in api.get("/api/integration/drafts").json()["data"]] == [str(sandbox.pk)]

    def test_is_filtered_by_status_and_read_in_pages(self, seller_client):
        connection = shop()
        made = [received(connection, **WITHOUT_NUMBER) for _number in range(3)]
        drafts.drop(draft=made[0], by=BY, at=NOW())
        api = seller_client(connection.seller)

        first = api.get("/api/integration/drafts?status=open&limit=1").json()
        query = {"status": "open", "limit": 1, "cursor": first["nextCursor"]}
        second = api.get("/api/integration/drafts", query).json()

        shown = [each["draftId"] for page in (first, second) for each in page["data"]]
        assert shown == [str(each.pk) for each in (made[2], made[1])]
        assert second["nextCursor"] is None
        assert api.get("/api/integration/drafts?status=lost").status_code == 422
