"""The page Scan: who may open it, and what is reported from it. What the device does: tests/browser/test_scan.py."""

import json
from datetime import timedelta
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from common.accounts import Environment
from integration.models import MovementRecord, Order, StatusLog
from tests.cases import in_turn
from tests.integration.factories import OTHER_COMPANY, SellerFactory, create_order

SCAN, STATE, MOVEMENTS = (reverse(f"panel:{name}") for name in ("scan", "scan_state", "scan_movements"))


def scan(code, status="collected", **changes):
    return {"id": str(uuid4()), "code": code, "status": status, "scannedAt": timezone.now().isoformat(), **changes}


def send(client, *scans, **body):
    person = int(client.session.get("_auth_user_id", 0))
    sent = {"sentAt": timezone.now().isoformat(), "person": person, "movements": list(scans), **body}
    return client.post(MOVEMENTS, sent, content_type="application/json", headers={"accept-language": "en"})


def outcomes(client, *scans):
    return [(each["kind"], each["code"]) for each in send(client, *scans).json()["outcomes"]]


def entries():
    """Those after the creation."""
    return list(StatusLog.objects.exclude(status="pending").values_list("order__tracking_code", "status"))


@pytest.fixture
def depot(as_role):
    return as_role("depot staff")


@pytest.fixture
def order(seller):
    return create_order(seller, trackingCode="TRACK-1")


class TestPage:
    def test_is_where_depot_staff_begin(self, depot):
        for page in ("panel:work", "panel:home"):
            assert depot.get(reverse(page), follow=True).redirect_chain[-1][0] == SCAN

    def test_holds_nothing_of_who_opens_it(self, depot, staff):
        page = depot.get(SCAN).content

        assert page == staff.get(SCAN).content
        assert b"depot-staff" not in page

    @pytest.mark.parametrize(("role", "has_link"), [("account staff", True), ("superuser", True), ("member", False)])
    def test_is_in_the_menu_of_who_may_open_it(self, as_role, role, has_link):
        assert (f'href="{SCAN}"' in as_role(role).get(reverse("panel:search")).content.decode()) is has_link

    def test_loads_nothing_for_the_camera_before_it_is_used(self, depot):
        worker = depot.get(reverse("panel:scan_worker")).content.decode()
        told = json.loads(worker.partition("self.rota = ")[2].partition(";\n")[0])

        assert told["shell"] == SCAN
        assert not [name for name in told["files"] if "zxing" in name]
        assert len(told["later"]) == 1


class TestState:
    def test_says_who_is_logged_in(self, depot, staff):
        answer = depot.get(STATE).json()

        assert answer["csrf"]
        assert answer["person"]["name"] == "depot-staff"
        assert (answer["person"]["hasPanel"], staff.get(STATE).json()["person"]["hasPanel"]) == (False, True)

    def test_ends_what_a_log_in_has_told_the_page(self, depot, settings):
        name = settings.PERSON_CHANGED_COOKIE_NAME
        assert f'data-person-changed="{name}"' in depot.get(SCAN).content.decode()
        assert name not in depot.get(STATE).cookies

        depot.cookies[name] = "1"

        assert depot.get(STATE).cookies[name]["max-age"] == 0


