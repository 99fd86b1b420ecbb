from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('delivery', '0024_changes_of_prices'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='tariffchange',
            index=models.Index(fields=['made_at', 'made_by'], name='tariff_changes_at_once'),
        ),
    ]
