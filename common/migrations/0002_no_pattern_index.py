"""Drops the index that Django makes for LIKE on a text key: nothing asks for the beginning of a key."""

from django.db import migrations


class Migration(migrations.Migration):
    initial = True
    dependencies = [("common", "0001_initial")]
    operations = [migrations.RunSQL("DROP INDEX common_attemptcount_key_5502ac22_like", migrations.RunSQL.noop)]
