"""`python accept.py DELIVERY`: the delivery with this id is accepted by a driver who has just sent a position."""

import asyncio
import os
import sys
from uuid import UUID

import asyncpg

_ACCEPT = """
WITH accepting AS (
    INSERT INTO driver (name, phone) VALUES ('Driver 1', '+55 11 98888-0000') RETURNING id
), located AS (
    INSERT INTO position (driver_id, latitude, longitude, recorded_at)
    SELECT id, -23.561414, -46.655881, now() FROM accepting
), stops AS (
    UPDATE stop SET status = 'ACCEPT' WHERE delivery_id = $1
)
UPDATE delivery SET driver_id = accepting.id, status = 'ACCEPT', route_status = 'ACCEPTED'
FROM accepting WHERE delivery.id = $1
"""


async def main(delivery_id: str) -> None:
    connection = await asyncpg.connect(os.environ["PEER_DATABASE"])
    await connection.execute(_ACCEPT, UUID(delivery_id))
    await connection.close()


asyncio.run(main(sys.argv[1]))
