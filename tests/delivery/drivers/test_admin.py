"""Drivers in the admin: on and off duty from the list, and changed on their page."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.messages import get_messages
from django.urls import reverse

from delivery.models import Driver
from tests.factories import DeliveryFactory, DriverFactory

# The formset of the page, which adds none.
POSITIONS = {"positions-TOTAL_FORMS": "0", "positions-INITIAL_FORMS": "0"}


@pytest.mark.django_db
class TestDuty:
    @pytest.mark.parametrize(("action", "before"), [("go_on_duty", False), ("go_off_duty", True)])
    def test_is_changed_counted_and_logged_in_a_list_filtered_by_it(self, admin_client, action, before):
        chosen = DriverFactory.create(on_duty=before)
        other = DriverFactory.create(on_duty=before)
        url = f"{reverse('admin:delivery_driver_changelist')}?on_duty__exact={int(before)}"

        response = admin_client.post(url, {"action": action, "_selected_action": [str(chosen.pk)], "confirmed": "yes"})

        assert Driver.objects.get(pk=chosen.pk).on_duty is not before
        assert Driver.objects.get(pk=other.pk).on_duty is before
        assert [entry.object_id for entry in LogEntry.objects.all()] == [str(chosen.pk)]
        assert [str(message)[0] for message in get_messages(response.wsgi_request)] == ["1"]


def save(client, driver, **changes):
    fields = {"name": driver.name, "phone": driver.phone, "vehicle_type": "MOTORCYCLE", "environment": "live"}
    flags = {"active": "on", "on_duty": "on"}
    sent = {name: value for name, value in {**fields, **flags, **changes}.items() if value is not None}
    return client.post(reverse("admin:delivery_driver_change", args=[driver.pk]), {**sent, **POSITIONS}, follow=True)


@pytest.mark.django_db
class TestPage:
    @pytest.mark.parametrize("change", [{"environment": "sandbox"}, {"vehicle_type": "CAR"}, {"active": None}], ids=str)
    def test_changes_nothing_that_the_open_route_was_given_for(self, admin_client, change):
        driver = DeliveryFactory.create(accepted=True).driver

        response = save(admin_client, driver, **change, phone="+55 11 90000-0001")

        assert "holds a route" in response.content.decode()
        assert list(Driver.objects.values("environment", "vehicle_type", "active", "phone")) == [
            {"environment": "live", "vehicle_type": "MOTORCYCLE", "active": True, "phone": "+55 11 98888-0000"}
        ]

    def test_changes_the_rest_of_a_driver_with_an_open_route(self, admin_client):
        driver = DeliveryFactory.create(accepted=True).driver

        save(admin_client, driver, phone="+55 11 90000-0001", on_duty=None)

        driver.refresh_from_db()
        assert (driver.phone, driver.on_duty) == ("+55 11 90000-0001", False)

    def test_changes_everything_of_a_free_driver_and_logs_it(self, admin_client):
        driver = DriverFactory.create()

        save(admin_client, driver, vehicle_type="CAR", environment="sandbox", active=None)

        driver.refresh_from_db()
        assert (driver.vehicle_type, driver.environment, driver.active) == ("CAR", "sandbox", False)
        assert LogEntry.objects.count() == 1

    def test_adds_a_driver(self, admin_client):
        form = {"name": "Ana", "phone": "", "vehicle_type": "CAR", "environment": "live", "active": "on", **POSITIONS}

        admin_client.post(reverse("admin:delivery_driver_add"), form)

        assert Driver.objects.get().name == "Ana"
