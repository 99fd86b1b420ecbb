"""`python seed.py TOKEN KEY`: create the tables, an account with this token, and a seller with this API key."""

import asyncio
import csv
import hashlib
import sys
import uuid
from decimal import Decimal
from pathlib import Path

from database import engine, sessions
from integration_tables import ApiKey, Company, FreightParameters, FreightRate, Seller
from sqlalchemy.ext.asyncio import AsyncSession
from tables import Account, Base, PickupPoint, Tariff, Token

_RATES = Path(__file__).parents[2] / "integration" / "migrations" / "default_rates.csv"


async def main(token: str, key: str) -> None:
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.create_all)
    async with sessions.begin() as session:
        await _add_account(session, token)
        await _add_seller(session, key)
    await engine.dispose()


async def _add_account(session: AsyncSession, token: str) -> None:
    """An account with a pickup point, and a tariff."""
    account = Account(name="Benchmark")
    account.pickup_points = [PickupPoint(latitude=-23.561414, longitude=-46.655881, radius_m=200)]
    session.add(account)
    await session.flush()
    session.add(Token(id=uuid.uuid4(), account=account, digest=hashlib.sha256(token.encode()).digest()))
    session.add(
        Tariff(
            vehicle_type="MOTORCYCLE",
            active=True,
            base_fare=Decimal("7.90"),
            included_km=Decimal(2),
            price_per_km=Decimal("1.80"),
            price_per_extra_dropoff=Decimal(4),
            minimum_fare=Decimal("9.90"),
            return_share=Decimal("0.5"),
            maximum_km=Decimal(60),
            maximum_kg=Decimal(20),
        )
    )


async def _add_seller(session: AsyncSession, key: str) -> None:
    """A seller with a company, and Rota's default rates."""
    seller = Seller(name="Benchmark")
    session.add(seller)
    await session.flush()
    session.add(ApiKey(seller=seller, digest=hashlib.sha256(key.encode()).digest(), hint=key[-4:]))
    session.add(Company(seller_id=seller.id, document="11222333000181"))
    session.add(FreightParameters())
    with _RATES.open(newline="") as file:
        session.add_all(
            FreightRate(
                service=row["service"],
                zone=row["zone"],
                origin_kind=row["origin_kind"],
                destination_kind=row["dest_kind"],
                base_centavos=int(row["base_centavos_up_to_1kg"]),
                extra_kg_centavos=int(row["extra_kg_centavos"]),
                deadline_days=int(row["deadline_days"]),
            )
            for row in csv.DictReader(file)
        )


asyncio.run(main(*sys.argv[1:]))