class TestMovements:
    def test_move_orders_in_the_sequence_of_the_scans(self, depot, order, seller):
        """The device's clock is an hour behind, and the first parcel was scanned five minutes before it was sent."""
        clock = timezone.now() - timedelta(hours=1)
        first = scan(order.tracking_code, place="Campinas", scannedAt=(clock - timedelta(minutes=5)).isoformat())
        failed = scan(
            "track 1", "delivery_failed", reasonCode="OTHER", reason="Rain", scannedAt=clock.isoformat()
        )  # fmt: skip

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("common.clock.now", lambda: timezone.now() + timedelta(minutes=6))  # after the creation
            answer = send(depot, first, failed, sentAt=clock.isoformat()).json()

        assert [(each["id"], each["kind"], each["now"]) for each in answer["outcomes"]] == [
            (first["id"], "done", "collected"), (failed["id"], "done", "delivery_failed"),
        ]  # fmt: skip
        assert (answer["outcomes"][0]["orderId"], answer["outcomes"][0]["sellerName"]) == (order.code, seller.name)
        one, two = order.status_log.all()[1:]
        assert (one.place, one.by, two.reason_code, two.reason) == ("Campinas", "user depot-staff", "OTHER", "Rain")
        assert (one.created_at - one.happened_at, two.happened_at) == (timedelta(minutes=5), None)

    def test_are_made_once_however_often_they_are_sent(self, depot, order):
        scanned = scan(order.tracking_code)

        assert outcomes(depot, scanned) == outcomes(depot, scanned) == [("done", "moved")]
        assert outcomes(depot, scan(order.tracking_code)) == [("already", "already")]
        assert entries() == [("TRACK-1", "collected")]

    def test_of_a_failure_without_a_reason_are_refused_by_themselves(self, depot, order):
        failed, returned, strange, fine = (
            scan("TRACK-1", status, reasonCode=code)
            for status, code in (
                ("delivery_failed", ""),
                ("returned", ""),
                ("delivery_failed", "LAZY"),
                ("collected", ""),
            )
        )

        assert [each["kind"] for each in send(depot, failed, returned, strange, fine).json()["outcomes"]] == [
            "refused", "refused", "refused", "done",
        ]  # fmt: skip
        assert entries() == [("TRACK-1", "collected")]

    def test_of_another_reason_are_further_entries(self, depot, order):
        send(depot, scan("TRACK-1"))

        found = outcomes(
            depot, *(scan("TRACK-1", "delivery_failed", reasonCode=code) for code in ("ABSENT", "CLOSED", "CLOSED"))
        )

        assert found == [("done", "moved"), ("done", "moved"), ("already", "already")]

    def test_of_two_people_do_not_meet_under_one_id(self, depot, dispatcher, order):
        scanned = scan(order.tracking_code)
        send(depot, scanned)

        assert outcomes(dispatcher, {**scanned, "status": "in_transit"}) == [("done", "moved")]

        sources = MovementRecord.objects.order_by("id").values_list("source", flat=True)
        assert len(set(sources)) == 2
        assert entries() == [("TRACK-1", "collected"), ("TRACK-1", "in_transit")]

    def test_of_test_orders_and_of_unknown_codes_are_refused(self, depot, seller, order):
        create_order(seller, Environment.SANDBOX, trackingCode="TEST-1")

        found = outcomes(depot, scan("TEST-1"), scan("NOTHING"), scan("\t"), scan(order.tracking_code))

        assert found == [("refused", "unknown_tracking_code")] * 3 + [("done", "moved")]
        assert entries() == [("TRACK-1", "collected")]

    def test_of_a_code_of_two_sellers_ask_whose_it_is(self, depot, order):
        other = SellerFactory.create(name="Other", documents=(OTHER_COMPANY,))
        create_order(other, trackingCode="TRACK-1", company_document=OTHER_COMPANY)

        (asked,) = send(depot, scan("TRACK-1")).json()["outcomes"]

        assert (asked["kind"], entries()) == ("refused", [])
        assert {each["name"] for each in asked["sellers"]} == {order.seller.name, "Other"}
        assert outcomes(depot, scan("TRACK-1", seller=other.reference)) == [("done", "moved")]

    def test_of_a_code_of_many_sellers_offer_each_of_them(self, depot, order):
        for name in (f"Shop {number}" for number in range(12)):
            seller, copy = SellerFactory.create(name=name, documents=()), Order.objects.get(pk=order.pk)
            copy.pk, copy.seller, copy.code = None, seller, name
            copy.save(force_insert=True)

        (asked,) = send(depot, scan("TRACK-1")).json()["outcomes"]

        assert len(asked["sellers"]) == 13

    def test_that_the_lifecycle_refuses_say_why_in_the_readers_language(self, depot, order):
        send(depot, scan("TRACK-1", "delivered"))

        (refused,) = send(depot, scan("TRACK-1")).json()["outcomes"]

        assert (refused["kind"], refused["code"]) == ("refused", "move_refused")
        assert "Delivered" in refused["detail"]
        assert entries() == [("TRACK-1", "delivered")]

    def test_are_made_now_if_the_clock_was_set_meanwhile(self, depot, seller):
        moments: list[object] = [
            "1999-12-31T10:00:00Z",
            "2099-01-01T00:00:00Z",
            "2026-01-01T00:00:00",
            "yesterday",
            None,
            {},
        ]
        codes = [create_order(seller, orderId=f"A-{number}").tracking_code for number in range(len(moments) + 1)]
        far = scan(codes.pop(), scannedAt=(timezone.now() - timedelta(days=31)).isoformat())
        wrong = [scan(code, scannedAt=moment) for code, moment in zip(codes, moments, strict=True)]

        assert outcomes(depot, far, *wrong) == [("done", "moved")] * 7
        assert [each["kind"] for each in send(depot, *wrong, sentAt=None).json()["outcomes"]] == ["done"] * 6
        assert not StatusLog.objects.exclude(happened_at=None).exists()

    @in_turn(
        ("age", "is_dated"),
        [
            (timedelta(seconds=-1), False), (timedelta(seconds=29, milliseconds=999), False),
            (timedelta(seconds=30), True), (timedelta(days=29, hours=23), True), (timedelta(days=30, seconds=1), False),
        ],
    )  # fmt: skip  # a table
    def test_have_a_moment_of_their_own_from_half_a_minute_to_thirty_days(self, depot, seller, age, is_dated):
        order = create_order(seller, at=timezone.now() - timedelta(days=40))
        sent = timezone.now() + timedelta(hours=5)  # by a clock that is ahead

        send(depot, scan(order.tracking_code, scannedAt=(sent - age).isoformat()), sentAt=sent.isoformat())

        entry = order.status_log.get(status="collected")
        assert (entry.happened_at and entry.created_at - entry.happened_at) == (age if is_dated else None)

    def test_of_one_person_are_not_refused_because_the_first_one_arrived_sooner(self, depot, dispatcher, seller, order):
        other, third = (create_order(seller, orderId=f"B-{number}").tracking_code for number in (1, 2))
        send(depot, scan("TRACK-1"))
        send(dispatcher, scan(other))
        late = (timezone.now() - timedelta(seconds=40)).isoformat()
        corrections = [
            scan(code, status, scannedAt=late) for code in ("TRACK-1", other) for status in ("in_transit", "delivered")
        ]

        found = [each["kind"] for each in send(depot, *corrections, scan(third)).json()["outcomes"]]

        assert found == ["done", "done", "refused", "refused", "done"]
        first, *more = order.status_log.all()[1:]
        assert [each.happened_at for each in more] == [first.created_at] * 2

    @pytest.mark.parametrize(("seconds", "kind"), [(59, "done"), (60, "refused")])
    def test_are_refused_a_minute_before_the_last_of_the_same_person(self, depot, order, seconds, kind):
        collected, moved = (order.created_at + timedelta(seconds=number) for number in (5, 90))
        with pytest.MonkeyPatch.context() as patch:
            for at, status in ((collected, "collected"), (moved, "in_transit")):
                patch.setattr("common.clock.now", lambda at=at: at)
                send(depot, scan("TRACK-1", status))
            age = {"scannedAt": moved.isoformat(), "sentAt": (moved + timedelta(seconds=seconds)).isoformat()}

            answer = send(depot, scan("TRACK-1", "delivered", scannedAt=age["scannedAt"]), sentAt=age["sentAt"]).json()

        assert [each["kind"] for each in answer["outcomes"]] == [kind]
        if kind == "done":
            assert order.status_log.last().happened_at == moved

    @in_turn(
        ("name", "values"),
        [
            ("id", ["1", None, 7]),
            ("code", ["", None, "x" * 256, "\0", "\ud800"]),
            ("status", ["pending", "cancelled", "", ["collected"]]),
            ("reasonCode", ["x" * 37, {}]),
            ("reason", ["x" * 256]),
            ("place", ["x" * 121]),
            ("seller", ["x" * 37]),
        ],
    )
    def test_that_cannot_be_understood_are_refused_by_themselves(self, depot, order, name, values):
        good = scan(order.tracking_code)
        for value in values:
            bad = scan(order.tracking_code, "in_transit") | {name: value}

            found, refused, again = send(depot, good, bad, good).json()["outcomes"]

            assert (refused["kind"], refused["code"]) == ("refused", "invalid_report"), value
            assert {found["id"], again["id"]} == {good["id"]}
        assert entries() == [(order.tracking_code, "collected")]

    @pytest.mark.parametrize(
        ("body", "status"),
        [
            ({"movements": [scan("TRACK-1")] * 51}, 422),
            ({"movements": {}}, 422),
            ({"movements": 1}, 422),
            ({"more": "x" * 128 * 1024}, 413),
        ],
    )
    def test_are_refused_together_if_the_report_is_none(self, depot, order, body, status):
        assert send(depot, scan(order.tracking_code), **body).status_code == status
        assert entries() == []

    def test_are_for_who_may_scan(self, client, member, order):
        assert [send(each, scan("TRACK-1")).status_code for each in (client, member)] == [401, 403]
        assert entries() == []

    def test_of_somebody_else_are_not_made(self, depot, order):
        assert send(depot, scan("TRACK-1"), person=0).status_code == 401
        assert entries() == []

    def test_need_the_token_of_the_page(self, depot, order):
        depot.handler.enforce_csrf_checks = True

        assert send(depot, scan("TRACK-1")).status_code == 403
        assert entries() == []

    def test_are_no_form_with_parts(self, depot, order):
        depot.handler.enforce_csrf_checks = True
        token = depot.get(STATE).json()["csrf"]

        answer = depot.post(MOVEMENTS, {"csrfmiddlewaretoken": token, "movements": "[]"})

        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_report")

    def test_execute_few_statements_for_each_scan(self, depot, seller):
        codes = [create_order(seller, orderId=f"B-{number}").tracking_code for number in range(50)]
        outcomes(depot, scan(codes[0]))  # reads what is kept in memory

        with CaptureQueriesContext(connection) as queries:
            found = outcomes(depot, *(scan(code, "in_transit") for code in codes))

        statements = [query["sql"] for query in queries if "SAVEPOINT" not in query["sql"]]
        assert found == [("done", "moved")] * 50
        assert len(statements) <= 8 + 50 * 5, "\n".join(statements[:20])
