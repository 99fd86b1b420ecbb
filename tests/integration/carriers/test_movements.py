"""Events that carriers and people report."""

from datetime import timedelta
from functools import partial

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone, translation

from integration.carriers import movements
from integration.carriers.movements import Movement
from integration.lifecycle import Status
from integration.models import MovementRecord, Order, Seller, StatusLog
from integration.tasks import prune_idempotency_records
from tests.cases import in_turn
from tests.integration.factories import ACCESS_KEY, BY, OTHER_COMPANY, create_order, nfe_xml, send_invoice
from tests.overlapping import overlap

HOUR = timedelta(hours=1)
KEY = "35261112ABC34501DE35550010000001231000000018"  # pragma: allowlist secret  # of an invoice
INVOICES = (None, {"key": KEY})


def event(code, status=Status.COLLECTED, event_id="", **values):
    return Movement(event_id or f"{code} {status}", code, status, **values)


def record(*events, chosen=None, source="carrier 1", **values):
    found = Order.objects.filter(environment="live") if chosen is None else chosen
    return movements.record(list(events), orders=found, source=source, by=BY, at=timezone.now(), **values)


def codes(outcomes):
    return [outcome.code for outcome in outcomes]


def entries():
    """Those after the creation."""
    return list(StatusLog.objects.exclude(status="pending").values_list("order__tracking_code", "status"))


@pytest.fixture
def order(seller):
    return create_order(seller, trackingCode="AB 12-3")


