"""The numbers of generated tracking codes: a sequence hands each out once, whatever runs at the same time."""

from django.db import migrations

from integration.tracking_codes import LAST


class Migration(migrations.Migration):
    dependencies = [("integration", "0001_initial")]

    operations = [
        migrations.RunSQL(
            f"CREATE SEQUENCE integration_tracking_code AS bigint MINVALUE 0 START 1 MAXVALUE {LAST} NO CYCLE",
            "DROP SEQUENCE integration_tracking_code",
        )
    ]
