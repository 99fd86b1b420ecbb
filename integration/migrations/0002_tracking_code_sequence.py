"""The sequence of generated tracking codes: each number is given out once, whatever runs at the same time."""

from django.db import migrations

# AA000000014BR is the first code and ZZ999999995BR the last: 26 x 26 pairs of letters with eight digits each.
_LAST = 26 * 26 * 10**8 - 1


class Migration(migrations.Migration):
    dependencies = [("integration", "0001_initial")]

    operations = [
        migrations.RunSQL(
            f"CREATE SEQUENCE integration_tracking_code AS bigint MINVALUE 0 START 1 MAXVALUE {_LAST} NO CYCLE",
            "DROP SEQUENCE integration_tracking_code",
        )
    ]