class TestRecord:
    def test_moves_orders_in_the_sequence_of_their_events(self, order):
        moment = timezone.now()

        outcomes = record(
            event("AB 12-3", place="Campinas", happened_at=moment),
            event("AB 12-3", Status.DELIVERY_FAILED, reason_code="OTHER", reason="Greve"),
            event("AB 12-3", Status.DELIVERED),
        )

        assert codes(outcomes) == ["moved", "moved", "moved"]
        assert [outcome.order for outcome in outcomes] == [order] * 3
        collected, failed, delivered = order.status_log.all()[1:]
        assert (collected.place, collected.happened_at, collected.by) == ("Campinas", moment, BY)
        assert (failed.reason_code, failed.reason, delivered.via_api) == ("OTHER", "Greve", False)
        order.refresh_from_db()
        assert order.status == "delivered"

    @pytest.mark.parametrize("code", ["AB 12-3", "ab123", "A.B-1 2 3"])
    def test_compares_codes_as_tracking_does(self, order, code):
        assert codes(record(event(code))) == ["moved"]

    def test_prefers_the_code_that_is_equal(self, seller, order):
        other = create_order(seller, trackingCode="AB123", orderId="A-2")

        assert [each.order for each in record(event("AB123"), event("AB 12-3"))] == [other, order]

    def test_takes_the_other_codes_of_a_label(self, seller):
        made = [create_order(seller, orderId=f"A-{number}", invoice=invoice) for number, invoice in enumerate(INVOICES)]
        linked = create_order(seller, orderId="B-1")
        send_invoice(seller, nfe_xml(items=["B-1"]).encode())
        address = made[0].tracking_url
        fours = " ".join(KEY[start : start + 4] for start in range(0, len(KEY), 4))
        read = [address, KEY, fours, f"NFe{KEY}", ACCESS_KEY]

        outcomes = record(*(event(code, event_id=str(number)) for number, code in enumerate(read)))

        assert [each.order for each in outcomes] == [made[0], made[1], made[1], made[1], linked]

    def test_says_which_code_of_a_label_was_read_that_names_no_order(self, seller, order):
        for number in range(2):
            create_order(seller, orderId=f"B-{number}", invoice=INVOICES[1])
        read = [f"{order.tracking_url}x", "https://www.nfe.fazenda.gov.br/x", ACCESS_KEY, KEY, "40020000", "40020001x"]

        outcomes = record(*(event(code, event_id=str(number)) for number, code in enumerate(read)))

        assert codes(outcomes) == ["unknown_tracking_code"] * 6
        words = ("QR", "QR", "Nenhum pedido tem a NF-e", "Mais de um", "é um CEP", "Nenhum pedido tem o código")
        assert [word in each.message for each, word in zip(outcomes, words, strict=True)] == [True] * 6
        assert [each.text.split()[0] for each in outcomes] == ["The", "The", "No", "Several", "40020000", "No"]
        assert entries() == []

    def test_takes_no_code_of_a_label_of_another_carrier(self, seller, order):
        keyed = create_order(seller, orderId="B-1", invoice=INVOICES[1])

        outcomes = record(event(order.tracking_url), event(KEY), chosen=Order.objects.filter(code="another"))

        assert (codes(outcomes), keyed.status) == (["unknown_tracking_code"] * 2, "pending")

    def test_finds_the_order_of_an_invoice_key_by_its_seller(self, seller, other_seller):
        made = [
            create_order(seller, invoice=INVOICES[1]),
            create_order(other_seller, invoice=INVOICES[1], company_document=OTHER_COMPANY),
        ]
        sellers = [each.reference for each in (seller, other_seller)]

        either, *chosen = record(event(KEY), *(event(KEY, event_id=each, seller=each) for each in sellers))

        assert either.code == "unknown_tracking_code"
        assert [each.order for each in chosen] == made

    def test_compares_each_moment_with_that_of_the_entry_before_as_a_preview_does(self, order):
        at, day = order.created_at + 120 * HOUR, 24 * HOUR
        days = ((Status.COLLECTED, 1), (Status.IN_TRANSIT, 3), (Status.OUT_FOR_DELIVERY, 2))
        events = [event("AB 12-3", status, happened_at=order.created_at + number * day) for status, number in days]
        found = {"orders": Order.objects.all(), "source": "carrier 1", "at": at}

        foreseen = movements.foresee(events, **found)
        before = entries()
        outcomes = movements.record(events, by=BY, **found)

        assert codes(foreseen) == codes(outcomes) == ["moved", "moved", "invalid_status_report"]
        assert (before, len(entries())) == ([], 2)

    def test_asks_for_the_seller_of_a_code_that_two_have(self, seller, other_seller, order):
        other = create_order(other_seller, trackingCode="AB 12-3", company_document="12ABC34501DE35")

        refused, done, unknown = record(
            event("AB 12-3", event_id="1"),
            event("AB 12-3", event_id="2", seller=other_seller.reference.lower()),
            event("AB 12-3", event_id="3", seller="SEL-NOBODY"),
        )

        assert (refused.code, refused.order, done.order) == ("ambiguous_tracking_code", None, other)
        assert set(refused.sellers) == {(each.reference, each.name) for each in (seller, other_seller)}
        assert all(each.reference in refused.message for each in (seller, other_seller))
        assert unknown.code == "unknown_tracking_code"
        assert entries() == [("AB 12-3", "collected")]

    def test_offers_every_seller_of_a_code_by_name_or_says_that_there_are_more(self, order):
        names = [f"shop {number:02}" for number in range(12)]
        for name in reversed(names):
            seller = Seller.objects.create(name=name, reference=name)
            copy = Order.objects.get(pk=order.pk)
            copy.pk, copy.seller, copy.code = None, seller, name
            copy.save(force_insert=True)

        (all_of_them,) = record(event("AB 12-3"), most_sellers=13)
        (some,) = record(event("AB 12-3"), most_sellers=12)
        (named,) = record(event("AB 12-3"))

        assert [name for _reference, name in all_of_them.sellers] == sorted(
            [order.seller.name, *names], key=str.casefold
        )
        assert "listed here" not in all_of_them.text
        assert (len(some.sellers), len(named.sellers)) == (12, 10)
        assert some.text.endswith(", … More sellers use this code than are listed here.")
        assert all_of_them.message.count("shop") <= 10

    @in_turn(
        ("refused", "code"),
        [
            (event("XX"), "unknown_tracking_code"),
            (event(" -. "), "unknown_tracking_code"),
            (event("AB 12-3", Status.PENDING), "move_refused"),
            (event("AB 12-3", Status.CANCELLED), "move_refused"),
            (event("AB 12-3", Status.RETURNED), "move_refused"),
            (event("AB 12-3", Status.IN_TRANSIT, reason_code="ABSENT"), "invalid_status_report"),
            (event("AB 12-3", happened_at=timezone.now() - 31 * 24 * HOUR), "invalid_status_report"),
            (event("AB 12-3", happened_at=timezone.now() + HOUR), "invalid_status_report"),
        ],
    )
    def test_refuses_one_event_and_records_the_others(self, seller, order, refused, code):
        create_order(seller, trackingCode="OTHER", orderId="A-2")

        first, second = record(refused, event("OTHER"))

        assert (first.code, first.succeeded, second.code) == (code, False, "moved")
        assert entries() == [("OTHER", "collected")]
        assert MovementRecord.objects.count() == 1

    def test_finds_no_other_orders_than_those_given(self, order, other_seller):
        chosen = Order.objects.of(other_seller, "live")

        assert codes(record(event("AB 12-3"), chosen=chosen)) == ["unknown_tracking_code"]
        assert entries() == []

    def test_names_both_statuses_of_an_illegal_move(self, order):
        record(event("AB 12-3", Status.DELIVERED))

        (outcome,) = record(event("AB 12-3", Status.IN_TRANSIT))

        assert "De delivered não se passa a in_transit" in outcome.message
        with translation.override("pt-br"):
            assert "Entregue" in outcome.text
            assert "Em trânsito" in outcome.text


