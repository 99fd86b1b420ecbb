"""Test orders that a simulated carrier moves."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("integration", "0014_manifests")]

    operations = [
        migrations.CreateModel(
            name="Simulation",
            fields=[
                ("speed", models.FloatField()),
                ("due_at", models.DateTimeField(null=True)),
                ("failures", models.PositiveSmallIntegerField(default=0)),
                (
                    "order",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="simulation",
                        serialize=False,
                        to="integration.order",
                    ),
                ),
                (
                    "outcome",
                    models.CharField(
                        choices=[("delivered", "delivered"), ("fail", "fail"), ("return", "return"), ("lost", "lost")],
                        max_length=9,
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["due_at"], name="order_simulation_due")],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("outcome__in", ["delivered", "fail", "return", "lost"])),
                        name="order_simulation_outcome",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("speed__gte", 1), ("speed__lte", 120)), name="order_simulation_speed"
                    ),
                ],
            },
        ),
    ]
