"""Indexes by which rows to anonymise are found: by their end, and by a phone number."""

from django.contrib.postgres.indexes import BrinIndex
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models.functions import Right


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("delivery", "0034_forgetting")]

    operations = [
        AddIndexConcurrently(
            model_name='delivery',
            index=models.Index(condition=models.Q(('closed_at__isnull', False), ('forgotten_at__isnull', True)), fields=['closed_at'], name='delivery_to_forget'),
        ),
        AddIndexConcurrently(
            model_name='delivery',
            index=models.Index(Right(models.Func(models.F('contact_phone'), models.Value('\\D'), models.Value(''), models.Value('g'), function='regexp_replace', output_field=models.CharField()), 8), condition=models.Q(('contact_phone', ''), _negated=True), name='delivery_phone'),
        ),
        AddIndexConcurrently(
            model_name='driverposition',
            index=BrinIndex(fields=['recorded_at'], name='driver_position_age', pages_per_range=32),
        ),
        AddIndexConcurrently(
            model_name='stop',
            index=models.Index(Right(models.Func(models.F('contact_phone'), models.Value('\\D'), models.Value(''), models.Value('g'), function='regexp_replace', output_field=models.CharField()), 8), condition=models.Q(('contact_phone', ''), _negated=True), name='stop_phone'),
        ),
    ]
