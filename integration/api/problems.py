"""Error bodies of area B, made in this module only: `{success: false, message, code}`, often with `errors`.

And the warnings in the bodies of its other answers.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.translation import override
from rest_framework import exceptions, status
from rest_framework.response import Response

from common import refusals
from common.api import paths
from common.api.views import (
    MOST_WARNINGS,
    UNKNOWN_KEY,
    InvalidBody,
    InvalidQuery,
    PayloadWarning,
    UnknownParameter,
    changes_nothing,
)
from common.errors import DomainError
from common.webhooks.address_guard import InvalidWebhookUrl
from integration.bodies import Warned
from integration.errors import IntegrationError, MalformedBody

_INVALID = "Dados inválidos"
_WRONG_CONTENT_TYPE = "Envie o cabeçalho Content-Type: application/json"
_WRONG_METHOD = "Método não permitido"
_EMPTY = "O corpo está vazio. Envie um objeto JSON."
# Calls that people guess: POST or DELETE /api/integration/orders/A-1/cancel, DELETE …/orders/A-1, POST …/invoices.
_ORDERS, _CANCEL, _INVOICES = "/api/integration/orders", "/cancel", "/api/integration/invoices"
_HOW_TO_CANCEL = (
    f'. Para cancelar um pedido, envie POST {_ORDERS}/cancel com o corpo {{"orderId": "<orderId do pedido>"}}'
)
_HOW_TO_UPLOAD = f". Para enviar uma nota fiscal, envie POST {_INVOICES}/marketplace com o arquivo no campo nfe"
# What warnings say, by code. The braces take the warning's values.
WARNINGS = {
    UNKNOWN_KEY: "Chave desconhecida, sem efeito.",
    "unknown_outcome": "Não escolhe nenhum resultado da simulação.",
    "incomplete_sides": "Sem as três medidas o peso cúbico não é calculado.",
    "unknown_state": "Não é a sigla de um estado.",
    "unassigned_postcode": "O CEP não é de nenhuma região.",
    "postcode_of_another_state": "O CEP é de outro estado.",
    "doubtful_phone": "Não é um telefone para o qual se possa ligar. Envie o DDD e o número: 11977770001.",
    "order_cost_differs": "{about}. Os valores do pedido são em reais (150.5), declared_amount em centavos (15050).",
    "side_is_zero": "Uma das medidas é zero.",
    "weight_out_of_range": "O peso, em quilogramas, é zero ou passa do máximo da tarifa de frete.",
    "no_freight": "Sem frete: {about}.",
    "several_invoices": "O arquivo tem {about} notas; todas foram lidas.",
    "other_invoice_stored": (
        "Um arquivo anterior desta chave de acesso tem outro número, série, valor ou data, e continua valendo."
    ),
    "invalid_access_key": (
        "'{about}' não é uma chave de acesso: ela tem 44 dígitos e letras, e o último confere os outros (módulo 11). "
        "Copie-a do XML; planilhas cortam números longos."
    ),
    "other_model": (
        "A chave de acesso é do modelo {about}, que não acompanha mercadorias. Use a da NF-e (55) ou da DC-e (99)."
    ),
    "test_invoice": "A nota é do ambiente de testes da SEFAZ (tpAmb 2) e não tem valor fiscal.",
    "rejected_invoice": "A SEFAZ rejeitou a nota (cStat {about}). Envie o XML da nota autorizada.",
    "unconfirmed_invoice": (
        "O XML não traz o protocolo de autorização da SEFAZ (protNFe). Envie o nfeProc quando a nota for autorizada."
    ),
    "return_invoice": "A nota é de devolução ou de entrada (finNFe 4 ou tpNF 0) e não é impressa em etiquetas.",
    "invalid_document": "Os dígitos verificadores do CPF ou CNPJ não conferem.",
    "invalid_email": "Não é um endereço de e-mail.",
    "foreign_issuer": "O emitente da nota ({about}) não é nenhuma das empresas deste vendedor.",
    "consumer_invoice": "A nota é uma NFC-e (modelo 65), que não acompanha o transporte. Envie a NF-e (modelo 55).",
    "void_invoice": "A nota foi denegada ou cancelada: não é vinculada a pedidos nem impressa em etiquetas.",
    "unmatched_reference": (
        "Nenhum pedido tem o orderId '{about}' (xPed). A nota será vinculada a ele quando for criado."
    ),
    "uncertain_reference": (
        "'{about}' (xPed) pode se referir a: {candidates}. Nada mais na nota confirma qual é o pedido, e ela não "
        "foi vinculada. Vincule-a no painel ou por POST /api/integration/invoices/<chave>/link."
    ),
    "different_invoice_key": "O pedido informa uma chave de acesso, e a nota vinculada a ele tem outra: {about}.",
    "different_value": "O valor da nota difere do invoice.value do pedido '{about}'.",
}


class Refusal(TypedDict):
    """`message` in Portuguese. `code` is stable. `errors`: messages by the dotted path of the field.

    `warnings`: what has no effect or is doubtful besides, if there is any.
    """

    success: Literal[False]
    message: str
    code: str
    errors: NotRequired[dict[str, list[str]]]
    warnings: NotRequired[list[Warned]]


def refusal(message: str, code: str) -> Refusal:
    return {"success": False, "message": message, "code": code}


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    """DRF's exception handler for area B. None for exceptions that are not refusals; those become a logged 500."""
    invalid_status: int = context["view"].invalid_status
    if isinstance(error, InvalidBody):
        return _invalid_body(error, invalid_status)
    if isinstance(error, InvalidQuery):
        return _invalid_query(error)
    if isinstance(error, exceptions.ValidationError):
        return _invalid(dict(_flattened(error.detail)), invalid_status, "invalid_payload")
    if isinstance(error, exceptions.UnsupportedMediaType):
        return _invalid({"body": [_WRONG_CONTENT_TYPE]}, invalid_status, "unsupported_media_type")
    if isinstance(error, MalformedBody):
        return _invalid({"body": [str(error)]}, invalid_status, error.code)
    if isinstance(error, IntegrationError | InvalidWebhookUrl):
        return refused(error)
    if isinstance(error, exceptions.MethodNotAllowed):
        allowed = ", ".join(context["view"].allowed_methods)
        message = f"{_WRONG_METHOD}{_meant(context['request']) or f'; permitidos: {allowed}'}"
        return Response(refusal(message, "method_not_allowed"), status=error.status_code)
    return None


