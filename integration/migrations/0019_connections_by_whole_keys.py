from django.db import migrations


class Migration(migrations.Migration):
    """Keys of connections are looked for whole: Django's further index, for beginnings of texts, has no use."""

    atomic = False

    dependencies = [("integration", "0018_connected_shops")]

    operations = [
        migrations.RunSQL(
            "DROP INDEX CONCURRENTLY IF EXISTS integration_connection_id_f4a0a737_like", migrations.RunSQL.noop
        ),
    ]
