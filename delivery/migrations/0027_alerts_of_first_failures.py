"""The stops of first attempts that alerts have named.

In a transaction, so that its locks are waited for a second at most. The next migration checks the rows that exist.
"""

from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("delivery", "0026_money_of_failures_checked")]

    operations = [
        migrations.RemoveConstraint(
            model_name='reportedtrouble',
            name='reported_trouble',
        ),
        migrations.AddField(
            model_name='reportedtrouble',
            name='point',
            field=models.CharField(blank=True, db_default='', default='', max_length=1),
        ),
        migrations.AlterField(
            model_name='reportedtrouble',
            name='trouble',
            field=models.CharField(choices=[('untaken', 'Without a driver'), ('late', 'Late'), ('attempt', 'First attempt failed'), ('failed', 'Not delivered')], max_length=7),
        ),
        AddConstraintNotValid(
            model_name='reportedtrouble',
            constraint=models.CheckConstraint(condition=models.Q(('trouble__in', ['untaken', 'late', 'attempt', 'failed'])), name='reported_trouble'),
        ),
    ]
