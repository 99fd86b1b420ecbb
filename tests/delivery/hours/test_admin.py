"""The page of the hours of service."""

from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from django.urls import reverse
from lxml.html import document_fromstring

from common import clock
from delivery.hours.models import ServiceHours, ServiceHoursChange
from tests.cases import in_turn
from tests.factories import IntegratorFactory
from tests.overlapping import overlap
from tests.previews import preview_of, save
from tests.service_hours import WEEK, make

ADD, LIST = reverse("admin:delivery_servicehours_add"), reverse("admin:delivery_servicehours_changelist")
NIGHT = datetime(2026, 11, 21, 2, tzinfo=UTC)  # Friday 23:00 in São Paulo, a national holiday

OPEN = {"hours": "hours", "hours-1-opens": "09:00", "hours-1-closes": "12:00"}


@pytest.fixture(autouse=True)
def _at_night(monkeypatch):
    monkeypatch.setattr(clock, "now", lambda: NIGHT)


def day(name, spans):
    """The fields of a day with spans such as `08:00-12:00, 13:00-18:00`, closed without any."""
    ends = [span.split("-") for span in spans.split(", ") if span]
    times = {
        f"{name}-{number}-{end}": at
        for number, pair in enumerate(ends, 1)
        for end, at in zip(("opens", "closes"), pair, strict=True)
    }
    return {name: "hours" if ends else "closed", **times}


def form(spans="8:00-18:00", **values):
    typed = {"integrator": "", "time_zone": ""}
    for name in WEEK:
        typed |= day(name, values.pop(name, spans))
    return typed | values


def change(hours):
    return reverse("admin:delivery_servicehours_change", args=[hours.pk])


