from django.db import migrations


class Migration(migrations.Migration):
    """Keys of connections are looked for whole: Django's further index, for beginnings of texts, has no use."""

    atomic = False

    dependencies = [("delivery", "0014_streets_of_maps")]

    operations = [
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS delivery_connection_id_2108c1e5_like", migrations.RunSQL.noop
        ),
    ]
