"""The default rates and freight parameters, so that a new installation can quote."""

import csv
from pathlib import Path

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

RATES = Path(__file__).with_name("default_rates.csv")

_PARAMETERS = {
    "default_weight_g": 1000,
    "max_weight_g": 30_000,
    "weight_rounding_g": 1000,
    "cubic_divisor_cm3_per_kg": 6000,
    "cubic_threshold_g": 5000,
    "ad_valorem_bp": 100,
    "ad_valorem_free_centavos": 5000,
    "gris_bp": 0,
    "minimum_charge_centavos": 2290,
    "handling_days": 0,
    "remote_states": ["AC", "AM", "AP", "RR"],
    "quote_service": "economy",
}


def rates() -> list[dict[str, str | int]]:
    """Field values of each rate."""
    with RATES.open(newline="") as file:
        return [
            {
                "service": row["service"],
                "zone": row["zone"],
                "origin_kind": row["origin_kind"],
                "destination_kind": row["dest_kind"],
                "base_centavos": int(row["base_centavos_up_to_1kg"]),
                "extra_kg_centavos": int(row["extra_kg_centavos"]),
                "deadline_days": int(row["deadline_days"]),
            }
            for row in csv.DictReader(file)
        ]


def load(apps: Apps, schema_editor: BaseDatabaseSchemaEditor | None) -> None:
    """Rows that exist already stay as they are."""
    FreightRate = apps.get_model("integration", "FreightRate")
    FreightParameters = apps.get_model("integration", "FreightParameters")
    FreightRate.objects.bulk_create([FreightRate(**row) for row in rates()], ignore_conflicts=True)
    FreightParameters.objects.get_or_create(defaults=_PARAMETERS)


class Migration(migrations.Migration):
    dependencies = [("integration", "0002_tracking_code_sequence")]

    operations = [migrations.RunPython(load, migrations.RunPython.noop)]
