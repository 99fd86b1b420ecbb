"""Drops the unique constraints of codes that hold for cancelled orders too, whose successors have their indexes.

In a transaction, so that it waits for the locks of tables no longer than the timeout says.
"""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("integration", "0013_one_order_per_code_in_use")]

    operations = [
        migrations.RemoveConstraint("order", "one_order_of_environment_per_code"),
        migrations.RemoveConstraint("order", "one_order_of_environment_per_tracking_code"),
    ]
