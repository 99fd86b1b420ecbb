"""`python seed.py TOKEN KEY`: create the tables, an account with this token, and a seller with this API key.

The tariff is that of `tests.factories.TariffFactory`, by which Rota answers.
"""

import asyncio
import csv
import hashlib
import os
import sys
from pathlib import Path

import asyncpg

_HERE = Path(__file__).parent
_RATES = _HERE.parents[1] / "integration" / "migrations" / "default_rates.csv"


async def main(token: str, key: str) -> None:
    connection = await asyncpg.connect(os.environ["PEER_DATABASE"])
    await connection.execute((_HERE / "schema.sql").read_text())
    account = await connection.fetchval("INSERT INTO account (name) VALUES ('Benchmark') RETURNING id")
    await connection.execute("INSERT INTO token (account_id, digest) VALUES ($1, $2)", account, _digest(token))
    await connection.execute(
        "INSERT INTO pickup_point (account_id, latitude, longitude, radius_m) VALUES ($1, -23.561414, -46.655881, 200)",
        account,
    )
    await connection.execute(
        "INSERT INTO tariff (vehicle_type, active, base_fare, included_km, price_per_km, price_per_extra_dropoff,"
        " minimum_fare, maximum_km, maximum_kg) VALUES ('MOTORCYCLE', true, 10, 2, 2, 5, 12, 100, 30)"
    )
    seller = await connection.fetchval("INSERT INTO seller (name) VALUES ('Benchmark') RETURNING id")
    await connection.execute(
        "INSERT INTO api_key (seller_id, digest, hint) VALUES ($1, $2, $3)", seller, _digest(key), key[-4:]
    )
    await connection.execute("INSERT INTO company (seller_id, document) VALUES ($1, '11222333000181')", seller)
    await connection.execute("INSERT INTO freight_parameters DEFAULT VALUES")
    with _RATES.open(newline="") as file:
        await connection.executemany(
            "INSERT INTO freight_rate (service, zone, origin_kind, destination_kind, base_centavos, extra_kg_centavos,"
            " deadline_days) VALUES ($1, $2, $3, $4, $5, $6, $7)",
            [
                (
                    *(row[name] for name in ("service", "zone", "origin_kind", "dest_kind")),
                    *(int(row[name]) for name in ("base_centavos_up_to_1kg", "extra_kg_centavos", "deadline_days")),
                )
                for row in csv.DictReader(file)
            ],
        )
    await connection.close()


def _digest(credential: str) -> bytes:
    return hashlib.sha256(credential.encode()).digest()


asyncio.run(main(*sys.argv[1:]))
