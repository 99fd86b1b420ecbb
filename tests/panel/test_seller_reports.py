"""Reports of orders, of a seller and of all: numbers, freight, reasons, files, and sums that are equal to the rows."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from common.pages.periods import Period, midnight
from integration.actions import orders
from integration.lifecycle import WITH_REASON, Status
from integration.models import Company, Order, Seller, StatusLog
from panel.views import reports
from tests.integration.factories import BY, OTHER_COMPANY, create_order, load_tariff
from tests.panel.conftest import cells_of, lines_of, table
from tests.panel.sellers.pages import plans_of, url


class TestReport:
    def test_counts_orders_by_how_they_stand_with_their_freight(self, member, seller, foreign_seller):
        load_tariff()
        Company.objects.update(postcode="01310100")
        made = [create_order(seller, orderId=f"A-{number}") for number in range(4)]
        create_order(foreign_seller, company_document=OTHER_COMPANY, orderId="F-1")
        now = timezone.now()
        orders.move(order=made[0], to=Status.DELIVERED, by=BY, at=now)
        orders.move(order=made[1], to=Status.COLLECTED, by=BY, at=now - timedelta(days=60))
        orders.move(order=made[1], to=Status.DELIVERED, by=BY, at=now)
        orders.move(order=made[2], to=Status.CANCELLED, by=BY, at=now)
        freight = sum(made[number].freight_reais or 0 for number in (0, 1, 3))  # without the cancelled one

        total = member.get(url("seller_report", seller)).context["report"].total
        (row,) = table(member.get(url("seller_report_orders_export", seller)))

        assert list(total.counts.values()) == [1, 1, 1, 0, 1]
        assert (total.freight, total.value) == (freight, 600)
        assert list(row.values())[1:8] == ["4", "1", "1", "1", "0", "1", str(freight)]

    @pytest.mark.parametrize(
        ("since", "until", "first", "last"),
        [
            ("2026-10-31", "2026-11-01", date(2026, 10, 31), date(2026, 11, 1)),
            ("2026-06-01", "2026-12-31", date(2026, 10, 1), date(2026, 11, 1)),
        ],
    )
    def test_has_the_days_and_months_of_the_installations_clocks(self, member, seller, since, until, first, last):
        period = Period(date.fromisoformat(since), date.fromisoformat(until))
        moments = [datetime(2026, 11, 1, 2, 59, tzinfo=UTC), datetime(2026, 11, 1, 3, tzinfo=UTC), period.end]
        for number, at in enumerate(moments):
            create_order(seller, orderId=f"A-{number}", at=at)

        report = member.get(url("seller_report", seller), {"since": since, "until": until}).context["report"]

        assert [(line.of, line.count) for line in report.lines] == [(first, 1), (last, 1)]

    @pytest.mark.parametrize(("days", "standing"), [(0, "on_time"), (1, "late")])
    def test_counts_what_arrives_on_the_promised_day_as_on_time(self, member, seller, days, standing):
        load_tariff()
        Company.objects.update(postcode="01310100")
        order = orders.move(order=create_order(seller), to=Status.COLLECTED, by=BY, at=timezone.now())
        assert order.promised_on is not None
        late_in_the_day = midnight(order.promised_on + timedelta(days=days)) + timedelta(hours=23)
        orders.move(order=order, to=Status.DELIVERED, by=BY, at=late_in_the_day)

        counts = member.get(url("seller_report", seller)).context["report"].total.counts

        assert [name for name, count in counts.items() if count] == [standing]

    def test_of_a_wrong_or_an_empty_period_has_no_lines(self, member, seller):
        create_order(seller)

        for since, until in (("2026-02-02", "2026-02-01"), ("2020-01-01", "2020-01-31")):
            page = member.get(url("seller_report", seller), {"since": since, "until": until})
            assert not page.context.get("tables")


def failed(order, *moves):
    """Move the order to statuses, each with a reason code; a failure without one as versions before did."""
    for status, code in moves:
        at = timezone.now()
        if code or status not in WITH_REASON:
            orders.move(order=order, to=status, by=BY, at=at, details=orders.Details(reason_code=code))
            continue
        Order.objects.filter(pk=order.pk).update(status=status.value)
        StatusLog.objects.create(
            order=order, company=order.company, status=status.value, via_api=False, by=BY, created_at=at, updated_at=at
        )


@pytest.fixture
def failures(seller, foreign_seller):
    """Three orders of a seller that are not delivered, one that was at last, and one of another seller."""
    made = [create_order(seller, orderId=f"A-{number}") for number in range(4)]
    other = create_order(foreign_seller, company_document=OTHER_COMPANY, orderId="F-1")
    create_order(seller, "sandbox", orderId="T-1")
    for order in (*made, other):
        orders.move(order=order, to=Status.COLLECTED, by=BY, at=timezone.now())
    failed(made[0], (Status.DELIVERY_FAILED, "ABSENT"))
    failed(made[1], (Status.DELIVERY_FAILED, "ABSENT"), (Status.RETURNED, ""))
    failed(made[2], (Status.RETURNED, ""))
    failed(made[3], (Status.DELIVERY_FAILED, "CLOSED"), (Status.DELIVERED, ""))
    failed(other, (Status.DELIVERY_FAILED, "ABSENT"), (Status.OUT_FOR_DELIVERY, ""), (Status.RETURNED, "REFUSED"))


class TestReasons:
    def test_are_the_last_ones_of_orders_that_are_not_delivered(self, member, seller, failures):
        page = member.get(url("seller_report", seller))
        rows = table(member.get(url("seller_report_reasons_export", seller)))

        shown = lines_of(page, "reasons")
        assert shown == [("Nobody there", 2), ("No reason", 1)]
        assert sum(count for _name, count in shown) == page.context["report"].total.counts["failed"]
        assert [list(row.values()) for row in rows] == [["Nobody there", "2"], ["No reason", "1"]]


class TestOfAllSellers:
    URL = reverse("panel:seller_reports")

    def test_has_a_line_for_each_seller_and_sums_equal_to_them(self, staff, seller, foreign_seller, failures):
        page = staff.get(self.URL)

        lines, total = {line.of: line for line in lines_of(page, "sellers")}, page.context["report"].total
        assert [line.count for line in (lines[seller], lines[foreign_seller])] == [4, 1]
        assert lines[seller].counts == {"on_time": 1, "late": 0, "under_way": 0, "failed": 3, "cancelled": 0}
        for name in total.counts:
            assert total.counts[name] == sum(line.counts[name] for line in lines.values())
        assert total.value == sum(line.value for line in lines.values()) == 750
        reasons = page.context["report"].tables["reasons"]()
        assert [str(column.label) for column in reasons.page_columns[1:-1]] == [
            "Nobody there", "Refused by the receiver", "No reason",
        ]  # fmt: skip  # a table
        assert sorted(cells_of(page, "reasons")) == sorted(
            [[seller.name, "2", "0", "1", "3"], [foreign_seller.name, "0", "1", "0", "1"]]
        )
        assert [text for _name, text, _is_number in reasons.sums] == ["2", "1", "1", "4"]

    def test_has_the_sellers_by_name(self, staff, seller, foreign_seller, failures):
        for each, name in ((seller, "beta"), (foreign_seller, "Alfa")):
            Seller.objects.filter(pk=each.pk).update(name=name)
        Seller.objects.create(name="Gama")  # without orders

        lines = lines_of(staff.get(self.URL), "sellers")

        assert [line.of.name for line in lines] == ["Alfa", "beta"]

    def test_is_exported_with_every_reason(self, staff, seller, foreign_seller, failures):
        of_orders, of_reasons = (
            {row["Reference"]: row for row in table(staff.get(reverse(f"panel:seller_reports_{name}_export")))}
            for name in ("sellers", "reasons")
        )

        row, reasons = of_orders[seller.reference], of_reasons[seller.reference]
        assert (row["Seller"], row["Orders"], row["On time (%)"]) == (seller.name, "4", "100.0")
        assert Decimal(row["Value of the orders"]) == 600
        assert of_orders[foreign_seller.reference]["On time (%)"] == ""  # nothing was delivered
        assert (reasons["Nobody there"], reasons["Goods damaged"]) == ("2", "0")
        assert sum(int(value) for value in list(reasons.values())[4:-1]) == int(list(reasons.values())[-1]) == 3

    def test_of_a_wrong_or_an_empty_period_has_no_lines(self, staff, failures):
        for since, until in (("2026-02-02", "2026-02-01"), ("2020-01-01", "2020-01-31")):
            assert not staff.get(self.URL, {"since": since, "until": until}).context.get("tables")

    def test_shows_the_first_lines_and_the_sum_of_all(self, staff, failures, monkeypatch):
        monkeypatch.setattr(reports, "MOST_ROWS", 1)

        page = staff.get(self.URL)

        assert (len(cells_of(page, "sellers")), page.context["report"].total.count) == (1, 5)
        assert "1 of 2 are shown. The file has all of them." in page.content.decode()

    def test_reads_each_table_once_by_an_index(self, staff, seller, failures):
        staff.get(self.URL)
        with CaptureQueriesContext(connection) as captured:
            staff.get(self.URL)

        plans = plans_of(captured, "integration_order")
        assert len(plans) == 2  # of this period and of the one before; rows and reasons are of one moment
        assert not any("Seq Scan on integration_order" in plan for plan in plans)
