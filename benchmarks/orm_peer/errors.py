"""Refusals of area B, in its form. Those of area A are FastAPI's own."""

from fastapi import Request, Response
from fastapi.exception_handlers import request_validation_exception_handler
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse


class Refused(Exception):
    def __init__(self, status: int, message: str, code: str) -> None:
        super().__init__(status, message, code)
        self.status, self.message, self.code = status, message, code


async def answer_refused(_request: Request, error: Refused) -> Response:
    return JSONResponse({"success": False, "message": error.message, "code": error.code}, error.status)


async def answer_invalid(request: Request, error: RequestValidationError) -> Response:
    if not request.url.path.startswith("/api/integration/"):
        return await request_validation_exception_handler(request, error)
    errors = {".".join(map(str, each["loc"][1:])) or "body": [each["msg"]] for each in error.errors()}
    body = {"success": False, "message": "Dados inválidos", "code": "invalid_payload", "errors": errors}
    return JSONResponse(body, 422)
