"""Four calls of both areas as the documentation of FastAPI, pydantic and SQLAlchemy has them written.

Dependencies give the session and the caller; pydantic models are the bodies and the answers; the ORM reads and writes,
with `selectinload` and relationships, on asyncpg. The tables are those of `benchmarks/api_peer`, whose scripts fill
them, and of `schema.sql` here. The calls read and write the rows that Rota reads and writes, and lock what it locks.
Left out are: idempotency, warnings about the body, limits of calls, ids of quotes, estimates, time windows, modes of
delivery, codes of cancelled orders that are used again, cut and alike references of invoices, conditions of carriers'
rules on the kind of region, the events of an order for an endpoint with a URL, metrics and logs. The freight of an
order is not: without a postcode of the company Rota computes none either. Distances are those of a sphere.
"""

from area_a import router as area_a
from area_b import router as area_b
from database import engine
from errors import Refused, answer_invalid, answer_refused
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError

app = FastAPI(lifespan=engine, exception_handlers={Refused: answer_refused, RequestValidationError: answer_invalid})
app.include_router(area_a)
app.include_router(area_b)
