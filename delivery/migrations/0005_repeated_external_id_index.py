"""The index of repeated externalIds, which is built while the table is in use."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("delivery", "0004_repeated_external_ids")]
    operations = [
        AddIndexConcurrently(
            model_name="stop",
            index=models.Index(
                fields=["external_id_digest", "-id"],
                name="stop_repeated_external_id",
                condition=models.Q(external_id_digest__isnull=False),
            ),
        ),
    ]
