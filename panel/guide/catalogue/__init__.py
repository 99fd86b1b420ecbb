"""Every error code of both APIs: its status, what it means and what the caller does about it. Pure.

The OpenAPI description, the pages `/docs/errors/<code>` and the tests take the codes from here.
"""

from panel.guide.catalogue import calls, deliveries, orders
from panel.guide.catalogue.entry import A, B, ErrorCode

CODES = {entry.code: entry for entry in (*calls.CODES, *deliveries.CODES, *orders.CODES)}

__all__ = ["CODES", "A", "B", "ErrorCode"]