class TestRepetition:
    @pytest.mark.parametrize(
        "changes",
        [
            {"reason_code": "ADDRESS_NOT_FOUND"}, {"reason": "Portão fechado"}, {"place": "Feira de Santana/BA"},
            {"seconds": 1},
        ],
    )  # fmt: skip  # a list
    def test_with_another_reason_place_or_moment_is_another_entry(self, order, changes):
        moment = order.created_at + timedelta(seconds=1)
        said = {"reason_code": "ABSENT", "reason": "Chuva", "place": "Salvador/BA", "happened_at": moment}
        later = {"happened_at": moment + timedelta(**changes)} if "seconds" in changes else changes
        other = {**said, **later}
        record(event("AB 12-3", happened_at=moment))
        events = [
            event("AB 12-3", Status.DELIVERY_FAILED, str(number), **each)
            for number, each in enumerate((said, said, other, other, said))
        ]
        found = {"orders": Order.objects.all(), "source": "carrier 1", "at": moment + HOUR}

        foreseen = movements.foresee(events, **found)
        outcomes = movements.record(events, by=BY, **found)

        assert codes(outcomes) == codes(foreseen) == ["moved", "already", "moved", "already", "already"]
        assert [status for _code, status in entries()] == ["collected", "delivery_failed", "delivery_failed"]

    def test_without_a_moment_is_another_one_an_hour_after_it_was_reported(self, order):
        at, outcomes = order.created_at + 3 * HOUR, []  # the first one long after it happened
        for event_id, minutes in (("1", 0), ("2", 59), ("3", 60), ("4", 119), ("5", 120)):
            happened_at = order.created_at if event_id == "1" else None
            outcomes += movements.record(
                [event("AB 12-3", Status.IN_TRANSIT, event_id, happened_at=happened_at)],
                orders=Order.objects.all(), source="carrier 1", by=BY, at=at + timedelta(minutes=minutes),
            )  # fmt: skip

        assert codes(outcomes) == ["moved", "already", "moved", "already", "moved"]

    def test_of_a_delivery_keeps_its_first_moment(self, order):
        first = order.created_at

        record(
            event("AB 12-3", Status.DELIVERED, "1", happened_at=first),
            event("AB 12-3", Status.DELIVERED, "2", place="Portaria"),
        )

        order.refresh_from_db()
        assert order.delivered_at == first
        assert [entry.place for entry in order.status_log.all()] == ["", "", "Portaria"]

    def test_of_a_status_is_refused_with_an_invalid_reason(self, order):
        record(event("AB 12-3", Status.IN_TRANSIT))

        refused = [
            event("AB 12-3", Status.IN_TRANSIT, "2", reason_code="ABSENT"),
            event("AB 12-3", Status.DELIVERY_FAILED, "3", reason_code="LAZY"),
            event("AB 12-3", Status.DELIVERY_FAILED, "4"),
            event("AB 12-3", Status.RETURNED, "5", place="Salvador/BA"),
        ]
        foreseen = movements.foresee(refused, orders=Order.objects.all(), source="x", at=timezone.now())

        assert codes(foreseen) == codes(record(*refused)) == ["invalid_status_report"] * 4
        assert entries() == [("AB 12-3", "in_transit")]

    def test_of_an_id_with_another_content_is_refused(self, order):
        record(event("AB 12-3", event_id="1", content=b"one"))

        again = record(event("AB 12-3", event_id="1", content=b"one"), event("AB 12-3", event_id="1"))
        (other,) = record(event("AB 12-3", event_id="1", content=b"another"))

        assert codes(again) == ["moved", "moved"]
        assert other.code == "event_id_reused"

    def test_of_a_status_is_a_success_without_an_entry(self, order):
        outcomes = record(event("AB 12-3", event_id="1"), event("AB 12-3", event_id="2"))

        assert codes(outcomes) == ["moved", "already"]
        assert entries() == [("AB 12-3", "collected")]

    def test_of_an_event_has_the_first_answer(self, order):
        first = record(event("AB 12-3", event_id="1"), event("AB 12-3", Status.IN_TRANSIT, event_id="2"))

        again = record(event("AB 12-3", event_id="1"), event("AB 12-3", Status.IN_TRANSIT, event_id="2"))

        assert [outcome.message for outcome in again] == [outcome.message for outcome in first]
        assert [outcome.was_done_before for outcome in first + again] == [False, False, True, True]
        assert entries() == [("AB 12-3", "collected"), ("AB 12-3", "in_transit")]

    def test_of_an_event_has_the_first_answer_when_its_order_is_another_sources_or_its_code_of_two(
        self, order, other_seller
    ):
        record(event("AB 12-3", event_id="1"))
        create_order(other_seller, trackingCode="AB 12-3", company_document=OTHER_COMPANY)

        others = Order.objects.filter(code="another")
        again = [record(event("AB 12-3", event_id="1"), chosen=each) for each in (None, others)]

        assert [(each.code, each.was_done_before) for (each,) in again] == [("moved", True)] * 2

    def test_of_an_id_for_something_else_is_refused(self, seller, order):
        create_order(seller, trackingCode="OTHER", orderId="A-2")
        record(event("AB 12-3", event_id="1"))

        outcomes = record(
            event("OTHER", event_id="1"), event("AB 12-3", Status.DELIVERED, event_id="1"),
        )  # fmt: skip  # a list

        assert codes(outcomes) == ["event_id_reused", "event_id_reused"]
        assert entries() == [("AB 12-3", "collected")]

    def test_of_an_id_by_another_source_is_another_event(self, order):
        record(event("AB 12-3", event_id="1"))
        other, source = event("AB 12-3", Status.DELIVERED, event_id="1"), "user 1"

        foreseen = movements.foresee([other], orders=Order.objects.all(), source=source, at=timezone.now())
        outcomes = record(other, source=source)

        assert [(each.code, each.was_done_before) for each in (*foreseen, *outcomes)] == [("moved", False)] * 2

    def test_of_a_refused_event_is_tried_again(self, seller):
        assert codes(record(event("LATE"))) == ["unknown_tracking_code"]
        create_order(seller, trackingCode="LATE")

        assert codes(record(event("LATE"))) == ["moved"]

    @pytest.mark.parametrize(("days", "is_kept"), [(31, True), (41, False)])
    def test_is_known_for_longer_than_its_moment_may_be_back(self, order, days, is_kept):
        record(event("AB 12-3"))
        MovementRecord.objects.update(recorded_at=timezone.now() - timedelta(days=days))

        prune_idempotency_records()

        assert MovementRecord.objects.exists() is is_kept

    def test_after_its_record_was_deleted_is_refused_by_its_moment(self, order):
        late = event("AB 12-3", happened_at=timezone.now())
        record(late, event("AB 12-3", Status.DELIVERED))
        MovementRecord.objects.all().delete()

        assert codes(record(late)) == ["move_refused"]


