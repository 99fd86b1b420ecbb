"""The engine, and the session of a request."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import Depends, FastAPI
from sqlalchemy import make_url
from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker, create_async_engine

_engine = create_async_engine(
    make_url(os.environ["PEER_DATABASE"]).set(drivername="postgresql+asyncpg"),
    pool_size=10,
    max_overflow=0,
    connect_args={"server_settings": {"jit": "off", "random_page_cost": "1.1"}},
)
_sessions = async_sessionmaker(_engine, expire_on_commit=False)


@asynccontextmanager
async def engine(_app: FastAPI) -> AsyncIterator[None]:
    """Close the connections when the process ends."""
    yield
    await _engine.dispose()


async def session() -> AsyncIterator[AsyncSession]:
    async with _sessions() as opened:
        yield opened


Session = Annotated[AsyncSession, Depends(session)]
