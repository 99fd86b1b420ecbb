"""Indexes for the lists of an account's deliveries, from which the keys of a page are read without the table."""

from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("delivery", "0004_refused_calls")]

    operations = [
        AddIndexConcurrently(
            model_name="delivery",
            index=models.Index(
                fields=["integrator", "environment", "-created_at", "-id"], name="delivery_of_account"
            ),
        ),
        AddIndexConcurrently(
            model_name="delivery",
            index=models.Index(
                fields=["integrator", "environment", "status", "-created_at", "-id"], name="delivery_of_account_status"
            ),
        ),
        RemoveIndexConcurrently(model_name="delivery", name="delivery_of_integrator"),
    ]