class TestPage:
    def test_shows_the_next_week_before_it_saves(self, admin_client):
        inventory = {"days_off-1-date": "2026-11-24", "days_off-1-name": "Inventory", "days_off-1-hours": "closed"}
        typed = form(closed_on_holidays="on", saturday="22:00-02:00", sunday="", thursday="08:00-24:00", **inventory)

        preview = preview_of(admin_client, ADD, typed)
        assert not ServiceHours.objects.exists()
        save(admin_client, ADD, typed)

        assert [(each.name, each.old, each.new) for each in preview.examples] == [
            ("Fri 20 Nov", "always open", "closed (national holiday)"),
            ("Sat 21 Nov", "always open", "22:00–02:00 of the next day"),
            ("Sun 22 Nov", "always open", "closed"),
            ("Mon 23 Nov", "always open", "08:00–18:00"),
            ("Tue 24 Nov", "always open", "closed (Inventory)"),
            ("Wed 25 Nov", "always open", "08:00–18:00"),
            ("Thu 26 Nov", "always open", "08:00–24:00"),
        ]
        assert ServiceHours.objects.get().monday == "08:00-18:00"
        assert ServiceHoursChange.objects.get().pgh_context["by"] == "user admin"

    def test_reads_back_what_it_shows(self, admin_client):
        hours = make(
            tuesday="00:00-24:00",
            wednesday="08:00-12:00, 22:00-24:00",
            thursday="",
            days_off="2026-12-24 08:00-12:00, 13:00-14:00 Eve\n2026-12-25 25 years",
        )
        before = [getattr(hours, name) for name in (*WEEK, "days_off")]
        page: Any = document_fromstring(admin_client.get(change(hours)).content.decode())
        typed = dict(page.get_element_by_id("servicehours_form").form_values())

        response = admin_client.post(change(hours), typed)

        hours = ServiceHours.objects.get()
        assert response.status_code == 302  # nothing changed, so that nothing is asked
        assert [getattr(hours, name) for name in (*WEEK, "days_off")] == before

    @in_turn(
        ("typed", "field"),
        [
            ({"monday": "hours"}, "monday"),
            ({"monday": "hours", "monday-1-opens": "09:00"}, "monday"),
            ({"monday": "hours", "monday-2-closes": "09:00"}, "monday"),
            ({"monday": "hours", "monday-1-opens": "09:00", "monday-1-closes": "09:00"}, "monday"),
            ({"monday": "hours", "monday-1-opens": "x" * 5000, "monday-1-closes": "09:00"}, "monday"),
            ({"monday": "at noon"}, "monday"),
            (day("monday", "09:00-12:00, 11:00-13:00"), "monday"),
            ({"days_off-1-name": "Inventory", "days_off-1-hours": "closed"}, "days_off"),
            ({"days_off-1-date": "2026-11-24", "days_off-1-hours": "closed"}, "days_off"),
            ({"days_off-1-date": "2026-11-24", "days_off-1-name": "Eve", "days_off-1-hours": "hours"}, "days_off"),
            ({f"days_off-1-{name}": text for name, text in OPEN.items()}, "days_off"),
            ({"days_off-1-date": "tomorrow", "days_off-1-name": "Eve", "days_off-1-hours": "closed"}, "days_off"),
        ],
    )
    def test_keeps_what_it_refuses_beside_its_day(self, admin_client, typed, field):
        response = admin_client.post(ADD, {**form(monday=""), **typed})

        page: Any = document_fromstring(response.content.decode())
        kept = {text[:60] for name, text in typed.items() if text != "at noon"}
        assert [*response.context["adminform"].form.errors] == [field]
        assert kept <= {value for _name, value in page.get_element_by_id("servicehours_form").form_values()}
        assert not ServiceHours.objects.exists()

    def test_removes_a_day_off_as_it_says(self, admin_client):
        hours = make(days_off="2026-12-24 08:00-12:00 Eve\n2026-12-25 Own")
        page: Any = document_fromstring(admin_client.get(change(hours)).content.decode())
        typed = dict(page.get_element_by_id("servicehours_form").form_values())

        save(admin_client, change(hours), {
            **typed, "days_off-1-date": "", "days_off-1-name": "", "days_off-1-hours": "closed"
        })  # fmt: skip  # the fields of a row

        assert "To remove a day off, empty its date and its name" in page.text_content()
        assert ServiceHours.objects.get().days_off == "2026-12-25 Own"

    def test_shows_the_week_of_now_and_who_changed_it(self, admin_client):
        hours = make()
        save(admin_client, change(hours), form(friday="10:00-12:00"))

        page, history = (
            " ".join(admin_client.get(address, follow=True).content.decode().split())
            for address in (change(hours), reverse("admin:delivery_servicehours_history", args=[hours.pk]))
        )

        assert "<td>10:00–12:00</td>" in page
        assert "<del>08:00-18:00</del> → <ins>10:00-12:00</ins>" in history

    def test_of_an_account_is_shown_with_the_hours_that_held_before(self, admin_client):
        make("06:00-07:00")
        shop = IntegratorFactory.create()

        preview = preview_of(admin_client, ADD, form(integrator=shop.pk))

        assert (preview.examples[0].old, preview.examples[0].new) == ("06:00–07:00", "08:00–18:00")

    def test_refuses_a_second_one_of_the_installation(self, admin_client):
        make()

        response = admin_client.post(ADD, form())

        assert "There are hours of this account" in str(response.context["adminform"].form.errors)

    @pytest.mark.django_db(transaction=True)
    def test_refuses_the_second_of_two_that_are_added_at_once(self, admin_client):
        typed = {**form(), "previewed": preview_of(admin_client, ADD, form()).digest}

        _first, response = overlap(make, partial(admin_client.post, ADD, typed))

        assert "There are hours of this account" in str(response.context["adminform"].form.errors)
        assert ServiceHours.objects.count() == 1

    def test_deletes_with_the_name_of_who_did(self, admin_client):
        hours = make()

        admin_client.post(reverse("admin:delivery_servicehours_delete", args=[hours.pk]), {"post": "yes"})
        make()
        admin_client.post(
            LIST, {"action": "delete_selected", "_selected_action": [ServiceHours.objects.get().pk], "post": "yes"}
        )

        deleted = ServiceHoursChange.objects.filter(pgh_label="deleted")
        assert [each.pgh_context["by"] for each in deleted] == ["user admin"] * 2


class TestList:
    @pytest.mark.parametrize(
        ("values", "state"),
        [
            ({"spans": "00:00-24:00"}, "Open"),
            ({}, "Closed, opens Sat 08:00"),
            ({"time_zone": "America/Rio_Branco", "spans": "20:00-22:00"}, "Open"),
            ({"time_zone": "America/Rio_Branco", "spans": "22:00-23:00"}, "Closed, opens Fri 22:00"),
        ],
    )
    def test_says_whether_it_is_open(self, admin_client, values, state):
        make(**values)

        page = admin_client.get(LIST).content.decode()

        assert f">{state}</span>" in page
        assert ">Installation</" in page
