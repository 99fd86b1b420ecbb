"""The connection pool of a web process, and the credentials of a request."""

import hashlib
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
from errors import Refused
from starlette.requests import Request


@asynccontextmanager
async def lifespan(_app: object) -> AsyncIterator[dict[str, asyncpg.Pool]]:
    """Open the pool, which the state of each request holds."""
    async with asyncpg.create_pool(
        os.environ["PEER_DATABASE"],
        min_size=4,
        max_size=10,
        server_settings={"jit": "off", "random_page_cost": "1.1"},
        reset=_keep,
    ) as pool:
        yield {"pool": pool}


async def _keep(connection: asyncpg.Connection) -> None:
    """Reset nothing: no request changes the settings of its connection, and resetting them is a statement."""


def digest(request: Request, scheme: str) -> bytes:
    """The digest of the credential in the request's header, an empty one if it has another scheme."""
    sent, _, credential = request.headers.get("authorization", "").partition(" ")
    return hashlib.sha256(credential.encode()).digest() if sent.lower() == scheme else b""


async def caller(connection: asyncpg.Connection, query: str, digest: bytes, refusal: object) -> asyncpg.Record:
    """The row of the credential with its account. Raises Refused with status 401."""
    row = await connection.fetchrow(query, digest)
    if row is None:
        raise Refused(401, refusal)
    return row
