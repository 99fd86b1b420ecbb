"""Finds the latest messages to an address.

Outside a transaction, because indexes are made while their tables are in use. It can be repeated after an interruption.
"""

from django.db import migrations, models

_DROP = "DROP INDEX CONCURRENTLY IF EXISTS message_to"


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("mail", "0002_unsubscribe")]

    operations = [
        migrations.RunSQL(
            [_DROP, "CREATE INDEX CONCURRENTLY message_to ON mail_message (recipient, created_at)"],
            _DROP,
            state_operations=[
                migrations.AddIndex("message", models.Index(fields=["recipient", "created_at"], name="message_to"))
            ],
        )
    ]
