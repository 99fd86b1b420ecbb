"""Indexes of telephone numbers that are written in an unusual way, for people's requests about their data.

Concurrently, because the tables are in use. All of it can be repeated.
"""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models.fields.json import KT

_UNUSUAL = (
    r"^(?![+0(). -]*(5[(). -]*5[(). -]*)?[1-9][(). -]*[1-9][(). -]*"
    r"([2-9]|9[(). -]*[0-9])[(). -]*([0-9][(). -]*){7}$).{10,}"
)
_INDEXES = {
    "order_unusual_phone": ("order", KT("receiver__phone"), models.Q(receiver__phone__regex=_UNUSUAL)),
    "order_unusual_cellphone": ("order", KT("receiver__cellphone"), models.Q(receiver__cellphone__regex=_UNUSUAL)),
}


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("integration", "0035_invoice_reference_alike")]
    operations = [
        operation
        for name, (model, text, is_unusual) in _INDEXES.items()
        for operation in (
            migrations.RunSQL(f"DROP INDEX CONCURRENTLY IF EXISTS {name}", migrations.RunSQL.noop),
            AddIndexConcurrently(model, models.Index(text, name=name, condition=is_unusual)),
        )
    ]
