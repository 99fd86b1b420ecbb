"""Refusals of area B, in the shape of its specification."""

from fastapi import FastAPI, Request
from fastapi.exception_handlers import request_validation_exception_handler
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response

PREFIX = "/api/integration"


class Refused(Exception):
    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


def add_to(app: FastAPI) -> None:
    app.add_exception_handler(Refused, _answer_refused)
    app.add_exception_handler(RequestValidationError, _answer_invalid)


async def _answer_refused(_request: Request, error: Refused) -> Response:
    return JSONResponse({"success": False, "message": error.message}, error.status)


async def _answer_invalid(request: Request, error: RequestValidationError) -> Response:
    path = request.url.path
    if not path.startswith(PREFIX):
        return await request_validation_exception_handler(request, error)
    errors = {".".join(map(str, each["loc"][1:])): each["msg"] for each in error.errors()}
    status = 400 if path == f"{PREFIX}/shipping/quote" else 422
    return JSONResponse({"success": False, "message": "Dados inválidos", "errors": errors}, status)
