"""What stood in the database before a change of its shape."""

from datetime import timedelta

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from delivery.actions import endpoints
from delivery.models import WebhookEndpoint, WebhookQueueItem
from tests.factories import BY, DeliveryFactory, TokenFactory


def migrate(name):
    MigrationExecutor(connection).migrate([("delivery", name)])


def migrate_to_the_newest():
    """Other apps too: what depends on the migrations taken back went with them, and later tests need it."""
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


@pytest.mark.django_db(transaction=True)
class TestWebhookQueueItems:
    def test_take_over_what_waited_to_be_sent(self):
        endpoint = TokenFactory.create().integrator.endpoints.get(environment="live")
        endpoints.set_url(endpoint=endpoint, url="http://127.0.0.1:9/", by=BY, at=timezone.now())
        delivery = DeliveryFactory.create(token=endpoint.integrator.tokens.get(), collected=True)
        delivery.events.update(state="sent")
        later = timezone.now() + timedelta(hours=1)
        try:
            migrate("0001_initial")
            with connection.cursor() as cursor:
                cursor.execute("UPDATE delivery_webhookendpoint SET enabled = FALSE")
                cursor.execute(
                    "UPDATE delivery_webhookevent SET state = 'pending', next_attempt_at = %s, attempts_made = 4"
                    " WHERE sequence > 1",
                    [later],
                )
        finally:
            migrate_to_the_newest()

        item = WebhookQueueItem.objects.get()
        assert (item.event, item.due_at, item.tries) == (delivery.events.get(sequence=2), later, 4)
        assert WebhookEndpoint.objects.get(pk=endpoint.pk).off_because == "staff"
