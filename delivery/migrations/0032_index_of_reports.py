from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q


class Migration(migrations.Migration):
    atomic = False

    dependencies = [
        ('delivery', '0031_arrival_of_a_moved_route'),
    ]

    operations = [
        AddIndexConcurrently(
            model_name='delivery',
            index=models.Index(
                fields=['integrator', 'environment', 'closed_at', 'id'],
                include=[
                    'status', 'route_status', 'shipping_value', 'cancelled_at', 'cancel_fee', 'driver', 'distance_km',
                ],
                name='delivery_ended',
                condition=Q(closed_at__isnull=False),
            ),
        ),
    ]
