"""The index by which a tracking query finds codes without regard to case, spaces, dots and dashes."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False
    dependencies = [("integration", "0004_storage")]
    operations = [
        AddIndexConcurrently(
            "searchcode",
            models.Index(
                models.F("seller"),
                models.Func(
                    "value",
                    output_field=models.TextField(),
                    template="UPPER(TRANSLATE(%(expressions)s, ' .-', ''))",
                ),
                models.OrderBy(models.F("order"), descending=True),
                name="search_code_compact",
            ),
        ),
    ]
