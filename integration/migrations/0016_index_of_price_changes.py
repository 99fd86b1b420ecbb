from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('integration', '0015_changes_of_prices'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='freightpricechange',
            index=models.Index(fields=['made_at', 'made_by'], name='freight_changes_at_once'),
        ),
    ]
