"""Indexes by which rows to anonymise are found: by their end, and by a phone number."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Right


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("integration", "0017_forgetting")]

    operations = [
        AddIndexConcurrently(
            model_name='invoice',
            index=models.Index(condition=models.Q(('forgotten_at__isnull', True)), fields=['received_at'], name='invoice_to_forget'),
        ),
        AddIndexConcurrently(
            model_name='order',
            index=models.Index(condition=models.Q(('forgotten_at__isnull', True)), fields=['created_at'], name='order_to_forget'),
        ),
        AddIndexConcurrently(
            model_name='order',
            index=models.Index(Right(models.Func(KeyTextTransform('phone', 'receiver'), models.Value('\\D'), models.Value(''), models.Value('g'), function='regexp_replace', output_field=models.CharField()), 8), condition=models.Q(('receiver__has_key', 'phone')), name='order_phone'),
        ),
        AddIndexConcurrently(
            model_name='order',
            index=models.Index(Right(models.Func(KeyTextTransform('cellphone', 'receiver'), models.Value('\\D'), models.Value(''), models.Value('g'), function='regexp_replace', output_field=models.CharField()), 8), condition=models.Q(('receiver__has_key', 'cellphone')), name='order_cellphone'),
        ),
    ]
