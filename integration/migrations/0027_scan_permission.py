"""A right to change the status of orders on the page Scan. Changes no table."""

from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [("integration", "0026_receiver_mails")]

    operations = [
        migrations.AlterModelOptions(
            name="order",
            options={
                "ordering": ["-id"],
                "permissions": [
                    ("assign_order", "Can assign orders to carriers"),
                    ("scan_order", "Can scan the parcels of orders"),
                ],
                "verbose_name": "order",
                "verbose_name_plural": "orders",
            },
        ),
    ]
