"""Checks the reasons of changes of invoices that exist by the new constraint, while their table is in use."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("integration", "0010_corrections")]

    operations = [ValidateConstraint("invoicechange", "invoice_change_reason")]