@pytest.mark.django_db(transaction=True)
class TestTwoCallsAtOnce:
    def test_record_an_event_once(self, seller):
        create_order(seller, trackingCode="AB")
        call = partial(record, event("AB"))

        (first,), (second,) = overlap(call, call)

        assert (first.code, first.was_done_before) == ("moved", False)
        assert (second.code, second.was_done_before) == ("moved", True)
        assert entries() == [("AB", "collected")]

    def test_answer_alike_although_the_order_has_moved_on(self, seller):
        create_order(seller, trackingCode="AB")
        call = partial(record, event("AB"), event("AB", Status.DELIVERED))

        first, second = overlap(call, call)

        assert codes(first) == codes(second) == ["moved", "moved"]
        assert entries() == [("AB", "collected"), ("AB", "delivered")]

    def test_give_an_id_to_one_order(self, seller):
        for code in ("AB", "CD"):
            create_order(seller, trackingCode=code, orderId=code)

        (first,), (second,) = overlap(
            partial(record, event("AB", event_id="1")), partial(record, event("CD", event_id="1"))
        )

        assert (first.code, second.code) == ("moved", "event_id_reused")
        assert entries() == [("AB", "collected")]


class TestCost:
    def test_of_a_further_event_is_a_constant_number_of_statements(self, seller):
        for number in range(9):
            create_order(seller, trackingCode=f"T{number}", orderId=f"A-{number}")

        def count(numbers):
            with CaptureQueriesContext(connection) as captured:
                record(*(event(f"T{number}", happened_at=timezone.now()) for number in numbers))
            return len([query for query in captured if "SAVEPOINT" not in query["sql"]])

        one, seven = count([0]), count(range(1, 8))
        assert (one, seven) == (3 + 6, 3 + 6 * 7)

    def test_reads_few_of_the_codes_that_are_equal_when_compact(self, seller):
        for number in range(30):
            create_order(seller, trackingCode="A" + "-" * number + "B", orderId=f"A-{number}")

        outcomes = record(event("AB"), event("A.B"))

        assert codes(outcomes) == ["moved", "unknown_tracking_code"]

    def test_uses_the_index_of_scanned_codes(self, order):
        others = Seller.objects.bulk_create(Seller(name=f"{n}", reference=f"SEL-{n}") for n in range(200))
        same = {field.attname: getattr(order, field.attname) for field in Order._meta.concrete_fields}
        Order.objects.bulk_create(  # of many sellers, as other plans are as cheap with few rows
            Order(**{**same, "id": None, "seller_id": other.pk, "tracking_code": f"T{other.pk}"}) for other in others
        )
        with CaptureQueriesContext(connection) as captured:
            movements.find([event("T7")], Order.objects.filter(environment="live"))

        with connection.cursor() as cursor:
            cursor.execute("ANALYZE integration_order, integration_seller")
            cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute(f"EXPLAIN {captured[0]['sql']}")
            plan = "\n".join(row[0] for row in cursor.fetchall())

        assert plan.count(" order_scanned_code ") == 2, plan
