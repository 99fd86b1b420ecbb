"""Four calls of both areas as the documentation of FastAPI, pydantic and SQLAlchemy has them written.

Dependencies give the session and the caller; pydantic models are the bodies and the answers; the ORM reads and writes,
with `selectinload` and relationships, on asyncpg. The tables and what is left out are those of `benchmarks/api_peer`,
whose scripts fill them; so are the rows that a call writes.
"""

from area_a import router as area_a
from area_b import router as area_b
from database import engine
from fastapi import FastAPI

app = FastAPI(lifespan=engine)
app.include_router(area_a)
app.include_router(area_b)
