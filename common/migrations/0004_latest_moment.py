"""The latest moment that a worker has seen, by which it sees that the clocks were put back."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('common', '0003_kept_uploads'),
    ]

    operations = [
        migrations.CreateModel(
            name='LatestMoment',
            fields=[
                ('id', models.PositiveSmallIntegerField(default=1, editable=False, primary_key=True, serialize=False)),
                ('moment', models.DateTimeField()),
            ],
            options={
                'default_permissions': (),
                'constraints': [models.CheckConstraint(condition=models.Q(('id', 1)), name='one_latest_moment')],
            },
        ),
    ]
