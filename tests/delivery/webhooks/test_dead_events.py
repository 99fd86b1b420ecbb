"""Finding the events that were given up."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from delivery.models import WebhookEvent
from tests.delivery.webhooks.test_feed import copies
from tests.factories import DeliveryFactory

ADMIN = reverse("admin:delivery_webhookevent_changelist")


@pytest.fixture
def event():
    return DeliveryFactory.create(stops=1).events.get()


def dead():
    return list(WebhookEvent.objects.in_state("dead"))


@pytest.mark.django_db
class TestDeadEvents:
    def test_are_found_until_they_are_sent_again(self, event):
        before = dead()
        WebhookEvent.objects.update(state="dead")
        given_up = dead()
        WebhookEvent.objects.update(state="pending")

        assert (before, given_up, dead()) == ([], [event], [])
        event.refresh_from_db()
        assert event.dead_since is None

    def test_keep_the_moment_at_which_they_became_dead(self, event):
        WebhookEvent.objects.update(state="dead")
        event.refresh_from_db()
        WebhookEvent.objects.update(attempts_made=7)
        first = event.dead_since

        event.refresh_from_db()

        assert first is not None
        assert event.dead_since == first

    @pytest.mark.parametrize("page", ["admin", "panel"])
    def test_are_listed_by_an_index(self, admin_client, event, page):
        account = f"/panel/accounts/{event.endpoint.integrator_id}/live/events/"
        path, index = {"admin": (ADMIN, "event_dead_newest"), "panel": (account, "event_dead_log")}[page]
        copies(event, [{}] * 1000)  # with few events, or if all are dead, other plans are as cheap
        WebhookEvent.objects.filter(sequence__lt=100).update(state="dead")
        with CaptureQueriesContext(connection) as captured:
            response = admin_client.get(path, {"state": "dead"})
        listed = next(row["sql"] for row in captured if "ORDER BY" in row["sql"] and "webhookevent" in row["sql"])

        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute("SET LOCAL enable_bitmapscan = off")
            cursor.execute("ANALYZE delivery_webhookevent")
            cursor.execute(f"EXPLAIN {listed}")
            plan = "\n".join(row[0] for row in cursor.fetchall())

        assert response.status_code == 200
        assert f" {index} " in plan, plan
