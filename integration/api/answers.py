"""Error bodies of area B, made in this one place: `{success: false, message}`, and `errors` beside them for a 422."""

from collections.abc import Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from rest_framework import exceptions, status
from rest_framework.response import Response
from rest_framework.views import set_rollback

from integration.errors import IntegrationError, InvalidInvoice, MalformedBody, TooManyInvoices

INVALID = "Dados inválidos"
_PHRASES = {405: "Método não permitido", 415: "Envie o cabeçalho Content-Type: application/json"}


def handle(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler for area B. None for what is not the caller's doing: that becomes a logged 500."""
    answer = _answer(error, invalid_status=context["view"].invalid_status)
    if answer is not None:
        set_rollback()
    return answer


def _answer(error: Exception, *, invalid_status: int) -> Response | None:
    if isinstance(error, exceptions.ValidationError):
        return _invalid(dict(_dotted(error.detail)), invalid_status)
    if isinstance(error, exceptions.UnsupportedMediaType):
        return _invalid({"body": [_PHRASES[415]]}, invalid_status)
    if isinstance(error, MalformedBody):
        return _invalid({"body": [str(error)]}, invalid_status)
    if isinstance(error, IntegrationError):
        is_unauthorized = error.status == status.HTTP_401_UNAUTHORIZED
        headers = {"WWW-Authenticate": 'Basic realm="rota"'} if is_unauthorized else {}
        if isinstance(error, TooManyInvoices):
            headers["Retry-After"] = str(error.retry_after)
        errors = {"errors": {"nfe": [str(error)]}} if isinstance(error, InvalidInvoice) else {}
        return Response({**_refusal(str(error)), **errors}, status=error.status, headers=headers)
    if isinstance(error, exceptions.APIException):
        return Response(_refusal(_PHRASES.get(error.status_code, str(error.detail))), status=error.status_code)
    return None


def not_found(_request: HttpRequest) -> HttpResponse:
    """A path that no endpoint has."""
    return _json(_refusal("Caminho não encontrado"), 404)


def bad_request(_request: HttpRequest) -> HttpResponse:
    """A request that Django refuses before any endpoint sees it."""
    return _json(_refusal("O cabeçalho Host não é deste serviço, ou a requisição está malformada"), 400)


def late_body(_request: HttpRequest) -> HttpResponse:
    """A body that did not arrive in time."""
    return _json(_refusal("O corpo da requisição não chegou a tempo; nada foi alterado. Envie-o sem pausas."), 408)


def tls_required(_request: HttpRequest) -> HttpResponse:
    """A call over plain HTTP."""
    message = "Use https; nada foi alterado. Troque a chave: ela passou pela rede sem criptografia."
    return _json(_refusal(message), 403)


def busy(_request: HttpRequest) -> HttpResponse:
    """More large bodies at once than this process takes."""
    message = "Há requisições grandes demais ao mesmo tempo; nada foi alterado. Tente novamente."
    return _json(_refusal(message), 503)


def too_long(message: str, *, status: int) -> HttpResponse:
    """A URL or a header beyond the limits of `config.limits`."""
    return _json(_refusal(message), status)


def server_error(_request: HttpRequest) -> HttpResponse:
    """500: an unexpected exception, perhaps after a commit, so the message claims nothing about the effect."""
    message = (
        "Erro interno. A requisição pode ter tido efeito: consulte antes de repeti-la, e informe ao suporte o "
        "cabeçalho X-Request-Id desta resposta."
    )
    return _json(_refusal(message), 500)


def _json(body: dict[str, Any], status_code: int) -> JsonResponse:
    return JsonResponse(body, status=status_code, json_dumps_params={"ensure_ascii": False})


def _refusal(message: str) -> dict[str, Any]:
    return {"success": False, "message": message}


def _invalid(errors: dict[str, list[str]], code: int) -> Response:
    """422 lists every field; the 400 of the other endpoints has a message only, so that names the fields."""
    if code == status.HTTP_422_UNPROCESSABLE_ENTITY:
        return Response({**_refusal(INVALID), "errors": errors}, status=code)
    faults = "; ".join(f"{path}: {' '.join(faults)}" for path, faults in errors.items())
    return Response(_refusal(f"{INVALID}: {faults}"), status=code)


def _dotted(detail: Any, path: str = "") -> Iterator[tuple[str, list[str]]]:
    """DRF's tree of errors as dotted paths: `items.0.price: [...]`."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            yield from _dotted(inner, path if name == "non_field_errors" else f"{path}.{name}".lstrip("."))
    elif all(isinstance(inner, str) for inner in detail):
        yield path or "body", [str(inner) for inner in detail]
    else:
        for index, inner in enumerate(detail):
            yield from _dotted(inner, f"{path}.{index}".lstrip("."))
