from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('delivery', '0037_audit_of_any_pickup'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='delivery',
            index=models.Index(condition=models.Q(('closed_at__isnull', False)), fields=['driver', 'closed_at'], name='delivery_ended_of_driver'),
        ),
    ]
