"""`python seed.py TOKEN`: create the tables, and one account with this token, a pickup point and a tariff."""

import asyncio
import hashlib
import os
import sys
import uuid
from decimal import Decimal

from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from tables import Account, Base, PickupPoint, Tariff, Token


async def main(clear_text: str) -> None:
    engine = create_async_engine(os.environ["PEER_DATABASE"])
    async with engine.begin() as connection:
        await connection.run_sync(Base.metadata.drop_all)
        await connection.run_sync(Base.metadata.create_all)
    async with AsyncSession(engine) as session:
        account = Account(name="Benchmark")
        account.pickup_points = [PickupPoint(latitude=-23.561414, longitude=-46.655881, radius_m=200)]
        session.add(account)
        await session.flush()
        session.add(Token(id=uuid.uuid4(), account=account, digest=hashlib.sha256(clear_text.encode()).digest()))
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
        await session.commit()
    await engine.dispose()


asyncio.run(main(sys.argv[1]))
