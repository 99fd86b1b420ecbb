"""The rates that a new installation begins with, from `data/rates.csv`. Pure."""

from integration.postcodes import rows


def rates() -> list[dict[str, str | int]]:
    """Field values of each FreightRate."""
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
        for row in rows("rates.csv")
    ]
