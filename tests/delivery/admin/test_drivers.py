"""Drivers on and off duty, from the admin's list."""

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.messages import get_messages
from django.urls import reverse

from delivery.models import Driver
from tests.factories import DriverFactory


@pytest.mark.django_db
class TestDuty:
    @pytest.mark.parametrize(("action", "before"), [("go_on_duty", False), ("go_off_duty", True)])
    def test_is_changed_counted_and_logged_in_a_list_filtered_by_it(self, admin_client, action, before):
        chosen = DriverFactory.create(on_duty=before)
        other = DriverFactory.create(on_duty=before)
        url = f"{reverse('admin:delivery_driver_changelist')}?on_duty__exact={int(before)}"

        response = admin_client.post(url, {"action": action, "_selected_action": [str(chosen.pk)]})

        assert Driver.objects.get(pk=chosen.pk).on_duty is not before
        assert Driver.objects.get(pk=other.pk).on_duty is before
        assert [entry.object_id for entry in LogEntry.objects.all()] == [str(chosen.pk)]
        assert [str(message)[0] for message in get_messages(response.wsgi_request)] == ["1"]
