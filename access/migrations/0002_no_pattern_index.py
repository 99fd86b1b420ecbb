"""Drops the index that Django makes for LIKE on a text key. Nothing asks for a beginning of a key, and every attempt
writes one.
"""

from django.db import migrations


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("access", "0001_initial")]

    operations = [
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS access_attemptcount_key_d4c592e6_like",
            "CREATE INDEX CONCURRENTLY access_attemptcount_key_d4c592e6_like"
            " ON access_attemptcount (key varchar_pattern_ops)",
        ),
    ]
