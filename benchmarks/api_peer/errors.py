"""Refusals of both areas, each in its shape."""

from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response

encode = msgspec.json.Encoder().encode


class Refused(Exception):
    """The status, and the body in the shape of the area."""

    def __init__(self, status: int, body: Any) -> None:
        super().__init__(status, body)
        self.status, self.body = status, body


def in_area_a(status: int, detail: str) -> Refused:
    return Refused(status, {"detail": detail})


def in_area_b(status: int, message: str, **more: Any) -> Refused:
    return Refused(status, {"success": False, "message": message, **more})


def answer(body: Any, status: int = 200) -> Response:
    return Response(encode(body), status, media_type="application/json")


async def answer_refused(_request: Request, error: Refused) -> Response:
    return answer(error.body, error.status)
