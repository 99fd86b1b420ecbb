"""Drops the unique constraints without environment, whose successors have their indexes.

In a transaction, so that it waits for the locks of tables no longer than the timeout says. Until the new version runs, the
previous one cannot count refused calls, which it logs.
"""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("integration", "0007_filled_checked_and_indexed")]

    operations = [
        migrations.RemoveConstraint("order", "one_order_per_code"),
        migrations.RemoveConstraint("order", "one_order_per_tracking_code"),
        migrations.RemoveConstraint("invoice", "one_invoice_per_access_key"),
        migrations.RemoveConstraint("refusedsellercallcount", "refused_seller_count_of_hour"),
    ]
