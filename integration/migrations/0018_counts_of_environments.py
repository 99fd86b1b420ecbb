"""Lets an hour have a count of refused calls in each environment.

In a transaction, so that it waits for the lock of the table no longer than the timeout says. Until the new version runs, the
previous one cannot count refused calls, which it logs.
"""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("integration", "0017_indexes_of_refused_calls")]

    operations = [migrations.RemoveConstraint("refusedsellercallcount", "refused_seller_count_of_hour")]
