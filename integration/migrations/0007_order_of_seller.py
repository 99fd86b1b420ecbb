"""Indexes for the lists of a seller's orders, from which the keys of a page are read without the table."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("integration", "0006_idempotency_records")]

    operations = [
        AddIndexConcurrently(
            model_name="order",
            index=models.Index(fields=["seller", "-created_at", "-id"], name="order_of_seller"),
        ),
        AddIndexConcurrently(
            model_name="order",
            index=models.Index(fields=["seller", "status", "-created_at", "-id"], name="order_of_seller_status"),
        ),
    ]
