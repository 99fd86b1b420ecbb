"""The reports' pages and files: who sees what, and that their sums are equal to the centavo."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from django.db import connection, transaction
from django.urls import reverse
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from common.pages.periods import Period
from delivery.actions import deliveries
from delivery.geo.distance import Point
from delivery.lifecycle import Ending, OnFailure
from delivery.models import Integrator, Tariff
from delivery.payload import Options, Place
from panel.views import reports
from tests.cases import in_turn
from tests.delivery.ended import TRAVELS, Ended, insert, travelled
from tests.delivery.proofs import asking_for
from tests.delivery.receivers.links import text_of
from tests.factories import BY, DROPOFFS, DeliveryFactory, DriverFactory, TokenFactory, validated_payload
from tests.money import PERCENTS
from tests.panel.conftest import cells_of, lines_of, table

ALL = reverse("panel:reports")
NOVEMBER = {"since": "2026-11-01", "until": "2026-11-30"}
NOON = datetime(2026, 11, 22, 15, tzinfo=UTC)


@pytest.fixture
def driver(db):
    return DriverFactory.create(name="Ana")


def _made(token, driver, *, requested, minutes, how):
    """A delivery with one drop-off that the driver accepted after some minutes and ended two minutes later."""
    delivery = deliveries.request(token=token, payload=validated_payload(stops=1), by=BY, at=requested)
    accepted, ended = (requested + timedelta(minutes=minutes + more) for more in (0, 2))
    deliveries.accept(delivery=delivery, driver=driver, by=BY, at=accepted)
    deliveries.collect(delivery=delivery, by=BY, at=accepted)
    if how == "deliver":
        deliveries.deliver(delivery=delivery, point="B", by=BY, at=ended)
    else:
        deliveries.fail(delivery=delivery, point="B", reason="Nobody there", by=BY, at=ended)
        deliveries.return_(delivery=delivery, by=BY, at=ended)


class TestOfAnAccount:
    def test_shows_the_sums_and_a_line_for_each_day(self, member, url, shop, driver):
        rows = [Ended(NOON), Ended(NOON, Ending.CANCELLED), Ended(NOON.replace(day=23), Ending.NOT_DELIVERED)]
        insert(shop.delivery, *rows, driver=driver)

        response = member.get(url("report"), NOVEMBER)

        days = lines_of(response, "days")
        assert [(line.of.day, line.count, line.amount) for line in days] == [(22, 2, 26), (23, 1, 20)]
        assert "R$ 46.00" in response.content.decode()

    def test_shows_charts_reasons_and_drivers_and_gives_each_as_a_file(self, member, url, shop):
        ana, bruno = (DriverFactory.create(name=name) for name in ("Ana", "Bruno"))
        requested = timezone.localtime().replace(hour=12, minute=0) - timedelta(days=1)
        for driver, minutes, points in ((ana, 4, "deliver"), (ana, 8, "deliver"), (bruno, 45, "fail")):
            _made(shop.token, driver, requested=requested, minutes=minutes, how=points)
        period = {"since": requested.date() - timedelta(days=1), "until": requested.date()}

        page = member.get(url("report"), period)
        files = {
            name: [list(row.values()) for row in table(member.get(url(f"report{name}_export"), period))]
            for name in ("_days", "_drivers", "_reasons")
        }

        counts, amounts, on_time, minutes = page.context["charts"]
        assert [total for _series, total in counts.totals] == ["2", "1", "0", "0"]
        assert not amounts.is_empty
        assert [column.values for column in on_time.columns][-1] == ["100 %"]
        assert [column.values for column in minutes.columns][-1] == ["8.0"]
        assert cells_of(page, "reasons") == [["Nobody there", "1", "0"]]
        assert cells_of(page, "drivers") == [["Ana", "2", "100 %", "6.0"], ["Bruno", "1", None, "45.0"]]
        assert files["_drivers"][0][:3] == ["Ana", "2", "2"]
        assert files["_reasons"] == [["Nobody there", "1", "0"]]
        assert files["_days"][-1][-5:-2] == ["2", "100.0", "8.0"]

    def test_counts_reasons_of_first_attempts_where_the_second_one_delivered(self, member, url, shop):
        retry = Options(on_failure=OnFailure.RETRY)
        delivery = asking_for(retry, retry, token=shop.token, collected=True)
        at = timezone.now()
        for point, code in (("B", "ABSENT"), ("C", "ABSENT"), ("C", "CLOSED")):
            deliveries.fail(delivery=delivery, point=point, code=code, reason="", by=BY, at=at)
        deliveries.deliver(delivery=delivery, point="B", by=BY, at=at)
        deliveries.return_(delivery=delivery, by=BY, at=at)

        rows = [list(row.values()) for row in table(member.get(url("report_reasons_export")))]

        assert sorted(rows) == [["Nobody there", "0", "1"], ["Place closed", "1", "0"]]

    def test_has_a_column_for_each_hour_of_a_single_day(self, member, url, shop, driver):
        insert(
            shop.delivery, Ended(NOON), Ended(NOON + timedelta(minutes=59)), Ended(NOON.replace(hour=17)), driver=driver
        )

        page = member.get(url("report"), {"since": "2026-11-22", "until": "2026-11-22"})

        counts, amounts, *_service = page.context["charts"]
        assert len(counts.columns) == 24
        used = {column.label: column.values[0] for column in counts.columns if column.values[0] != "0"}
        assert used == {"12:00": "2", "14:00": "1"}
        assert amounts.columns[12].values[0] == "R$ 40.00"
        assert [line.count for line in lines_of(page, "days")] == [3]

    def test_begins_with_figures_beside_those_of_the_period_before(self, member, url, shop, driver):
        march = datetime(2025, 3, 22, 15, tzinfo=UTC)
        rows = [Ended(march), Ended(march, Ending.NOT_DELIVERED), Ended(march.replace(month=2))]
        insert(shop.delivery, *rows, driver=driver)

        page = member.get(url("report"), {"since": "2025-03-01", "until": "2025-03-31"})

        ended, on_time, _minutes, total = page.context["headline"]
        assert (ended.text, ended.change) == ("2", "+100 %")
        assert (on_time.text, on_time.look) == ("100 %", "")
        assert (total.text, total.change) == ("R$ 40.00", "+100 %")
        assert "Compared with 1 Feb 2025 to 28 Feb 2025." in text_of(page)

    @pytest.mark.parametrize(("day", "columns"), [(2, 21), (22, 7)])
    def test_has_columns_from_the_first_delivery_on_a_week_at_least(self, member, url, shop, driver, day, columns):
        insert(shop.delivery, Ended(NOON.replace(day=day)), driver=driver)

        page = member.get(url("report"), {"since": "2026-11-01", "until": "2026-11-22"})

        assert len(page.context["charts"][0].columns) == columns

    def test_shows_this_month_unless_asked_for_another(self, member, url, shop, driver):
        insert(shop.delivery, Ended(timezone.now()), driver=driver)

        response = member.get(url("report"))

        assert response.context["period"].first == timezone.localdate().replace(day=1)
        assert response.context["report"].total.count == 1

    def test_leads_to_the_months_beside_it_but_not_beyond_today(self, member, url):
        this = member.get(url("report"))
        past = member.get(url("report"), {"since": "2026-02-01", "until": "2026-02-28"})

        today = timezone.localdate()
        before, after = (past.context[name] for name in ("before", "after"))
        assert this.context["after"] is None
        assert (before.first, after.first) == (date(2026, 1, 1), date(2026, 3, 1))
        assert {(other.last - other.first).days for _name, other in this.context["others"]} >= {29, 364}
        assert all(other.first <= today <= other.last for _name, other in this.context["others"])

    def test_leads_from_months_over_days_to_deliveries(self, member, url, shop, driver):
        (made,) = insert(shop.delivery, Ended(NOON), driver=driver)

        year = member.get(url("report"), {"since": "2026-02-10", "until": "2026-11-25"}).content.decode()
        month = member.get(url("report"), {"since": "2026-11-01", "until": "2026-11-25"}).content.decode()
        day = member.get(url("report_deliveries"), {"since": "2026-11-22", "until": "2026-11-22"}).content.decode()

        assert 'href="?since=2026-11-01&amp;until=2026-11-25"' in year
        assert f'href="{url("report_deliveries")}?since=2026-11-22&amp;until=2026-11-22"' in month
        assert str(made.pk) in day

    @in_turn(
        ("since", "until", "said"),
        [
            ("2026-11-02", "2026-11-01", "The last day is before the first."),
            ("2025-11-01", "2026-11-02", "A report covers a year at most."),
            ("1999-12-31", "2026-11-01", "Choose a day between 2000 and 2100."),
            ("9999-12-31", "9999-12-31", "Choose a day between 2000 and 2100."),
            ("2026-11-31", "2026-11-30", "Enter a valid date."),
            ("2026-11-01", "", "This field is required."),
        ],
    )
    @in_turn("page", ["report", "report_deliveries", "report_deliveries_export"])
    def test_says_what_is_wrong_with_a_period(self, member, url, page, since, until, said):
        response = member.get(url(page), {"since": since, "until": until})

        assert said in response.content.decode()
        assert response.context["period"] is None

    @pytest.mark.parametrize("before", ["x", "9" * 300])
    def test_begins_the_list_of_deliveries_anew_with_a_cursor_that_is_none(self, member, url, shop, driver, before):
        (made,) = insert(shop.delivery, Ended(NOON), driver=driver)

        page = member.get(url("report_deliveries"), {**NOVEMBER, "before": before})

        assert [row.pk for row in page.context["rows"]] == [made.pk]

    def test_covers_a_year(self, member, url):
        period = member.get(url("report"), {"since": "2027-11-01", "until": "2028-10-31"}).context["period"]

        assert (period.first, period.last) == (date(2027, 11, 1), date(2028, 10, 31))

    def test_leads_to_the_months_beside_it_that_have_begun(self, member, url):
        this = Period.month_of(timezone.localdate())
        pages = [
            member.get(url("report"), {"since": month.first, "until": month.last}).context
            for month in (this.month_before, this)
        ]

        assert [(page["before"], page["after"]) for page in pages] == [
            (this.month_before.month_before, this), (this.month_before, None),
        ]  # fmt: skip  # a table

    def test_keeps_accounts_and_environments_apart(self, member, url, shop, driver):
        insert(DeliveryFactory.create(stops=1), Ended(NOON), driver=driver)
        sandbox = DeliveryFactory.create(token=TokenFactory.create(integrator=shop.integrator, sandbox=True), stops=1)
        insert(sandbox, Ended(NOON, price=Decimal(1)), driver=DriverFactory.create(environment="sandbox"))
        in_sandbox = reverse("panel:report", args=[shop.integrator.pk, "sandbox"])

        assert member.get(url("report"), NOVEMBER).context["report"].total.count == 0
        assert table(member.get(url("report_deliveries_export"), NOVEMBER)) == []
        assert member.get(in_sandbox, NOVEMBER).context["report"].total.amount == 1


class TestMoneyOfFailures:
    """Lines by the tariff, days, rows and the three files have one sum."""

    @settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
    @given(st.lists(st.tuples(st.sampled_from(TRAVELS), PERCENTS, PERCENTS), max_size=4))
    def test_is_the_same_on_the_page_in_its_lines_and_in_the_files(self, member, url, shop, driver, made):
        with transaction.atomic():
            owed = Decimal(0)
            for travel, retry, back in made:
                Tariff.objects.update(retry_percent=retry, return_percent=back)
                delivery = travelled(travel, token=shop.token, at=NOON)
                owed += sum(travel.owed(delivery, retry=retry, back=back).values())
            page = member.get(url("report"), NOVEMBER)
            rows, charges, days = (
                table(member.get(url(f"report_{name}_export"), NOVEMBER)) for name in ("deliveries", "charges", "days")
            )
            transaction.set_rollback(True)

        assert page.context["report"].total.amount == owed
        assert sum(each.amount for each in lines_of(page, "charges")) == owed
        assert [sum(Decimal(row["Amount"]) for row in file) for file in (rows, charges, days)] == [owed] * 3
        fees = ("Second attempts", "Way back after a failure", "Cancellation fees")
        assert [sum(Decimal(row[name]) for row in days) for name in fees] == [
            sum(Decimal(row[name] or 0) for row in rows)
            for name in ("Second attempts", "Way back after a failure", "Cancellation fee")
        ]

    def test_is_a_line_of_its_own_with_its_tariff(self, member, url, shop, driver):
        Tariff.objects.update(retry_percent=Decimal("12.5"))
        travelled(next(each for each in TRAVELS if each.retries == 2), token=shop.token, at=NOON)

        lines = {str(name): cells for name, *cells in cells_of(member.get(url("report"), NOVEMBER), "charges")}

        assert lines["Second attempts"][:2] == ["12.50 %", "1"]
        assert "Cancelled after pickup" not in lines


class TestFileOfDeliveries:
    def test_has_a_row_each_with_amount_and_moments(self, member, url, shop, driver):
        stop = Place(point=Point(*DROPOFFS[0]), address={}, external_id="=1+1")
        payload = validated_payload(dropoffs=[stop])
        made = DeliveryFactory.create(token=shop.token, payload=payload, accepted=True, driver=driver, at=NOON)
        made = deliveries.cancel(delivery=made, reason="", by=BY, at=NOON)

        (row,) = table(member.get(url("report_deliveries_export"), NOVEMBER))

        assert [*row][-3:] == ["Amount", "Second attempts", "Way back after a failure"]
        assert (row["deliveryId"], row["B: externalId"]) == (str(made.pk), "'=1+1")
        assert (row["Ended"], row["Ending"]) == ("2026-11-22 12:00:00", "Cancelled")
        price, fee = str(made.shipping_value), str(made.cancel_fee)
        assert (row["Price"], row["Cancellation fee"], row["Amount"]) == (price, fee, fee)

    def test_is_refused_instead_of_cut(self, member, url, shop, driver, monkeypatch):
        monkeypatch.setattr(reports, "_MOST_ROWS", 1)
        insert(shop.delivery, Ended(NOON), Ended(NOON), driver=driver)

        response = member.get(url("report_deliveries_export"), NOVEMBER)

        assert "2 deliveries ended in this period, and a file holds 1." in response.content.decode()
        assert "Content-Disposition" not in response.headers
        monkeypatch.setattr(reports, "_MOST_ROWS", 2)
        assert len(table(member.get(url("report_deliveries_export"), NOVEMBER))) == 2


class TestOfAllAccounts:
    def test_leads_to_the_report_of_each_account(self, staff, shop, driver):
        insert(shop.delivery, Ended(NOON), driver=driver)

        response = staff.get(ALL, NOVEMBER)

        address = reverse("panel:report", args=[shop.integrator.pk, "live"])
        assert f'href="{address}?since=2026-11-01&amp;until=2026-11-30"' in response.content.decode()
        assert response.context["report"].total.amount == 20

    def test_compares_accounts_and_gives_each_table_as_a_file(self, staff, shop):
        other = TokenFactory.create(integrator__name="Other shop")
        ana, bruno = (DriverFactory.create(name=name) for name in ("Ana", "Bruno"))
        requested = timezone.now() - timedelta(hours=5)
        for token, driver, minutes, how in (
            (other, ana, 4, "deliver"), (other, ana, 8, "deliver"), (shop.token, bruno, 45, "fail"),
        ):  # fmt: skip  # a table
            _made(token, driver, requested=requested, minutes=minutes, how=how)
        ended = timezone.localtime(requested).date()
        period = {"since": ended, "until": ended + timedelta(days=1)}

        page = staff.get(ALL, period)
        names = ("days", "drivers", "reasons", "accounts")
        addresses = {name: reverse(f"panel:reports_{name}_export") for name in names}
        files = {name: table(staff.get(address, period)) for name, address in addresses.items()}

        shop_name = shop.integrator.name
        accounts = lines_of(page, "accounts")
        assert [(line.of.name, line.count, line.service.minutes) for line in accounts] == [
            ("Other shop", 2, 6), (shop_name, 1, 45),
        ]  # fmt: skip  # a table
        assert sum(line.amount for line in accounts) == page.context["report"].total.amount
        assert {name: len(rows) for name, rows in files.items()} == {
            name: len(lines_of(page, name)) for name in names
        } == {"days": len(files["days"]), "drivers": 2, "reasons": 1, "accounts": 2}  # fmt: skip  # a table
        head = "Minutes until a driver accepts (median)"
        assert {row["Account"]: row[head] for row in files["accounts"]} == {"Other shop": "6.0", shop_name: "45.0"}
        assert all(f'href="{address}?' in page.content.decode() for address in addresses.values())

    def test_is_a_file_too_without_formulas(self, staff, shop, driver):
        Integrator.objects.filter(pk=shop.integrator.pk).update(name="=cmd()")
        insert(shop.delivery, Ended(NOON), Ended(NOON, Ending.CANCELLED), driver=driver)

        (row,) = table(staff.get(reverse("panel:reports_accounts_export"), NOVEMBER))

        assert [*row][-2:] == ["Second attempts", "Way back after a failure"]
        assert (row["Account"], row["id"]) == ("'=cmd()", str(shop.integrator.pk))
        assert (row["Delivered"], row["Cancelled"], row["Not delivered"], row["Offer expired"]) == ("1", "1", "0", "0")
        assert (row["Prices"], row["Cancellation fees"], row["Amount"]) == ("20.00", "6.00", "26.00")

    def test_shows_drivers_earnings_where_they_have_a_share(self, staff, shop, driver, rules):
        insert(shop.delivery, Ended(NOON), driver=driver)
        drivers = reverse("panel:reports_earnings_export")

        without = staff.get(ALL, NOVEMBER).content.decode()
        refused = staff.get(drivers, NOVEMBER)
        rules(driver_share_percent=62.5)
        with_share = staff.get(ALL, NOVEMBER)
        (row,) = table(staff.get(drivers, NOVEMBER))

        assert "earnings" not in without
        assert refused.status_code == 302
        assert "R$ 12.50 in all: of each route" in with_share.content.decode()
        assert cells_of(with_share, "earnings")[0][:2] == ["Ana", "1"]
        assert (row["Driver"], row["Earned"]) == ("Ana", "12.50")

    def test_leads_a_wrong_period_from_the_file_to_the_page(self, staff):
        response = staff.get(reverse("panel:reports_accounts_export"), {"since": "x", "until": "2026-11-30"})

        assert response.headers["Location"] == f"{ALL}?since=x&until=2026-11-30"
        assert "Enter a valid date." in staff.get(response.headers["Location"]).content.decode()

    def test_shows_the_first_accounts_and_the_sum_of_all(self, staff, shop, driver, monkeypatch):
        monkeypatch.setattr(reports, "MOST_ROWS", 1)
        insert(shop.delivery, Ended(NOON), driver=driver)
        insert(DeliveryFactory.create(stops=1), Ended(NOON), driver=driver)

        response = staff.get(ALL, NOVEMBER)

        assert (len(cells_of(response, "accounts")), response.context["report"].total.count) == (1, 2)
        assert "1 of 2 are shown. The file has all of them." in response.content.decode()


_MONEY = st.decimals("0", "99999999.99", places=2)
# Midnight in the three zones, and the microsecond before it.
_BOUNDARIES = [
    datetime(2026, month, 1, hour, tzinfo=UTC) - timedelta(microseconds=early)
    for month in (11, 12)
    for hour in (3, 4, 5)
    for early in (0, 1)
]


def _after_october(microseconds):
    return datetime(2026, 10, 31, tzinfo=UTC) + timedelta(microseconds=microseconds)


ROWS = st.lists(
    st.builds(
        Ended,
        st.one_of(st.integers(0, 32 * 86_400_000_000).map(_after_october), st.sampled_from(_BOUNDARIES)),
        st.sampled_from(Ending),
        _MONEY,
        _MONEY,
    ),
    max_size=25,
)
IN_SQL = """
SELECT count(*), coalesce(sum(
    CASE WHEN cancelled_at IS NOT NULL THEN cancel_fee WHEN route_status = 'EXPIRED' THEN 0 ELSE shipping_value END
), 0)
FROM delivery_delivery
WHERE integrator_id = %s AND date_trunc('month', closed_at AT TIME ZONE %s) = '2026-11-01'
"""


@pytest.mark.parametrize("zone", ["America/Sao_Paulo", "America/New_York", "America/Santiago"])
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=ROWS)
def test_pages_files_and_database_agree_to_the_centavo(member, staff, url, shop, driver, zone, rows):
    with transaction.atomic(), timezone.override(zone):
        insert(shop.delivery, *rows, driver=driver)
        with connection.cursor() as cursor:
            cursor.execute(IN_SQL, [shop.integrator.pk, zone])
            count, amount = cursor.fetchone()
        account = member.get(url("report"), NOVEMBER).context["report"]
        every = staff.get(ALL, NOVEMBER).context["report"].total
        lines = table(staff.get(reverse("panel:reports_accounts_export"), NOVEMBER))
        file = table(member.get(url("report_deliveries_export"), NOVEMBER))
        transaction.set_rollback(True)

    local = [row for row in rows if row.at.astimezone(ZoneInfo(zone)).month == 11]
    assert (count, amount) == (len(local), sum(row.amount for row in local))
    assert (account.total.count, account.total.amount) == (count, amount)
    assert sum(line.amount for line in account.lines) == amount
    assert (every.count, every.amount) == (count, amount)
    assert sum(Decimal(line["Amount"]) for line in lines) == amount
    assert (len(file), sum(Decimal(row["Amount"]) for row in file)) == (count, amount)
