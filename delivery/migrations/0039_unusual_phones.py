"""Indexes of telephone numbers that are written in an unusual way, for people's requests about their data.

Concurrently, because the tables are in use. All of it can be repeated.
"""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

_UNUSUAL = (
    r"^(?![+0(). -]*(5[(). -]*5[(). -]*)?[1-9][(). -]*[1-9][(). -]*"
    r"([2-9]|9[(). -]*[0-9])[(). -]*([0-9][(). -]*){7}$).{10,}"
)
_INDEXES = {
    "delivery_unusual_phone": ("delivery", models.F("contact_phone"), models.Q(contact_phone__regex=_UNUSUAL)),
    "stop_unusual_phone": ("stop", models.F("contact_phone"), models.Q(contact_phone__regex=_UNUSUAL)),
}


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("delivery", "0038_failed_stops_filled")]
    operations = [
        operation
        for name, (model, text, is_unusual) in _INDEXES.items()
        for operation in (
            migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {name}", migrations.RunSQL.noop),
            AddIndexConcurrently(model, models.Index(text, name=name, condition=is_unusual)),
        )
    ]
