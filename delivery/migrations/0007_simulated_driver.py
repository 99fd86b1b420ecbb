"""Index and validated constraint of the column that 0006 adds, without a lock that stops writes to drivers."""

from django.contrib.postgres.operations import AddIndexConcurrently, ValidateConstraint
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("delivery", "0006_simulation")]

    operations = [
        AddIndexConcurrently(
            model_name="driver",
            index=models.Index(
                condition=models.Q(simulated_for__isnull=False), fields=["simulated_for"], name="driver_simulated_for"
            ),
        ),
        ValidateConstraint(model_name="driver", name="driver_simulated_in_sandbox"),
    ]
