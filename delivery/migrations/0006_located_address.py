"""Where the geocoder has found addresses."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("delivery", "0005_repeated_external_id_index")]
    operations = [
        migrations.CreateModel(
            name="LocatedAddress",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("latitude", models.FloatField(verbose_name="latitude")),
                ("longitude", models.FloatField(verbose_name="longitude")),
                ("digest", models.BinaryField(max_length=32, unique=True)),
                (
                    "precision",
                    models.CharField(
                        choices=[("rooftop", "rooftop"), ("street", "street"), ("postcode", "postcode")], max_length=8
                    ),
                ),
                ("created_at", models.DateTimeField(db_index=True)),
            ],
            options={
                "default_permissions": (),
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            ("latitude__gte", -90),
                            ("latitude__lte", 90),
                            ("longitude__gte", -180),
                            ("longitude__lte", 180),
                        ),
                        name="located_address_on_earth",
                        violation_error_message="Latitude runs from -90 to 90, longitude from -180 to 180, in decimal degrees.",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("precision__in", ["rooftop", "street", "postcode"])),
                        name="located_address_precision",
                    ),
                ],
            },
        ),
    ]
