"""Tokens that staff issue to hand them over; those of before are nobody's to replace.

In a transaction, so that its lock is waited for a second at most. The default is kept in the catalogue: no row is
written.
"""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('delivery', '0018_first_acceptance_filled'),
    ]

    operations = [
        migrations.AddField(
            model_name='token',
            name='to_hand_over',
            field=models.BooleanField(db_default=False, default=False, editable=False),
        ),
    ]
