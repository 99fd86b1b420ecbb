"""The same calls of both areas on FastAPI, msgspec and asyncpg, as lean as the specification allows.

The routes are Starlette's, because FastAPI's own resolve dependencies and models of answers, which nothing here has.
Credential and account are one statement, what the call reads is a second one, what it writes a third one; asyncpg
prepares them. The rows are those that Rota writes. Left out is what the specification does not ask for: limits of
calls, idempotency, warnings, ids of quotes, estimates, time windows, modes of delivery, repeated externalIds, the lock
between an order and its invoice, the freight of an order, metrics and logs. Distances are those of a sphere.
"""

import area_a
import area_b
from database import lifespan
from errors import Refused, answer_refused
from fastapi import FastAPI

app = FastAPI(lifespan=lifespan, exception_handlers={Refused: answer_refused})
app.add_route("/api/quotation-delivery", area_a.quote, ["POST"])
app.add_route("/api/request-delivery", area_a.request_delivery, ["POST"])
app.add_route("/api/info-delivery/{delivery_id}", area_a.info, ["GET"])
app.add_route("/api/location-delivery/{delivery_id}", area_a.location, ["GET"])
app.add_route("/api/integration/shipping/quote", area_b.quote, ["POST"])
app.add_route("/api/integration/orders", area_b.create_order, ["POST"])
app.add_route("/api/integration/orders/tracking", area_b.track, ["GET"])
