"""Lets test orders wait for their manifest. The table has what moves now only, so that its check takes moments."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('integration', '0014_codes_of_cancelled_orders'),
    ]

    operations = [
        migrations.RemoveConstraint(
            model_name='simulation',
            name='order_simulation_outcome',
        ),
        migrations.AlterField(
            model_name='simulation',
            name='outcome',
            field=models.CharField(choices=[('delivered', 'delivered'), ('fail', 'fail'), ('return', 'return'), ('lost', 'lost'), ('manifest', 'manifest')], max_length=9),
        ),
        migrations.AddConstraint(
            model_name='simulation',
            constraint=models.CheckConstraint(condition=models.Q(('outcome__in', ['delivered', 'fail', 'return', 'lost', 'manifest'])), name='order_simulation_outcome'),
        ),
    ]