def _meant(request: HttpRequest) -> str:
    """The call that may be meant by a method that its path does not have."""
    is_of_order = request.path.startswith(f"{_ORDERS}/")
    if is_of_order and (request.path.endswith(_CANCEL) or request.method == "DELETE"):
        return _HOW_TO_CANCEL
    return _HOW_TO_UPLOAD if request.path == _INVOICES and request.method == "POST" else ""


def _invalid_body(error: InvalidBody, invalid_status: int) -> Response:
    """The serializer's errors, and as further errors the warnings about a body that is to be handled strictly."""
    errors = {**({"body": [_EMPTY]} if error.is_empty else {}), **dict(_flattened(error.detail))}
    for warning in error.warnings:
        errors.setdefault(warning.dotted, []).append(_text(warning))
    if not error.warnings:
        return _invalid(errors, invalid_status, "invalid_payload")
    is_only_unknown = not error.detail and {warning.code for warning in error.warnings} == {UNKNOWN_KEY}
    return _invalid(errors, 422, UNKNOWN_KEY if is_only_unknown else "invalid_payload")


def _invalid_query(error: InvalidQuery) -> Response:
    """The errors of parameters, and unknown parameters that are to be handled strictly."""
    errors = dict(_flattened(error.detail))
    for unknown in error.unknown:
        errors[unknown.name] = [_text(unknown)]
    return _invalid(errors, 422, "invalid_payload" if error.detail else UNKNOWN_KEY)


def warned(warnings: Sequence[PayloadWarning | UnknownParameter]) -> list[Warned]:
    """The first MOST_WARNINGS warnings, as bodies have them."""
    return [Warned(code=each.code, message=f"{_place(each)}: {_text(each)}") for each in warnings[:MOST_WARNINGS]]


def _place(warning: PayloadWarning | UnknownParameter) -> str:
    return warning.dotted if isinstance(warning, PayloadWarning) else f"?{warning.name}"


def _text(warning: PayloadWarning | UnknownParameter) -> str:
    if isinstance(warning, UnknownParameter):
        known = ", ".join(warning.known)
        return f"Parâmetro desconhecido, sem efeito.{_suggestion(warning.nearest)} Conhecidos: {known}."
    return WARNINGS[warning.code].format(**dict(warning.values)) + _suggestion(warning.nearest)


def _suggestion(nearest: str) -> str:
    return f" Você quis dizer '{nearest}'?" if nearest else ""


def in_words(errors: Any) -> str:
    """The errors of a serializer in one sentence."""
    return _in_words(dict(_flattened(errors)))


