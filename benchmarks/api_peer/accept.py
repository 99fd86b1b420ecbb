"""`python accept.py DELIVERY`: the delivery with this id is accepted by a driver who has just sent a position."""

import asyncio
import sys
import uuid
from datetime import UTC, datetime

from database import engine, sessions
from sqlalchemy.orm import selectinload
from tables import Delivery, Driver, Position


async def main(delivery_id: str) -> None:
    async with sessions.begin() as session:
        options = [selectinload(Delivery.stops), selectinload(Delivery.driver)]
        delivery = await session.get_one(Delivery, uuid.UUID(delivery_id), options=options)
        delivery.driver = Driver(name="Driver 1", phone="+55 11 98888-0000")
        delivery.status, delivery.route_status = "ACCEPT", "ACCEPTED"
        for stop in delivery.stops:
            stop.status = "ACCEPT"
        session.add(
            Position(
                driver=delivery.driver,
                latitude=-23.561414,
                longitude=-46.655881,
                accuracy_m=None,
                recorded_at=datetime.now(UTC),
            )
        )
    await engine.dispose()


asyncio.run(main(sys.argv[1]))
