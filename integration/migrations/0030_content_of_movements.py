"""What carriers sent under the ids of their events, as a digest."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integration', '0029_order_volumes_checked'),
    ]

    operations = [
        migrations.AddField(
            model_name='movementrecord',
            name='content',
            field=models.BinaryField(db_default=b'', default=b'', max_length=32),
        ),
    ]
