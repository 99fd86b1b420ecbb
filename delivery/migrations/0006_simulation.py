"""The simulated deliveries of the sandbox, and the account that a simulated driver belongs to."""

import django.db.models.deletion
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("delivery", "0005_delivery_of_account")]

    operations = [
        migrations.CreateModel(
            name="Simulation",
            fields=[
                (
                    "delivery",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="simulation",
                        serialize=False,
                        to="delivery.delivery",
                    ),
                ),
                (
                    "outcome",
                    models.CharField(
                        choices=[
                            ("delivered", "delivered"),
                            ("fail", "fail"),
                            ("nodriver", "nodriver"),
                            ("return", "return"),
                            ("cancel-late", "cancel-late"),
                            ("stale", "stale"),
                        ],
                        max_length=11,
                    ),
                ),
                ("speed", models.FloatField()),
                ("leg", models.PositiveIntegerField(default=0)),
                ("leg_ends_at", models.DateTimeField(null=True)),
                ("due_at", models.DateTimeField(null=True)),
                ("failures", models.PositiveSmallIntegerField(default=0)),
            ],
            options={
                "indexes": [models.Index(fields=["due_at"], name="simulation_due")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            outcome__in=["delivered", "fail", "nodriver", "return", "cancel-late", "stale"]
                        ),
                        name="simulation_outcome",
                    ),
                    models.CheckConstraint(condition=models.Q(speed__gte=1, speed__lte=120), name="simulation_speed"),
                ],
            },
        ),
        migrations.AddField(
            model_name="driver",
            name="simulated_for",
            field=models.ForeignKey(
                db_index=False,
                editable=False,
                null=True,
                on_delete=django.db.models.deletion.PROTECT,
                related_name="simulated_drivers",
                to="delivery.integrator",
            ),
        ),
        AddConstraintNotValid(
            model_name="driver",
            constraint=models.CheckConstraint(
                condition=models.Q(("simulated_for", None), ("environment", "sandbox"), _connector="OR"),
                name="driver_simulated_in_sandbox",
            ),
        ),
    ]
