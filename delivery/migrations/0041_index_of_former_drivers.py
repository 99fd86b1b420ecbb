"""The index by which the routes are found that a driver has held for a time, and who held those of before."""

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models

# One transaction. A driver is known by the name and the number that the event tells, if no other one has both.
FORMER_DRIVERS = """
SELECT set_config('pgtrigger.ignore', '{pgtrigger_transition_immutable_adce9}', true);
UPDATE delivery_transition change SET former_driver_id = driver.id
FROM (
    SELECT id, delivery_id, trigger, row_number() OVER (PARTITION BY delivery_id ORDER BY id) AS number
    FROM delivery_transition WHERE delivery_id IN (
        SELECT delivery_id FROM delivery_transition WHERE trigger IN ('release', 'reassign')
    )
) numbered
JOIN delivery_webhookevent event ON event.delivery_id = numbered.delivery_id AND event.sequence = numbered.number - 1
JOIN delivery_driver driver
    ON driver.name = event.body::jsonb #>> '{driver,name}' AND driver.phone = event.body::jsonb #>> '{driver,phone}'
WHERE change.id = numbered.id AND numbered.trigger IN ('release', 'reassign') AND change.former_driver_id IS NULL
    AND NOT EXISTS (
        SELECT FROM delivery_driver other
        WHERE other.name = driver.name AND other.phone = driver.phone AND other.id <> driver.id
    );
"""


class Migration(migrations.Migration):
    atomic = False

    dependencies = [('delivery', '0040_former_driver')]

    operations = [
        migrations.RunSQL(FORMER_DRIVERS, migrations.RunSQL.noop),
        AddIndexConcurrently(
            model_name='transition',
            index=models.Index(condition=models.Q(('former_driver__isnull', False)), fields=['former_driver'], name='transition_former_driver'),
        ),
    ]
