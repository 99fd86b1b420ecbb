"""Environment, vehicle and `active` of a driver do not change under an open route."""

import pgtrigger.compiler
import pgtrigger.migrations
from django.db import migrations


class Migration(migrations.Migration):

    dependencies = [
        ('delivery', '0035_indexes_to_forget'),
    ]

    operations = [
        pgtrigger.migrations.AddTrigger(
            model_name='driver',
            trigger=pgtrigger.compiler.Trigger(name='driver_fits_open_route', sql=pgtrigger.compiler.UpsertTriggerSql(condition='WHEN (OLD."environment" IS DISTINCT FROM (NEW."environment") OR OLD."vehicle_type" IS DISTINCT FROM (NEW."vehicle_type") OR (NOT NEW."active" AND OLD."active"))', func="\n                    IF EXISTS (\n                        SELECT FROM delivery_delivery\n                        WHERE driver_id = OLD.id AND route_status IN ('ACCEPTED', 'COLLECTED', 'RETURNING')\n                    ) THEN\n                        RAISE EXCEPTION 'The driver holds a route' USING\n                            ERRCODE = 'check_violation', CONSTRAINT = 'driver_fits_open_route';\n                    END IF;\n                    RETURN NEW;\n                ", hash='5a50a43c654e5721513601f33213c9801461315f', operation='UPDATE', pgid='pgtrigger_driver_fits_open_route_e8845', table='delivery_driver', when='BEFORE')),
        ),
    ]
