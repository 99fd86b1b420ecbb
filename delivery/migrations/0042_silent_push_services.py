"""Since when the push service of a phone has not answered."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [('delivery', '0041_index_of_former_drivers')]

    operations = [
        migrations.AddField(
            model_name='pushsubscription',
            name='silent_since',
            field=models.DateTimeField(editable=False, null=True),
        ),
    ]
