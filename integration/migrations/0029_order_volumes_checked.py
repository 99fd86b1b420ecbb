"""Checks the orders that existed before the constraint, without a lock that writes wait for."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("integration", "0028_order_volumes")]
    operations = [ValidateConstraint("order", "order_volumes_in_range")]
