"""Check the rows that exist by the constraints of the migration before."""

from django.contrib.postgres.operations import ValidateConstraint
from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("delivery", "0020_policies_of_failures")]

    operations = [
        ValidateConstraint("dropoffoptions", "dropoff_options_on_failure"),
        ValidateConstraint("integrator", "integrator_on_failure"),
        ValidateConstraint("stop", "stop_tried_after_pickup"),
    ]
