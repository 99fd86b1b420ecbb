"""The report of a seller: numbers, freight, file, and nothing of others."""

from datetime import timedelta

from django.utils import timezone

from integration.actions import orders
from integration.lifecycle import Status
from integration.models import Company
from tests.integration.factories import BY, OTHER_COMPANY, create_order, load_tariff
from tests.panel.conftest import table
from tests.panel.seller_pages import url


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

        total = member.get(url("seller_report", seller)).context["total"]
        (row,) = table(member.get(url("seller_report_export", seller)))

        assert list(total.counts.values()) == [1, 1, 1, 1]
        assert (total.freight, total.value) == (freight, 600)
        assert list(row.values())[1:6] == ["1", "1", "1", "1", str(freight)]

    def test_of_a_wrong_or_an_empty_period_has_no_lines(self, member, seller):
        create_order(seller)

        for since, until in (("2026-02-02", "2026-02-01"), ("2020-01-01", "2020-01-31")):
            page = member.get(url("seller_report", seller), {"since": since, "until": until})
            assert not page.context.get("lines")
