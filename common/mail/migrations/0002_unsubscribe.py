"""Lets a message say where further ones are ended."""

from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('mail', '0001_initial'),
    ]

    operations = [
        migrations.AddField(
            model_name='message',
            name='unsubscribe_ciphertext',
            field=models.TextField(blank=True, db_default=''),
        ),
        migrations.AlterField(
            model_name='message',
            name='kind',
            field=models.CharField(choices=[('invitation', 'Invitation'), ('password_reset', 'Password reset'), ('alert', 'Alert'), ('digest', 'Daily digest'), ('receiver', 'Link for a receiver'), ('order', 'Status of an order')], max_length=14, verbose_name='kind'),
        ),
    ]
