"""Uploaded files that wait to be confirmed, which were in the cache, and the latest moment that a worker has seen, by which
it sees that the clocks were put back.
"""

import django.db.models.functions.text
import django.db.models.lookups
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('common', '0002_no_pattern_index'),
    ]

    operations = [
        migrations.CreateModel(
            name='KeptUpload',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('owner', models.CharField(max_length=60)),
                ('kind', models.CharField(max_length=60)),
                ('ciphertext', models.TextField()),
                ('created_at', models.DateTimeField()),
                ('expires_at', models.DateTimeField(db_index=True)),
                ('busy_until', models.DateTimeField(null=True)),
            ],
            options={
                'default_permissions': (),
                'indexes': [models.Index(fields=['owner', 'created_at'], name='uploads_of_an_owner')],
                'constraints': [models.CheckConstraint(condition=django.db.models.lookups.LessThanOrEqual(django.db.models.functions.text.Length('ciphertext'), 4000000), name='kept_upload_is_small'), models.UniqueConstraint(condition=models.Q(('busy_until__isnull', False)), fields=('owner',), name='one_busy_upload_of_an_owner')],
            },
        ),
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
