"""Drops indexes whose columns another index begins with. They cost every write, and before the first ANALYZE the planner
preferred them: tracking then read all orders of a seller.
"""

import django.db.models.deletion
from django.db import migrations, models

# Table, column, and the name of the index.
_INDEXES = (
    ("delivery_auditentry", "integrator_id", "delivery_auditentry_integrator_id_b246e271"),
    ("delivery_delivery", "integrator_id", "delivery_delivery_integrator_id_c54186a0"),
    ("delivery_driverposition", "driver_id", "delivery_driverposition_driver_id_5d0b93aa"),
    ("delivery_stop", "delivery_id", "delivery_stop_delivery_id_58c788bc"),
    ("delivery_token", "integrator_id", "delivery_token_integrator_id_33cb8b83"),
    ("delivery_webhookendpoint", "integrator_id", "delivery_webhookendpoint_integrator_id_ddfc3ee2"),
    ("delivery_webhookevent", "delivery_id", "delivery_webhookevent_delivery_id_acbdc8f5"),
)


class Migration(migrations.Migration):
    atomic = False

    dependencies = [("delivery", "0010_package_size")]

    operations = [
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    f"DROP INDEX CONCURRENTLY IF EXISTS {name}",
                    f"CREATE INDEX CONCURRENTLY {name} ON {table} ({column})",
                )
                for table, column, name in _INDEXES
            ],
            state_operations=[
                migrations.AlterField(
                    model_name="auditentry",
                    name="integrator",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="audit",
                        to="delivery.integrator",
                        verbose_name="integrator",
                    ),
                ),
                migrations.AlterField(
                    model_name="delivery",
                    name="integrator",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="deliveries",
                        to="delivery.integrator",
                        verbose_name="integrator",
                    ),
                ),
                migrations.AlterField(
                    model_name="driverposition",
                    name="driver",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="positions",
                        to="delivery.driver",
                        verbose_name="driver",
                    ),
                ),
                migrations.AlterField(
                    model_name="stop",
                    name="delivery",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="stops",
                        to="delivery.delivery",
                        verbose_name="delivery",
                    ),
                ),
                migrations.AlterField(
                    model_name="token",
                    name="integrator",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="tokens",
                        to="delivery.integrator",
                        verbose_name="integrator",
                    ),
                ),
                migrations.AlterField(
                    model_name="webhookendpoint",
                    name="integrator",
                    field=models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="endpoints",
                        to="delivery.integrator",
                        verbose_name="integrator",
                    ),
                ),
                migrations.AlterField(
                    model_name="webhookevent",
                    name="delivery",
                    field=models.ForeignKey(
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="events",
                        to="delivery.delivery",
                        verbose_name="delivery",
                    ),
                ),
            ],
        )
    ]
