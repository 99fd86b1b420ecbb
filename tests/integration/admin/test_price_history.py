"""Who changed which price: recorded by the database, whatever made the change."""

import html
import re

import pghistory
import pytest
from django.db import ProgrammingError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from common.postgresql.row_history import Difference, compare
from integration.models import FreightParameters, FreightParametersChange, FreightPriceChange, FreightRate
from tests.integration.admin.rate_files import LOCAL, NEW, confirm, upload
from tests.previews import save

LIST = reverse("admin:integration_freightpricechange_changelist")


@pytest.fixture
def rate(tariff):
    return FreightRate.objects.get(service="economy", zone="local")


def recorded(history=FreightPriceChange):
    """What was changed, without the rows that the migrations have added."""
    changes = list(history.objects.exclude(pgh_label="added", pgh_context__isnull=True).order_by("pk"))
    compare(changes)
    return [(change.pgh_label, change.made_by, change.differences) for change in changes]


def form_of(rate, **changes):
    names = ["service", "zone", "origin_kind", "destination_kind", "deadline_days"]
    prices = {name: f"{getattr(rate, name) / 100:.2f}" for name in ("base_centavos", "extra_kg_centavos")}
    return {**{name: getattr(rate, name) for name in names}, **prices, **changes}


class TestRecorded:
    def test_is_an_edit_in_the_admin(self, admin_client, rate):
        url = reverse("admin:integration_freightrate_change", args=[rate.pk])

        save(admin_client, url, form_of(rate, base_centavos="44,90"))
        page = " ".join(admin_client.get(url).content.decode().split())

        assert recorded() == [("changed", "user admin", [Difference("up to 1 kg", "R$ 22.90", "R$ 44.90", 96)])]
        assert re.search(r"<del>R\$ 22.90</del> → <ins ?>R\$ 44.90</ins>.{0,100}\(\+96%\)", page)

    def test_is_an_import(self, admin_client, rate):
        confirm(admin_client, upload(admin_client, NEW + LOCAL.format("44,90", "2,00", 3)))
        page = " ".join(admin_client.get(LIST).content.decode().split())

        ((kind, by, differences),) = recorded()
        assert (kind, by, len(differences)) == ("changed", "user admin", 2)
        assert Difference("up to 1 kg", "R$ 22.90", "R$ 44.90", 96) in differences
        assert "Economy, Local, Capital → Capital" in page
        assert "<del>R$ 22.90</del> → <ins>R$ 44.90</ins>" in page
        assert '<span class="rota-short">admin</span>' in page

    def test_are_additions_and_deletions(self, admin_client, rate):
        admin_client.post(reverse("admin:integration_freightrate_delete", args=[rate.pk]), {"post": "yes"})
        save(admin_client, reverse("admin:integration_freightrate_add"), form_of(rate))
        chosen = {"action": "delete_selected", "_selected_action": [FreightRate.objects.latest("pk").pk], "post": "yes"}
        admin_client.post(reverse("admin:integration_freightrate_changelist"), chosen)

        assert [(kind, by) for kind, by, _differences in recorded()] == [
            ("deleted", "user admin"),
            ("added", "user admin"),
            ("deleted", "user admin"),
        ]

    def test_are_the_freight_parameters(self, tariff):
        FreightParameters.objects.update(handling_days=2, remote_states=["AC"])

        ((kind, by, differences),) = recorded(FreightParametersChange)
        assert (kind, by) == ("changed", "database")
        assert differences == [
            Difference("handling time (business days)", "0", "2"),
            Difference("remote states", "AC, AM, AP, RR", "AC"),
        ]

    def test_is_no_update_that_changes_nothing(self, rate):
        rate.save()

        assert recorded() == []

    def test_is_no_change_that_was_rolled_back(self, rate):
        with transaction.atomic():
            FreightRate.objects.update(deadline_days=9)
            transaction.set_rollback(True)

        assert recorded() == []


@pytest.mark.parametrize("change", [lambda rows: rows.update(pgh_context=None), lambda rows: rows.delete()])
def test_a_recorded_change_can_be_neither_edited_nor_deleted(rate, change):
    FreightRate.objects.filter(pk=rate.pk).update(deadline_days=9)

    with pytest.raises(ProgrammingError, match="Cannot update or delete"), transaction.atomic():
        change(FreightPriceChange.objects.all())

    assert len(recorded()) == 1


class TestList:
    def test_is_filtered_by_service_zone_and_person(self, admin_client, rate):
        confirm(admin_client, upload(admin_client, NEW + LOCAL.format("44,90", "1,90", 3)))
        with pghistory.context(by="user paula"):
            FreightRate.objects.filter(zone="far").update(deadline_days=30)

        found = {
            query: len(admin_client.get(LIST, {"pgh_label": "changed", **dict([query])}).context["cl"].result_list)
            for query in (
                ("service", "economy"),
                ("zone", "far"),
                ("zone", "near"),
                ("by", "user admin"),
                ("by", "database"),
            )
        }

        far = FreightRate.objects.filter(zone="far")
        assert found == {
            ("service", "economy"): 1 + far.filter(service="economy").count(),
            ("zone", "far"): far.count(),
            ("zone", "near"): 0,
            ("by", "user admin"): 1,
            ("by", "database"): 0,
        }

    def test_has_one_row_for_what_was_changed_at_once_which_leads_to_each(self, admin_client, rate):
        FreightRate.objects.filter(pk=rate.pk).update(deadline_days=2)
        with pghistory.context(by="user paula"):
            FreightRate.objects.update(deadline_days=30)

        response = admin_client.get(LIST)
        (link,) = re.findall(r'href="(\?pgh_created_at=[^"]+paula)"', response.content.decode())
        opened = admin_client.get(LIST + html.unescape(link))

        groups = [(each.made_by, each.made_together) for each in response.context["cl"].result_list]
        assert groups[0] == ("user paula", 48)
        assert "48 rows at once" in response.content.decode()
        assert "and 47 other rows" in response.content.decode()
        assert len(opened.context["cl"].result_list) == 48

    def test_says_what_was_changed_in_the_database_itself(self, admin_client, rate):
        FreightRate.objects.filter(pk=rate.pk).update(deadline_days=2)

        page = admin_client.get(LIST).content.decode()

        assert '<span class="rota-short">Directly in the database</span>' in page

    def test_shows_the_prices_of_a_rate_that_was_deleted(self, admin_client, rate):
        rate.delete()

        page = " ".join(admin_client.get(LIST).content.decode().split())

        assert re.search(r">Deleted</b>.{0,120}up to 1 kg</span> R\$ 22.90", page)

    def test_takes_no_query_for_each_change(self, admin_client, rate):
        counts = []
        for days in (8, 9):
            FreightRate.objects.update(deadline_days=days)
            with CaptureQueriesContext(connection) as captured:
                admin_client.get(LIST)
            counts.append(len(captured))

        assert counts[0] == counts[1]
