"""Checks the orders that existed before the constraint, without a lock that writes wait for."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("integration", "0008_order_freight")]
    operations = [ValidateConstraint("order", "order_freight_is_whole")]
