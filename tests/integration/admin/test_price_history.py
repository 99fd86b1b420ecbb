"""Who changed which price: recorded by the database, whatever made the change."""

import re

import pghistory
import pytest
from django.contrib.auth.models import Group, User
from django.db import ProgrammingError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from pghistory.models import Events

from common.postgresql.row_history import Difference, changes, made_by
from integration.freight.models import FreightParameters, FreightParametersChange, FreightPriceChange, FreightRate
from tests.integration.admin.rate_files import LOCAL, NEW, confirm, upload
from tests.previews import save

LIST = reverse("admin:pghistory_events_changelist")


@pytest.fixture
def rate(tariff):
    return FreightRate.objects.get(service="economy", zone="local")


def recorded(history=FreightPriceChange):
    """What was changed, without the rows that the migrations have added."""
    events = Events.objects.across(history).exclude(pgh_label="added", pgh_context__isnull=True).order_by("pgh_id")
    return [(each.kind, made_by(event), each.differences) for event, each in zip(events, changes(events), strict=True)]


def form_of(rate, **changes):
    names = ["service", "zone", "origin_kind", "destination_kind", "deadline_days"]
    prices = {name: f"{getattr(rate, name) / 100:.2f}" for name in ("base_centavos", "extra_kg_centavos")}
    return {**{name: getattr(rate, name) for name in names}, **prices, **changes}


class TestRecorded:
    def test_is_an_edit_in_the_admin(self, admin_client, rate):
        url = reverse("admin:integration_freightrate_change", args=[rate.pk])

        save(admin_client, url, form_of(rate, base_centavos="44,90"))
        page = " ".join(admin_client.get(LIST).content.decode().split())

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
        assert re.search(r">\s*admin\s*</td>", page)

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
    def test_has_all_histories_and_is_filtered_by_table_and_person(self, admin_client, rate):
        confirm(admin_client, upload(admin_client, NEW + LOCAL.format("44,90", "1,90", 3)))
        with pghistory.context(by="user paula"):
            FreightRate.objects.filter(zone="far").update(deadline_days=30)
            FreightParameters.objects.update(handling_days=2)

        of_rates, of_parameters = ({"pgh_obj_model": f"integration.Freight{name}"} for name in ("Rate", "Parameters"))
        found = [
            len(admin_client.get(LIST, {**query, "q": name}).context["cl"].result_list)
            for query, name in [
                (of_rates, "paula"), (of_parameters, "paula"), ({}, "paula"),
                (of_rates, "admin"), (of_parameters, "admin"),
            ]
        ]  # fmt: skip  # a table

        far = FreightRate.objects.filter(zone="far").count()
        assert found == [far, 1, far + 1, 1, 0]

    def test_is_that_of_one_row_where_the_rows_page_leads_to_it(self, admin_client, rate):
        FreightRate.objects.filter(zone="local").update(deadline_days=30)

        response = admin_client.get(reverse("admin:integration_freightrate_history", args=[rate.pk]), follow=True)

        found = response.context["cl"].result_list
        assert [(event.pgh_obj_id, event.pgh_label) for event in found] == [
            (str(rate.pk), "changed"),
            (str(rate.pk), "added"),
        ]

    def test_has_the_histories_that_the_reader_may_see(self, client, tariff):
        user = User.objects.create_user("dora", is_staff=True)
        user.groups.add(Group.objects.get(name="Dispatchers"))
        client.force_login(user)
        FreightRate.objects.update(deadline_days=30)

        response = client.get(LIST)

        assert {event.pgh_obj_model for event in response.context["cl"].result_list} == {"delivery.DispatchRules"}

    def test_says_what_was_changed_in_the_database_itself(self, admin_client, rate):
        FreightRate.objects.filter(pk=rate.pk).update(deadline_days=2)

        page = admin_client.get(LIST).content.decode()

        assert "Directly in the database" in page

    def test_shows_the_prices_of_a_rate_that_was_deleted(self, admin_client, rate):
        rate.delete()

        page = " ".join(admin_client.get(LIST).content.decode().split())

        assert re.search(r">Deleted</b>.{0,120}up to 1 kg: R\$ 22.90", page)

    def test_takes_no_query_for_each_change(self, admin_client, rate):
        counts = []
        for days in (8, 9):
            FreightRate.objects.update(deadline_days=days)
            with CaptureQueriesContext(connection) as captured:
                admin_client.get(LIST)
            counts.append(len(captured))

        assert counts[0] == counts[1]