def refused(error: DomainError) -> Response:
    """The answer to a call that the domain refused."""
    with override("pt-br"):  # the area's own messages are in Portuguese already
        message = refusals.refusal(error)
    body = refusal(message, error.code)
    headers = {}
    if error.status == status.HTTP_401_UNAUTHORIZED:
        headers["WWW-Authenticate"] = 'Basic realm="rota"'
    if error.retry_after:
        headers["Retry-After"] = str(error.retry_after)
    if isinstance(error, IntegrationError) and error.faults:
        body["errors"] = {path: [str(fault)] for path, fault in error.faults.items()}
    elif error.fields:
        told = error.of_fields if isinstance(error, IntegrationError) else ""
        body["errors"] = {field: [told or message] for field in error.fields}
    return Response(body, status=error.status, headers=headers)


def failure(message: str, *, status: int, code: str) -> HttpResponse:
    """The answer to a call that reaches no endpoint, or that an endpoint does not finish."""
    return JsonResponse(refusal(message, code), status=status, json_dumps_params={"ensure_ascii": False})


def not_found(request: HttpRequest, *, meant: str = "") -> HttpResponse:
    """404: no endpoint has this path. `meant`: that of one which may be meant, if it is known."""
    meant, ends = meant or paths.nearest(request.path), paths.known_ends(request.path)
    hint = f". Você quis dizer {meant}?" if meant else f". Finais conhecidos: {', '.join(ends)};" if ends else ";"
    message = f"Caminho não encontrado{hint} {settings.SITE_URL}/docs/reference mostra os que existem"
    return failure(message, status=404, code="no_such_path")


def bad_request(_request: HttpRequest) -> HttpResponse:
    """A request that Django refuses before it reaches a view, such as one with an unknown Host."""
    message = "O cabeçalho Host não é deste serviço, ou a requisição está malformada"
    return failure(message, status=400, code="bad_request")


def late_body(_request: HttpRequest) -> HttpResponse:
    message = "O corpo da requisição não chegou a tempo; nada foi alterado. Envie-o sem pausas."
    return failure(message, status=408, code="late_body")


def tls_required(request: HttpRequest) -> HttpResponse:
    message = "Use https; nada foi alterado."
    if "Authorization" in request.headers:
        message += " Troque a chave: ela passou pela rede sem criptografia."
    return failure(message, status=403, code="tls_required")


def busy(_request: HttpRequest) -> HttpResponse:
    """More large bodies at once than this process reads."""
    message = "Há requisições grandes demais ao mesmo tempo; nada foi alterado. Tente novamente."
    return failure(message, status=503, code="busy")


def heavy_call_running(_request: HttpRequest) -> HttpResponse:
    """The caller has a heavy call under way, or too many wait for their turn."""
    message = (
        "Outra chamada pesada desta chave ainda está sendo respondida; nada foi alterado. Faça uma por vez e tente "
        "novamente depois dos segundos de Retry-After."
    )
    return failure(message, status=429, code="heavy_call_running")


def unavailable(request: HttpRequest) -> HttpResponse:
    """The database is away. A call that changes something may have taken effect, as with `server_error`."""
    message = "O serviço está indisponível no momento. Tente novamente depois dos segundos de Retry-After."
    if not changes_nothing(request):
        message = (
            "O serviço está indisponível no momento. A requisição pode ter tido efeito: consulte antes de repeti-la, "
            "ou repita-a com a sua Idempotency-Key."
        )
    return failure(message, status=503, code="unavailable")


def server_error(request: HttpRequest) -> HttpResponse:
    """500: an unexpected exception, perhaps after a commit, so the message claims nothing about the effect."""
    message = "Erro interno. Informe ao suporte o cabeçalho X-Request-Id desta resposta."
    if not changes_nothing(request):
        message = (
            "Erro interno. A requisição pode ter tido efeito: consulte antes de repeti-la, e informe ao suporte o "
            "cabeçalho X-Request-Id desta resposta."
        )
    return failure(message, status=500, code="server_error")


def _invalid(errors: dict[str, list[str]], status_code: int, code: str) -> Response:
    """Body of an invalid payload: a 422 has `errors`; a 400 has only a message, which therefore names the fields."""
    if status_code == status.HTTP_422_UNPROCESSABLE_ENTITY:
        body = refusal(_INVALID, code)
        body["errors"] = errors
        return Response(body, status=status_code)
    return Response(refusal(_in_words(errors), code), status=status_code)


def _in_words(errors: dict[str, list[str]]) -> str:
    fields = "; ".join(f"{path}: {' '.join(messages).removesuffix('.')}" for path, messages in errors.items())
    return f"{_INVALID}: {fields}"


def _flattened(detail: Any, path: str = "") -> Iterator[tuple[str, list[str]]]:
    """DRF's tree of errors as (dotted path, messages): `items.0.price`."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            yield from _flattened(inner, path if name == "non_field_errors" else f"{path}.{name}".lstrip("."))
    else:
        yield path or "body", [str(message) for message in detail]
